"""The finding about each cheat."""

import pytest

from scenario_kit.judge.repair.cheating import get_code


@pytest.mark.parametrize(
    ("cheat", "code"),
    [
        ("restart-everything", "SK422"),
        ("scale-to-zero", "SK423"),
        ("delete-workload", "SK423"),
        ("delete-service", "SK423"),
        ("stop-the-load", "SK424"),
        ("raise-limits", "SK425"),
        ("drop-probes", "SK425"),
        ("delete-chaos", "SK426"),
        ("roll-back", "SK427"),
        ("fix-and-revert", "SK427"),
        ("one-of-tomorrow", "SK427"),
    ],
)
def test_code_of_a_cheat(cheat, code):
    assert get_code(cheat) == code
