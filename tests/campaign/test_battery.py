"""Cheats generated from an app, object by object."""

import msgspec
import pytest

from scenario_kit.campaign.interventions.cheats import add_cheats, build_cheats, restart_everything, starts
from scenario_kit.model import AlertExpectation, Change, Procedure, Reference, Solution
from scenario_kit.model.authored.app import App, Component
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import Expect

APP = App(
    name="shop", version="1", namespace="shop", entry="web",
    components=(
        Component(name="web", workload=Reference("Deployment", "web"), service="web"),
        Component(name="users", workload=Reference("Deployment", "users"), role="Load"),
    ),
)  # fmt: skip


def workload(name, kind="Deployment", namespace="shop", containers=None):
    body = {
        "name": "main", "resources": {"limits": {"memory": "64Mi", "cpu": "0.5"}},
        "readinessProbe": {"exec": {}}, "startupProbe": {"exec": {}},
    }  # fmt: skip
    template = {
        "metadata": {"labels": {"app": name}}, "spec": {"containers": [body] if containers is None else containers},
    }  # fmt: skip
    return {
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": template},
    }  # fmt: skip


def service(name, **selector):
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"selector": selector},
    }


OBJECTS = (
    workload("web"), workload("ad"), workload("users"), workload("agent", "DaemonSet"),
    workload("x", namespace="other"),
    service("web", app="web"), service("www", app="web"), service("ad", app="ad"), service("none"),
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}},
)  # fmt: skip


def build_book(runbook_of, *faults, alerts=("Deployment/web",), objects=OBJECTS, procedures=(), labels=None):
    book = runbook_of(*faults, labels=labels)
    expect = Expect(
        alerts=tuple(AlertExpectation(name="E", entity=Reference.parse(on) if on else None) for on in alerts)
    )
    return msgspec.structs.replace(
        book, app=APP, objects=objects, expect=expect, procedures=(*book.procedures, *procedures)
    )


def format_change(change):
    if change.operation.keyword == "scale":
        return f"scale {change.operation.target} {change.operation.replicas}"
    if change.operation.patches:
        return (
            change.operation.target,
            change.operation.type,
            change.operation.patch["spec"]["template"]["spec"]["containers"],
        )
    return f"{change.operation.keyword} {change.target}"


def list_cheats(book):
    assert all(p.use == "Cheat" and p.solution.name == p.name and p.solution.description for p in build_cheats(book))
    return {p.name: [format_change(c) for c in p.solution.changes] for p in build_cheats(book)}


EVERY = ["restart Deployment/web", "restart Deployment/ad", "restart DaemonSet/agent"]
RAISED = [{"name": "main", "resources": {"limits": {"memory": "6400Mi", "cpu": "50"}}}]
BARE = [{"name": "main", "readinessProbe": None, "startupProbe": None}]


def test_cheats_target_alerting_objects(fault, runbook_of):
    assert list_cheats(build_book(runbook_of, fault("a"))) == {
        "restart-everything": EVERY,
        "scale-to-zero": ["scale Deployment/web 0"],
        "delete-workload": ["delete Deployment/web"],
        "delete-service": ["delete Service/web", "delete Service/www"],
        "stop-the-load": ["scale Deployment/users 0"],
        "raise-limits": [("Deployment/web", "Strategic", RAISED)],
        "drop-probes": [("Deployment/web", "Strategic", BARE)],
    }
    assert list(list_cheats(build_book(runbook_of, fault("a"))))[:4] == [
        "restart-everything", "scale-to-zero", "delete-workload", "delete-service",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("alerts", "labels", "scaled", "deleted", "services"),
    [
        (("Deployment/ad", "Deployment/web"), [], ["web", "ad"], "Deployment/web", ["web", "www", "ad"]),
        (("Service/www",), [], ["web"], "Deployment/web", ["web", "www"]),
        (("Service/none",), [], [], "", []),
        (("DaemonSet/agent",), [], [], "DaemonSet/agent", []),
        (("Deployment/gone", ""), [], [], "", []),
        ((), ["Deployment/ad"], ["ad"], "Deployment/ad", []),
    ],
)
def test_cheats_target_alerting_components_and_services(fault, runbook_of, alerts, labels, scaled, deleted, services):
    cause = fault("a")
    if labels:
        cause = msgspec.structs.replace(
            cause,
            entities=(Entity(ref=Reference.parse(labels[0])), Entity(ref=Reference("Service", "ad"), role="Victim")),
        )
    found = list_cheats(build_book(runbook_of, cause, alerts=alerts, labels=labels))
    assert found.get("scale-to-zero", []) == [f"scale Deployment/{name} 0" for name in scaled]
    assert found.get("delete-workload", []) == ([f"delete {deleted}"] if deleted else [])
    assert found.get("delete-service", []) == [f"delete Service/{name}" for name in services]


def test_may_fire_alerts_add_no_cheat_targets(fault, runbook_of):
    book = build_book(runbook_of, fault("a"))
    may = tuple(msgspec.structs.replace(a, alert_class="MayFire") for a in book.expect.alerts)
    found = list_cheats(msgspec.structs.replace(book, expect=msgspec.structs.replace(book.expect, alerts=may)))
    assert set(found) == {"restart-everything", "stop-the-load"}


