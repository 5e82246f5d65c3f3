"""Cheats and the findings about them."""

import pytest

from scenario_kit.judge.repair.cheating import get_code


@pytest.mark.parametrize(
    ("cheat", "code"),
    [
        ("restart-everything", "SK422"),
        ("scale-to-zero", "SK423"),
        ("delete-service", "SK423"),
        ("stop-the-load", "SK424"),
        ("raise-limits", "SK425"),
        ("drop-probes", "SK425"),
        ("delete-chaos", "SK426"),
        ("fix-and-revert", "SK427"),
        ("one-of-tomorrow", "SK427"),
    ],
)
def test_every_cheat_has_a_code(cheat, code):
    assert get_code(cheat) == code
