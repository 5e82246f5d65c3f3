"""A live incident in a cluster: what is read before anything is broken."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scenario_kit.campaign import PlannedTrial
from scenario_kit.campaign.interventions.programs import build_recorded
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli.validation.cluster_place import ChosenCluster
from scenario_kit.cli.validation.recording_places import RecordingCluster, TelemetryAddresses
from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.errors import Unreachable
from scenario_kit.load import load_scenario
from scenario_kit.render import resolve
from scenario_kit.testing import FakeCluster

FILE = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"


class BegunError(Exception):
    """Everything was read, and the trial would be created next."""


@pytest.fixture
def cluster() -> FakeCluster:
    node = {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
        "status": {"nodeInfo": {"kubeletVersion": "v1.33.1"}},
    }  # fmt: skip
    return FakeCluster([node])


@pytest.fixture
def place(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingCluster]:
    monkeypatch.setattr(PrometheusMetrics, "instant", lambda *_: [])
    found = RecordingCluster(
        ChosenCluster(cluster, "staging", "https://127.0.0.1:1", "--context staging"),
        TelemetryAddresses("http://127.0.0.1:1"),
    )
    yield found
    found.close()


def test_version_is_known_if_the_api_server_is_silent_at_the_end(
    cluster: FakeCluster, place: RecordingCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = resolve(load_scenario(FILE).scenario, Catalog(), "app", beside=FILE.parent)
    planned = PlannedTrial(purpose="repeat", describe="x", steps=build_recorded(), seed=1)

    def begin(_cluster: object) -> None:
        raise BegunError

    with pytest.raises(BegunError):
        place.record(planned, begin, sample)  # type: ignore[arg-type]

    def refuse(*_: object, **__: object) -> None:
        raise Unreachable("no route to host")

    monkeypatch.setattr(cluster, "list", refuse)
    assert place.describe() == ("v1.33.1", "")
