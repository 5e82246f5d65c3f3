"""Access to the Prometheus of a lab: only the lab, its operator and its user, over mutual TLS.

It takes samples by remote write and has an API for its administrator: unrestricted access could rewrite an incident.

Format of the file: https://prometheus.io/docs/prometheus/latest/configuration/https/.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

import yaml

from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.lab.host.mutual_tls import MutualTls
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.telemetry.remote_write import SeriesWriter

WEB_CONFIGURATION: Final = "web.yml"


def locate_prometheus_tls(folder: Path) -> MutualTls:
    """Locate the certificates of the Prometheus with this folder, and of its clients."""
    return MutualTls(folder, "prometheus")


def write_web_configuration(folder: Path) -> Path:
    """Write the certificates and the web configuration of a Prometheus into its folder; return the latter."""
    tls = locate_prometheus_tls(folder)
    tls.write()
    document = {
        "tls_server_config": {
            "cert_file": str(tls.server_certificate),
            "key_file": str(tls.server_key),
            "client_ca_file": str(tls.authority),
            "client_auth_type": "RequireAndVerifyClientCert",
        }
    }
    path = folder / WEB_CONFIGURATION
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def find_lab_prometheus_tls(state: LabState) -> MutualTls | None:
    """Find the certificates of a lab's Prometheus; None where an earlier version started it without."""
    if not state.prometheus_url.startswith("https:"):
        return None
    return locate_prometheus_tls(Path(state.folder) / "prometheus")


def connect_metrics(state: LabState) -> PrometheusMetrics:
    """Create a client that evaluates PromQL in a lab."""
    return PrometheusMetrics(state.prometheus_url, _build_context(state))


def create_writer(state: LabState) -> SeriesWriter:
    """Create a client that writes the series of one world of a lab."""
    return SeriesWriter(state.prometheus_url, tls=_build_context(state))


def _build_context(state: LabState) -> ssl.SSLContext | None:
    tls = find_lab_prometheus_tls(state)
    return tls.build_client_context() if tls is not None else None
