"""Prometheus: scrapes wall-clock worlds, stores virtual time, and evaluates alerts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.errors import UsageError
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import Spec
from scenario_kit.lab.telemetry.prometheus_access import WEB_CONFIGURATION, write_web_configuration
from scenario_kit.load.atomic_file import write_private
from scenario_kit.model.base import Object
from scenario_kit.model.grid import GRID_DURATION
from scenario_kit.model.spelling import did_you_mean

PART = "prometheus"
#: Maximum duration of a query: less than clients wait, so that they learn why it ended.
QUERY_SECONDS = 25
JOB = "telemetry"
INTERVAL = GRID_DURATION
#: Virtual time starts days ago and is written after the present; the window must outlive a campaign.
WINDOW_DAYS = 30
#: Prometheus keeps samples younger than half of this in memory, and appends them in order. All of virtual time is
#: within it, so that no sample is out of order, which would cost three times the memory and time.
HEAD_DAYS = 2 * WINDOW_DAYS
#: A block ends at a multiple of HEAD_DAYS, and is deleted when it ends this long before another one.
RETENTION_DAYS = 2 * HEAD_DAYS
#: The share of ended series in memory from which they are written to a block and removed: the series of finished
#: trials, which each world ends. Queries still find them. Blocks are merged into one, since each costs every query 0.2
#: ms; a lower share would mean more merges.
_ENDED = 0.4
#: The period of that check in seconds.
BLOCK_RELOAD_SECONDS = 60
STORAGE: Object = {"tsdb": {"out_of_order_time_window": f"{WINDOW_DAYS}d", "stale_series_compaction_threshold": _ENDED}}


def build_configuration(state: LabState) -> Object:
    """Build prometheus.yml.

    Labels that Prometheus would add to the lab server's scrapes are dropped, so that a series is the same whether it
    was scraped or written remotely.
    """
    target = state.server_url.removeprefix("http://")
    return {
        "global": {"scrape_interval": INTERVAL, "evaluation_interval": INTERVAL},
        "storage": STORAGE,
        "rule_files": ["rules/*.yaml"],
        "scrape_configs": [
            {
                "job_name": JOB,
                "honor_labels": True,
                "authorization": {"type": "Bearer", "credentials": state.server_token},
                "static_configs": [{"targets": [target]}],
                "metric_relabel_configs": [
                    {"source_labels": ["job"], "regex": JOB, "target_label": "job", "replacement": ""},
                    {"source_labels": ["instance"], "regex": target, "target_label": "instance", "replacement": ""},
                ],
            }
        ],
    }


def check(desired: Sequence[str]) -> None:
    """Require that these alert packs exist.

    Raises:
        UsageError: an unknown alert pack.
    """
    known = list_packs()
    for pack in desired:
        if pack not in known:
            raise UsageError(f"there is no alert pack '{pack}'", fix=did_you_mean(pack, known))


def write(state: LabState) -> None:
    """Write the configuration and the rules of the lab's alert packs."""
    folder = Path(state.folder) / "prometheus"
    (folder / "rules").mkdir(parents=True, exist_ok=True)
    write_web_configuration(folder)
    catalog = Catalog()
    for pack in state.alert_packs:
        rules = catalog.prometheus_rules(pack)
        (folder / "rules" / f"{pack}.yaml").write_text(yaml.safe_dump(rules, sort_keys=False))
    write_private(folder / "prometheus.yml", yaml.safe_dump(build_configuration(state), sort_keys=False).encode())


def list_packs() -> Sequence[str]:
    """List the available alert packs."""
    return Catalog().alert_packs()


def build_storage_flags(block_reload_seconds: int = BLOCK_RELOAD_SECONDS) -> list[str]:
    """Build the storage flags, which the configuration file does not cover."""
    return [
        f"--storage.tsdb.retention.time={RETENTION_DAYS}d",
        f"--storage.tsdb.min-block-duration={HEAD_DAYS}d",
        f"--storage.tsdb.max-block-duration={HEAD_DAYS}d",
        f"--storage.tsdb.block-reload-interval={block_reload_seconds}s",
    ]


def build_spec(state: LabState, binaries: Mapping[str, Path]) -> Spec:
    """Build the process specification of Prometheus."""
    part = state.part(PART)
    assert part is not None, PART
    folder = Path(state.folder) / "prometheus"
    return Spec(
        name=PART,
        program=binaries[PART],
        arguments=[
            f"--config.file={folder / 'prometheus.yml'}",
            f"--web.listen-address={LOOPBACK}:{part.port}",
            f"--web.config.file={folder / WEB_CONFIGURATION}",
            f"--storage.tsdb.path={folder / 'data'}",
            *build_storage_flags(),
            "--web.enable-remote-write-receiver",
            "--query.max-concurrency=8",
            f"--query.timeout={QUERY_SECONDS}s",
            "--log.level=warn",
        ],
        # The live heap grows with every trial. Once it reached a soft limit, the garbage collector would take most of
        # the CPU time.
        environment={"GOGC": "75"},
    )