@pytest.mark.parametrize(
    ("containers", "raised", "bare"),
    [
        ([{"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": "250m"}}, "livenessProbe": {"exec": {}}}],
         [{"name": "b", "resources": {"limits": {"cpu": "25000m"}}}], [{"name": "b", "livenessProbe": None}]),
        ([{"name": "a", "resources": {"requests": {"cpu": "1"}}}, {"name": "b", "resources": None}], None, None),
        ([{"name": "a", "resources": {"limits": {"memory": 1024, "cpu": "0.125", "x": "1.5Gi"}}}],
         [{"name": "a", "resources": {"limits": {"memory": "102400", "cpu": "12.5", "x": "150Gi"}}}], None),
        ([], None, None),
    ],
)  # fmt: skip
def test_cheats_raise_limits_and_drop_probes_per_container(fault, runbook_of, containers, raised, bare):
    found = list_cheats(build_book(runbook_of, fault("a"), objects=(workload("web", containers=containers),)))
    assert found.get("raise-limits") == ([("Deployment/web", "Strategic", raised)] if raised else None)
    assert found.get("drop-probes") == ([("Deployment/web", "Strategic", bare)] if bare else None)


def change(**operation):
    return Change.from_json(operation)


def restart(name):
    return change(restart={"target": f"Deployment/{name}"})


@pytest.mark.parametrize(
    ("restarted", "cause", "rolled"),
    [
        ("web", "ConfigMap/a", ["undoRollout Deployment/web"]),
        ("web", "Deployment/web", None),
        ("ad", "ConfigMap/a", None),
    ],
)
def test_rollback_cheat_needs_a_revision_made_by_the_fault(fault, runbook_of, restarted, cause, rolled):
    broken = msgspec.structs.replace(
        fault("a"), changes=(restart(restarted),), entities=(Entity(ref=Reference.parse(cause)),)
    )
    assert list_cheats(build_book(runbook_of, broken)).get("roll-back") == rolled


CHAOS = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "NetworkChaos", "metadata": {"name": "c"}, "spec": {}}


@pytest.mark.parametrize(
    ("more", "chaos", "deleted"),
    [
        ({"mitigation": "Workaround"}, CHAOS, ["delete NetworkChaos.chaos-mesh.org/c"]),
        ({"mitigation": "Native"}, CHAOS, None),
        ({"mitigation": "Workaround", "visibility": "Hidden"}, CHAOS, None),
        ({"mitigation": "Workaround"}, {**CHAOS, "metadata": {"generateName": "c-"}}, None),
    ],
)
def test_unowned_experiment_is_removed(fault, runbook_of, more, chaos, deleted):
    broken = msgspec.structs.replace(fault("a"), changes=(change(chaos=chaos),), **more)
    assert list_cheats(build_book(runbook_of, broken)).get("delete-chaos") == deleted


POD = change(delete={"target": "Pod/web-1"})


@pytest.mark.parametrize(
    ("persistence", "role", "use", "fixes", "changes", "tried"),
    [
        ("Pod", "Cause", "Solution", ("a",), (restart("web"),), False),
        ("OneShot", "Cause", "Solution", ("a",), (restart("web"),), False),
        ("Expires", "Cause", "Solution", ("a",), (restart("web"),), False),
        ("SelfHeals", "Cause", "Solution", ("a",), (restart("web"),), False),
        ("Pod", "Sustaining", "Solution", ("a",), (restart("web"),), False),
        ("Pod", "Cause", "Solution", (), (restart("web"),), False),
        ("Pod", "Cause", "Solution", ("a",), (POD,), False),
        ("Pod", "Cause", "Solution", ("a",), (change(delete={"target": "Secret/x"}),), True),
        ("Pod", "Cause", "Solution", ("other",), (restart("web"),), True),
        ("Pod", "Cause", "Decoy", ("a",), (restart("web"),), True),
        ("Pod", "Trigger", "Solution", (), (restart("web"),), True),
        ("Object", "Cause", "Solution", ("a",), (restart("web"),), True),
    ],
)
def test_restart_is_no_cheat_if_it_is_the_repair(fault, runbook_of, persistence, role, use, fixes, changes, tried):
    broken = msgspec.structs.replace(fault("a", role=role), persistence=persistence)
    again = Procedure(use=use, name="s", solution=Solution(name="s", fixes=fixes, changes=changes))
    assert ("restart-everything" in list_cheats(build_book(runbook_of, broken, procedures=(again,)))) is tried


def test_restart_everything_excludes_load_and_other_namespaces(fault, runbook_of):
    found = restart_everything(build_book(runbook_of, fault("a")))
    assert (found.use, found.name, found.solution.name) == ("Cheat", "restart-everything", "restart-everything")
    assert [format_change(c) for c in found.solution.changes] == EVERY


def test_restarts_by_faults_are_repeated(fault, runbook_of):
    broken = msgspec.structs.replace(fault("a"), changes=(restart("web"), POD, restart("ad")))
    book = build_book(runbook_of, broken)
    (again,) = starts(book)
    assert (again.use, again.name, again.solution.name) == ("Cheat", "start-again", "start-again")
    assert again.solution.description
    assert [format_change(c) for c in again.solution.changes] == ["restart Deployment/web", "restart Deployment/ad"]
    names = [p.name for p in add_cheats(book).procedures]
    assert names[:1] == ["a:0"]
    assert names[-1] == "start-again"
    assert starts(build_book(runbook_of, fault("a"))) == ()
