"""The simulated kubelet matches recordings of a real one, except for explained differences."""

from __future__ import annotations

import re

import pytest

from scenario_kit.model.base import Object
from tools.reality import known, store
from tools.reality.cases import CASES, Case
from tools.reality.compare import Difference, find_differences
from tools.reality.replay import replay

RECORDED = store.read()
TRIED = [case for case in CASES if case.name in RECORDED]


def list_differences(case: Case) -> list[Difference]:
    fixture = RECORDED[case.name]
    return find_differences(fixture.recording, replay(case, fixture.pod))


def list_containers(spec: Object) -> list[tuple[str, list[str] | None]]:
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    return [(c["image"], c.get("command")) for c in containers]


def test_cases_are_recorded_or_listed_as_unrecorded() -> None:
    assert set(RECORDED) | known.UNRECORDED == {case.name for case in CASES}
    assert not set(RECORDED) & known.UNRECORDED


@pytest.mark.parametrize("case", TRIED, ids=lambda case: case.name)
def test_case_matches_its_recording(case: Case) -> None:
    fixture = RECORDED[case.name]
    assert list_containers(fixture.pod["spec"]) == list_containers(case.spec)
    assert fixture.recording.seconds == case.seconds


@pytest.mark.parametrize("case", TRIED, ids=lambda case: case.name)
def test_simulated_kubelet_matches_recording(case: Case) -> None:
    assert [str(d) for d in list_differences(case) if not known.find_cause(d)] == []


def test_known_differences_still_occur() -> None:
    seen = [d for case in TRIED for d in list_differences(case)]
    tried = [k for k in known.KNOWN if any(re.fullmatch(k.case, name) for name in RECORDED)]
    assert [k for k in tried if not any(known.matches(k, d) for d in seen)] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_replay_is_deterministic(case: Case) -> None:
    spec = {"restartPolicy": "Always", **case.spec, "nodeName": "simulated-1"}
    pod = {"metadata": {"name": case.name, "namespace": "shop", "uid": "u-1", "generation": 1}, "spec": spec}
    assert replay(case, pod) == replay(case, pod)
