"""Files of programs that the apps bring along, by the program itself where it can be had."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.render import render_app


@pytest.mark.parametrize("version", Catalog().versions("otel-demo"))
def test_prometheus_configuration_passes_promtool(
    catalog: Catalog, promtool: str, version: str, tmp_path: Path
) -> None:
    objects = render_app(catalog.app("otel-demo", version), {"observability": True}, 50, "shop")
    (config,) = [o for o in objects if o["kind"] == "ConfigMap" and o["metadata"]["name"] == "prometheus"]
    path = tmp_path / "prometheus.yml"
    path.write_text(config["data"]["prometheus.yml"])
    run = subprocess.run([promtool, "check", "config", str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
