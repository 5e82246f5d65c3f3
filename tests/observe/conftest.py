from __future__ import annotations

import time

import pytest


@pytest.fixture(scope="session")
def epoch() -> int:
    """A virtual epoch: five days ago, on the 15 s grid."""
    return int(time.time()) // 15 * 15 - 5 * 86400
