"""Values of credentials in scenarios: random ones are found, also encoded; words and those of the app are none."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file
from tests.lint import policy_violations as given
from tests.lint.test_rules import base, write

CATALOG = Catalog(merging=True)
RANDOM = "q7Zp1vX9rT4kWm2LsB8nYd"


def _encode(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("value", "reported"),
    [
        (RANDOM, True),
        (_encode(RANDOM), True),
        (b64encode(bytes(range(120, 150))).decode(), True),
        (_encode("petclinic-root"), False),
        (_encode("rotated in the night of 2024"), False),
        ("petclinic", False),
    ],
    ids=["random", "random-encoded", "bytes-encoded", "words-encoded", "sentence-encoded", "word"],
)
def test_random_values_of_secret_fields_are_reported(value: str, reported: bool, tmp_path: Path) -> None:
    document = base()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"root-password": value}}
    given.decoy({"create": secret})(document["spec"])

    found = [each for each in lint_file(write(document, tmp_path), CATALOG) if each.code == "SK206"]

    assert bool(found) is reported
