"""The Prometheus for a cluster without one: promtool accepts its configuration, and it finds what apps export."""

import subprocess

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli.operator import CHAOS_VALUES, find_platform
from scenario_kit.lab import toolchain
from scenario_kit.load import load_scenario
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.render import resolve

OBJECTS = list(yaml.safe_load_all((find_platform() / "prometheus.yaml").read_text()))
TEXT = next(obj["data"]["prometheus.yml"] for obj in OBJECTS if obj["kind"] == "ConfigMap")
CONFIGURATION = yaml.safe_load(TEXT)
CATALOG = Catalog([find_data_root()])


@pytest.mark.lab
def test_promtool_accepts_the_configuration(tmp_path):
    file = tmp_path / "prometheus.yml"
    file.write_text(TEXT)
    done = subprocess.run(
        [str(toolchain.resolve("promtool")), "check", "config", "--syntax-only", str(file)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_scrape_interval_matches_alert_grid():
    assert CONFIGURATION["global"] == {"scrape_interval": f"{GRID_SECONDS}s", "evaluation_interval": f"{GRID_SECONDS}s"}
    assert not [job for job in CONFIGURATION["scrape_configs"] if "scrape_interval" in job]


def test_jobs_of_pods_keep_their_namespace():
    for job in CONFIGURATION["scrape_configs"]:
        if {"role": "pod"} in job.get("kubernetes_sd_configs", ()):
            assert {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"} in job[
                "relabel_configs"
            ]


@pytest.mark.parametrize("app", ["otel-demo", "hotel-reservation"])
def test_scrape_port_matches_app_exporters(app):
    job = next(job for job in CONFIGURATION["scrape_configs"] if job["job_name"] == "span-metrics")
    port = next(
        int(rule["regex"])
        for rule in job["relabel_configs"]
        if rule["source_labels"] == ["__meta_kubernetes_pod_container_port_number"]
    )
    file = next(f for f in CATALOG.scenarios() if load_scenario(f).scenario.spec.app.name == app)
    runbook = resolve(load_scenario(file).scenario, CATALOG, "app", beside=file)
    (collector,) = [
        o for o in runbook.objects if (o["kind"], o["metadata"]["name"]) == ("Deployment", "otel-collector")
    ]
    (container,) = collector["spec"]["template"]["spec"]["containers"]
    assert port in [each["containerPort"] for each in container["ports"]]
    relays = [text for o in runbook.objects for text in (o.get("data") or {}).values() if "spanmetrics" in str(text)]
    exporters = [yaml.safe_load(text)["exporters"]["prometheus"] for text in relays]
    assert {each["endpoint"].rpartition(":")[2] for each in exporters} == {str(port)}


def test_chaos_mesh_values_allow_other_namespaces():
    values = yaml.safe_load((find_platform() / CHAOS_VALUES).read_text())
    assert values["clusterScoped"] is True
    assert values["controllerManager"]["enableFilterNamespace"] is False
    assert values["chaosDaemon"]["socketPath"].startswith("/")
