"""Needed and offered capabilities: what is missing is reported, and is not an authoring error."""

from __future__ import annotations

import msgspec

from scenario_kit.campaign import TRY, ValidationSubject, conclude
from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.judge.capabilities import find_unmet_needs, report_unmet_needs
from scenario_kit.lab.capabilities import NAME, offers_capability
from scenario_kit.model import App, Fault, Reference, Severity, Verdict

CATALOG = Catalog()
KNOWN = list_capabilities(CATALOG)
APP = CATALOG.app("otel-demo", "2.2.0")


def fault(*requires: str) -> Fault:
    return Fault(
        name="slow",
        type="t",
        version=1,
        target=Reference("Deployment", "cart"),
        changes=(),
        effect=(),
        entities=(),
        requires=requires,
    )


def list_unmet(*requires: str, app: App = APP) -> list[str]:
    return [lack.need for lack in find_unmet_needs([fault(*requires)], app, KNOWN, offers_capability)]


def test_available_capabilities_are_not_listed() -> None:
    assert list_unmet("chaos-mesh", "netem", "nodes>=2", "app:otel-demo") == []


def test_each_unmet_capability_is_listed() -> None:
    assert list_unmet("chaos-mesh", "dynamic-storage", "nodes>=9", "wall-clock") == [
        "dynamic-storage", "nodes>=9", "wall-clock",
    ]  # fmt: skip


def test_fault_for_another_app_is_unmet() -> None:
    assert list_unmet("app:hotel-reservation") == ["app:hotel-reservation"]


def test_app_without_a_model_needs_real_traffic() -> None:
    assert list_unmet(app=msgspec.structs.replace(APP, twin=None)) == ["real-data-plane"]


def test_unknown_capability_is_always_missing() -> None:
    assert list_unmet("warp-drive") == ["warp-drive"]


def test_finding_names_fault_capability_and_a_capable_cluster() -> None:
    (found,) = report_unmet_needs(find_unmet_needs([fault("dynamic-storage")], APP, KNOWN, offers_capability), NAME)

    assert (found.code, found.severity) == ("SK911", Severity.WARNING)
    assert found.message == "fault 'slow' (t) needs dynamic-storage, which the lab does not have"
    assert "has no provisioner" in found.observed
    assert found.fix == "run it in a cluster with a provisioner, for example kind with local-path"


def test_unrunnable_scenario_is_not_evaluated() -> None:
    lacks = report_unmet_needs(find_unmet_needs([fault("dynamic-storage")], APP, KNOWN, offers_capability), NAME)
    validation = conclude(ValidationSubject("s", "s/scenario.yaml", "d", TRY), [], lacks, 0.1)

    assert validation.verdict == Verdict.NOT_EVALUATED
    assert "needs dynamic-storage" in validation.headline
    assert "nothing to change in the scenario" in validation.headline
    assert validation.next == "scenario-kit explain SK911"


def test_app_option_adds_capability_needs() -> None:
    lacks = find_unmet_needs([], APP, KNOWN, offers_capability, {"autoscaling: true": ["dynamic-storage"]})

    assert [(lack.who, lack.need) for lack in lacks] == [
        ("option 'autoscaling: true' of app 'otel-demo'", "dynamic-storage")
    ]


def test_every_need_names_its_owner() -> None:
    (known, unknown) = find_unmet_needs([fault("dynamic-storage", "warp-drive")], APP, KNOWN, offers_capability)

    assert (known.who, unknown.who) == ("fault 'slow' (t)", "fault 'slow' (t)")
    assert (unknown.need, unknown.where) == ("warp-drive", "nowhere")
    assert known.where == "a cluster with a provisioner, for example kind with local-path"
    (model,) = find_unmet_needs([], msgspec.structs.replace(APP, twin=None), KNOWN, offers_capability)
    assert model.who == "app 'otel-demo'"


def test_unknown_capability_has_no_observation() -> None:
    (unknown,) = report_unmet_needs(find_unmet_needs([fault("warp-drive")], APP, KNOWN, offers_capability), NAME)

    assert (unknown.observed, unknown.severity) == ("", Severity.WARNING)
    assert unknown.expected.startswith("warp-drive: a capability ")
    (known,) = report_unmet_needs(find_unmet_needs([fault("dynamic-storage")], APP, KNOWN, offers_capability), "here")
    assert known.observed.startswith("here: ")
    assert known.expected.startswith("dynamic-storage: ")
    assert known.expected.removeprefix("dynamic-storage: ")[0].islower()
