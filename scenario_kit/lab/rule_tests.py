"""Unit tests of alert packs, run by promtool."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from scenario_kit.catalog.alerts import build_prometheus_groups
from scenario_kit.catalog.pack_tests import build_promtool_tests
from scenario_kit.errors import InfrastructureError
from scenario_kit.lab import toolchain
from scenario_kit.model import AlertRule, Object

_RULES: Final = "rules.yaml"
_TESTS: Final = "tests.yaml"
_SECONDS: Final = 120


class RuleTestOutcome(NamedTuple):
    """One test, and promtool's failure message; empty if it passes."""

    name: str
    objection: str = ""


def check_rules(document: Object) -> str:
    """Return why Prometheus would reject the rules of a pack's document; empty if it accepts them.

    Raises:
        InfrastructureError: promtool is missing or does not exit.
    """
    with tempfile.TemporaryDirectory() as folder:
        _write(folder, document)
        return _read_objection(folder, "check", "rules", _RULES)


def run_tests(document: Object, rules: Sequence[AlertRule], tests: Any) -> list[RuleTestOutcome]:
    """Run the tests of a pack.

    Raises:
        InfrastructureError: promtool is missing or does not exit.
    """
    single = build_promtool_tests(tests, rules, _RULES)
    with tempfile.TemporaryDirectory() as folder:
        _write(folder, document)
        names = []
        for number, (_, test) in enumerate(single):
            names.append(f"{number}-{_TESTS}")
            (Path(folder) / names[-1]).write_text(yaml.safe_dump(test, sort_keys=False), encoding="utf-8")
        if not names or not _read_objection(folder, "test", "rules", *names):
            return [RuleTestOutcome(name) for name, _ in single]
        return [
            RuleTestOutcome(name, _read_objection(folder, "test", "rules", file))
            for (name, _), file in zip(single, names, strict=True)
        ]


def _write(folder: str, document: Object) -> None:
    rules = {"groups": build_prometheus_groups(document)}
    (Path(folder) / _RULES).write_text(yaml.safe_dump(rules, sort_keys=False), encoding="utf-8")


def _read_objection(folder: str, *arguments: str) -> str:
    """Run promtool; return its error without the file's path, empty on success."""
    promtool = toolchain.resolve("promtool")
    try:
        done = subprocess.run(
            [promtool, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(
            f"promtool has not finished after {_SECONDS} s", fix="use fewer test cases"
        ) from error
    if done.returncode == 0:
        return ""
    reported = (done.stdout + done.stderr).replace(f"{folder}/", "")
    lines = [line.strip() for line in reported.splitlines() if line.strip()]
    return (
        "\n".join(line for line in lines if not line.startswith(("Unit Testing:", "Checking", "FAILED:"))) or reported
    )
