"""SK136 and SK137: which noise is refused, and why."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_file
from scenario_kit.load.yaml.document import read_document

CATALOG = Catalog(merging=True)
FILE = Path(__file__).parents[1] / "fixtures" / "language" / "noise" / "scenario.yaml"
BASE: dict[str, Any] = read_document(FILE).data


def restart(target: str, **more: Any) -> dict[str, Any]:
    return {"name": "n", "restart": {"target": target}, "everySeconds": 600, **more}


def scale(target: str, name: str = "n", seconds: int = 180, **more: Any) -> dict[str, Any]:
    return {"name": name, "scale": {"target": target, "forSeconds": seconds}, "everySeconds": 600, **more}


LOAD: dict[str, Any] = {"name": "users", "load": {"percent": 10, "forSeconds": 120}, "everySeconds": 600}


def lint_noise(
    tmp_path: Path, noise: list[dict[str, Any]], fault: dict[str, Any] | None = None, **spec: Any
) -> list[str]:
    document = copy.deepcopy(BASE)
    document["spec"] |= {"noise": noise, **spec}
    if fault is not None:
        document["spec"]["faults"] = [{"name": "quote-port", **fault}]
    path = tmp_path / "noise" / "scenario.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(document))
    return [f"{f.code} {f.message}" for f in lint_file(path, CATALOG) if f.code in ("SK136", "SK137")]


@pytest.mark.parametrize(
    ("noise", "finding"),
    [
        ([restart("Deployment/adds")], "SK136 noise 'n': 'Deployment/adds' is not among the app's objects"),
        ([restart("Service/ad")], "'Service/ad' must be one of Deployment, StatefulSet, DaemonSet"),
        ([restart("Deployment/load-generator")], "restarts the load generator"),
        ([scale("Deployment/postgresql")], "whose replicas do not share its work"),
        ([scale("Deployment/ad", seconds=240)], "may recur before it has ended"),
        ([scale("Deployment/ad", "a"), scale("Deployment/ad", "b")], "noise 'b' and 'a' set the same number"),
        ([LOAD, {**LOAD, "name": "more"}], "noise 'more' and 'users' set the same number"),
        ([restart("Deployment/quote")], "SK137 noise 'n' and fault 'quote-port': both touch Deployment/quote"),
    ],
)
def test_invalid_or_interfering_noise_is_refused(noise: list[dict[str, Any]], finding: str, tmp_path: Path) -> None:
    (message,) = lint_noise(tmp_path, noise)

    assert finding in message


@pytest.mark.parametrize(
    ("fault", "noise", "finding"),
    [
        (
            {"type": "traffic-surge", "target": "Deployment/load-generator"},
            [LOAD],
            "SK137 noise 'users' and fault 'quote-port': both change the load",
        ),
        (
            {"type": "node-cordoned", "target": "Deployment/quote"},
            [restart("Deployment/ad")],
            "the fault affects every workload",
        ),
        (
            {"type": "resource-quota-exceeded", "target": "Deployment/quote"},
            [restart("Deployment/ad")],
            "applies to every new pod",
        ),
    ],
)
def test_noise_may_not_overlap_far_reaching_faults(
    fault: dict[str, Any], noise: list[dict[str, Any]], finding: str, tmp_path: Path
) -> None:
    (message,) = lint_noise(tmp_path, noise, fault, solutions=[])

    assert finding in message


@pytest.mark.parametrize(
    "fault",
    [
        {"type": "feature-flag-changed", "target": "ConfigMap/flagd-config", "parameters": {"flag": "cartFailure"}},
        {"type": "container-image-not-found", "target": "Deployment/flagd"},
    ],
    ids=["another flag", "the flag service"],
)
def test_flag_controlled_load_is_constant_while_flags_are_broken(fault: dict[str, Any], tmp_path: Path) -> None:
    (message,) = lint_noise(tmp_path, [LOAD], fault, solutions=[], app={"name": "otel-demo", "version": "3.0.0"})

    assert "both change feature flags: otel-demo 3.0.0 sets the number of users by a flag" in message


def test_noise_may_not_change_decoy_fields(tmp_path: Path) -> None:
    decoys = [{"name": "more", "changes": [{"scale": {"target": "Deployment/ad", "replicas": 3}}]}]

    assert lint_noise(tmp_path, [scale("Deployment/ad")], decoys=decoys) == [
        "SK137 noise 'n' scales what decoy 'more' changes"
    ]
    assert lint_noise(tmp_path / "x", [restart("Deployment/ad")], decoys=decoys) == []


@pytest.mark.parametrize(
    "noise",
    [[restart("Deployment/ad")], [scale("Deployment/currency"), restart("Deployment/currency", name="m")], [LOAD]],
)
def test_noise_on_unrelated_objects_is_accepted(noise: list[dict[str, Any]], tmp_path: Path) -> None:
    assert lint_noise(tmp_path, noise) == []
