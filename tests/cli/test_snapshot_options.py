"""`snapshot --cluster`: what has to be said about a cluster before anything is sent to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenario_kit.cli import run

SCENARIO = "catalog/scenarios/cart-scaled-to-zero"
PROMETHEUS = ["--prometheus", "http://127.0.0.1:1"]
JAEGER = ["--jaeger", "http://127.0.0.1:1"]
CURRENT = ["--cluster", "current", "--context", "nowhere"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--context", "c"], "--context does not apply to --cluster lab"),
        (PROMETHEUS, "--prometheus does not apply to --cluster lab"),
        (JAEGER, "--jaeger does not apply to --cluster lab"),
        (CURRENT, "needs the Prometheus that the operator reads"),
        ([*CURRENT, *PROMETHEUS], "needs the Jaeger that has the traces"),
        ([*CURRENT, "--prometheus", "localhost:9090", *JAEGER], "localhost:9090 is not the URL of a server"),
        ([*CURRENT, *PROMETHEUS, "--jaeger", "jaeger"], "--jaeger jaeger is not the URL of a server"),
        ([*CURRENT, *PROMETHEUS, "--jaeger", "http://[::1"], "--jaeger http://[::1 is not the URL of a server"),
        ([*CURRENT, *PROMETHEUS, "--jaeger", "http://a:99999"], "--jaeger http://a:99999 is not the URL of a server"),
        ([*CURRENT, *PROMETHEUS, "--jaeger", "http://me:secret@a"], "--jaeger has a user name, but requests are sent"),
        ([*CURRENT, *PROMETHEUS, *JAEGER, "--name", "lab"], "--name does not apply to --cluster current"),
        ([*CURRENT, *PROMETHEUS, *JAEGER, "--first-day", "2025-01-06"], "--first-day does not apply"),
        ([*CURRENT, *PROMETHEUS, *JAEGER, "--telemetry-faults", "f.yaml"], "--telemetry-faults does not apply"),
        ([*CURRENT, *PROMETHEUS, "--without", "traces"], "nowhere"),
        (["--cluster", "kind"], "kind"),
    ],
)
def test_what_is_missing_or_of_no_use_is_said(
    options: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text("apiVersion: v1\nkind: Config\ncontexts: []\nclusters: []\nusers: []\n")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert run(["snapshot", SCENARIO, "--out", str(tmp_path / "out"), *options]) in (2, 3)
    said = " ".join(capsys.readouterr().err.split())
    assert text in said
    assert "secret" not in said
    assert not (tmp_path / "out").exists()
