"""The operator's command line."""

from __future__ import annotations

import sys

import pytest

from operators.scenario.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--offer", "jvm"], "--offer does not apply to a lab\nfix: add --context NAME, or remove --offer"),
        (["--allow-context", "prod"], "--allow-context does not apply to a lab"),
        (["--context", "kind-a", "--clock", "Virtual"], "only a lab has virtual time"),
        (["--context", "kind-a", "--prometheus-url", ""], "a cluster with real nodes needs a Prometheus URL"),
    ],
)
def test_options_that_do_not_apply_are_refused(monkeypatch, capsys, arguments: list[str], message: str) -> None:
    monkeypatch.setattr(sys, "argv", ["operator", *arguments])

    assert main() == 3
    assert message in capsys.readouterr().err
