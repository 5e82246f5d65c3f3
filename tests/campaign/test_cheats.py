"""The cheat battery: which cheats fit a scenario, and that none of them repairs anything."""

import msgspec
import pytest

from scenario_kit.campaign import STANDARD, plan_trials
from scenario_kit.campaign.interventions.cheats import STARTS, add_cheats, build_cheats, starts
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.judge.repair.cheating import CODES, REVERT
from scenario_kit.load import load_scenario
from scenario_kit.model import Change, Procedure, Reference, Solution
from scenario_kit.render import resolve

CATALOG = Catalog()


def runbook(name):
    file = find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml"
    return resolve(load_scenario(file).scenario, CATALOG, "app-bcdf", beside=file.parent)


@pytest.fixture(scope="module")
def wrong_port():
    return runbook("product-catalog-wrong-target-port")


def list_changes_by_name(book):
    return {p.name: p.solution.changes for p in build_cheats(book)}


def targets(changes):
    return {c.target for c in changes}


def test_service_fault_gets_matching_cheats(wrong_port):
    found = list_changes_by_name(wrong_port)
    assert {"restart-everything", "scale-to-zero", "delete-workload", "stop-the-load", "raise-limits"} <= set(found)
    assert "Deployment/load-generator" not in targets(found["restart-everything"])
    assert targets(found["stop-the-load"]) == {"Deployment/load-generator"}
    assert "Service/product-catalog" not in targets(found.get("delete-service", ())), "that one is the cause itself"
    assert "delete-chaos" not in found


def test_cheats_target_app_objects_only(wrong_port):
    there = {f"{o['kind']}/{o['metadata']['name']}" for o in wrong_port.objects}
    for changes in list_changes_by_name(wrong_port).values():
        assert targets(changes) <= there


def test_raise_limits_exceeds_any_honest_repair(wrong_port):
    before = {
        c["name"]: c["resources"]["limits"]
        for o in wrong_port.objects
        if o["kind"] == "Deployment"
        for c in o["spec"]["template"]["spec"]["containers"]
        if (c.get("resources") or {}).get("limits")
    }
    for change in list_changes_by_name(wrong_port)["raise-limits"]:
        for container in change.operation.patch["spec"]["template"]["spec"]["containers"]:
            for key, value in container["resources"]["limits"].items():
                number = before[container["name"]][key].rstrip("Mikm")
                assert value.startswith(f"{int(number) * 100}")


def test_restart_is_no_cheat_for_pod_bound_fault():
    book = runbook("payment-pod-failure")
    restartable = any(f.persistence in ("Pod", "OneShot", "Expires", "SelfHeals") for f in book.faults)
    assert ("restart-everything" in list_changes_by_name(book)) is not restartable


@pytest.mark.parametrize(("role", "tried"), [("Cause", False), ("Trigger", True), ("Distractor", True)])
def test_restart_is_a_repair_only_for_pod_bound_causes(wrong_port, role, tried):
    over = msgspec.structs.replace(wrong_port.faults[0], name="over", persistence="OneShot", role=role)
    book = msgspec.structs.replace(wrong_port, faults=(*wrong_port.faults, over))
    assert "restart-everything" in list_changes_by_name(book)  # nothing says that somebody restarts something
    change = Change.from_json({"restart": {"target": "Deployment/ad"}})
    restart = Procedure(use="Solution", name="again", solution=Solution(name="again", changes=(change,)))
    book = msgspec.structs.replace(book, procedures=(*book.procedures, restart))
    assert ("restart-everything" in list_changes_by_name(book)) is tried


def test_deleting_chaos_object_is_no_cheat_if_it_is_the_repair():
    book = runbook("valkey-cart-network-delay")
    native = all(f.mitigation == "Native" for f in book.faults)
    chaos = list_changes_by_name(book).get("delete-chaos", ())
    assert bool(chaos) is not native
    assert all(Reference.parse(c.target).group == "chaos-mesh.org" for c in chaos)


def test_every_cheat_has_a_finding_code(wrong_port):
    assert {p.name for p in build_cheats(wrong_port)} <= set(CODES)


def test_cheats_are_part_of_the_runbook_json(wrong_port):
    book = add_cheats(wrong_port)
    for cheat in build_cheats(wrong_port):
        assert book.procedure("Cheat", cheat.name) == cheat
    assert type(book).from_json(book.to_json()) == book


@pytest.mark.parametrize(
    ("name", "reverts"), [("hotel-all-errors", False), ("product-catalog-wrong-target-port", True)]
)
def test_restart_only_repair_gets_no_revert(name, reverts):
    (planned,) = [t for t in plan_trials(STANDARD, runbook(name), 1) if t.purpose == "cheats"]
    assert any(s.name == REVERT for s in planned.steps) is reverts


def test_fault_on_new_pods_returns_when_its_repair_is_undone():
    book = runbook("hotel-tips-not-secure-enough")
    (planned,) = [t for t in plan_trials(STANDARD, book, 1) if t.purpose == "cheats"]
    last = [(s.kind, s.name) for s in planned.steps if s.use in ("Cheat", "Solution", "Fix")][-4:]
    assert [kind for kind, _ in last] == ["change", "undoChange", "change", "expectUnresolved"]
    assert last[2:] == [("change", STARTS), ("expectUnresolved", REVERT)]
    (again,) = starts(book)
    assert [c.operation.target for c in again.solution.changes] == ["Deployment/recommendation"]
    assert add_cheats(book).procedure("Cheat", STARTS) == again


def test_fault_without_restart_returns_by_itself(wrong_port):
    assert starts(wrong_port) == ()
