"""Tests of exported tasks with the packages that run them: ``ci/peers`` installs those, exports, and starts this.

Nothing here imports scenario-kit, as it is not installed beside them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def exported() -> Path:
    """The folder of exports: ``harbor/``, of which one task is of an incident in which a Deployment has no replicas."""
    folder = os.environ.get("SCENARIO_KIT_EXPORTED")
    if not folder:
        pytest.skip("no exported tasks: ci/peers makes them")
    return Path(folder)
