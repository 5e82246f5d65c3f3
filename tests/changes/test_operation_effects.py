"""What operations declare without a cluster: simulated objects, written fields, persistence, texts, inverses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scenario_kit.changes.operation import is_among, name_field_owner
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Client, Component, FlagStore, Object, Reference
from scenario_kit.model.kubernetes.difference import WrittenField
from scenario_kit.model.runtime.client import ClientCommand
from scenario_kit.render import NoChange

NAMESPACE = "shop"
PAGE = Reference("Deployment", "page")
STORE = Component(name="store", workload=Reference("StatefulSet", "store"), role="Store")
SHELL = Client(
    name="shell",
    store="store",
    image="registry.example/shell:1",
    address="tcp://store:6379",
    commands=(
        ClientCommand(command=("SET", "{key}", "1"), choices={"key": ("a", "b")}),
        ClientCommand(command=("FLUSH",)),
    ),
)
FLAGS = FlagStore(config_map="flags", key="f.json", restart=())


def build_app(*, flags: FlagStore | None = FLAGS) -> App:
    return App(
        name="shop", version="1", namespace="shop", entry="page", components=(STORE,), flags=flags, clients=(SHELL,)
    )


def build_object(kind: str, name: str, api: str = "v1", namespace: str = NAMESPACE, **fields: Any) -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


def build_objects() -> tuple[Object, ...]:
    document = {
        "flags": {
            "slow": {"state": "ENABLED", "variants": {"off": 0, "on": 1}, "defaultVariant": "off"},
            "late": {"state": "ENABLED", "variants": {"off": False, "on": True}, "defaultVariant": "on"},
        }
    }
    template = {"spec": {"containers": [{"name": "page", "image": "page:1"}]}}
    return (
        build_object("Deployment", "page", "apps/v1", spec={"replicas": 2, "template": template}),
        build_object("Service", "page", spec={"ports": [{"port": 80}]}),
        build_object("ConfigMap", "flags", data={"f.json": json.dumps(document), "other": "kept"}),
    )


def simulate(document: Object, objects: tuple[Object, ...] | None = None, app: App | None = None) -> tuple[Object, ...]:
    found = build_objects() if objects is None else objects
    return Change.from_json(document).operation.simulate(found, app or build_app(), NAMESPACE)


def read_flags(objects: tuple[Object, ...]) -> Any:
    (store,) = [o for o in objects if o["metadata"]["name"] == "flags"]
    assert store["data"]["other"] == "kept"
    return json.loads(store["data"]["f.json"])["flags"]


# --- simulation


def test_flag_is_set_and_everything_else_is_kept() -> None:
    before = build_objects()
    after = simulate({"setFlag": {"flag": "slow", "variant": "on"}}, before)
    flags = read_flags(after)
    assert flags["slow"] == {"state": "ENABLED", "variants": {"off": 0, "on": 1}, "defaultVariant": "on"}
    assert flags["late"] == read_flags(before)["late"]
    assert after[:2] == before[:2]
    assert [o["metadata"]["name"] for o in after] == ["page", "page", "flags"]


def test_flag_gets_a_variant_with_a_value() -> None:
    flags = read_flags(simulate({"setFlag": {"flag": "slow", "variant": "half", "value": 0.5}}))
    assert (flags["slow"]["variants"]["half"], flags["slow"]["defaultVariant"]) == (0.5, "half")


@pytest.mark.parametrize(
    ("body", "code", "message", "fix"),
    [
        ({"flag": "slwo", "variant": "on"}, "SK120", "there is no flag 'slwo'", "did you mean `slow`?"),
        ({"flag": "slow", "variant": "onn"}, "SK120", "has no variant 'onn'", "did you mean `on`"),
    ],
)
def test_unknown_flags_and_variants_are_refused(body: Object, code: str, message: str, fix: str) -> None:
    with pytest.raises(AuthoringError, match=message) as caught:
        simulate({"setFlag": body})
    (finding,) = caught.value.findings
    assert finding.code == code
    assert finding.fix.startswith(fix)


def test_variants_are_listed() -> None:
    with pytest.raises(AuthoringError) as caught:
        simulate({"setFlag": {"flag": "slow", "variant": "half"}})
    assert caught.value.findings[0].expected == "off | on"


def test_flag_that_has_the_variant_already_changes_nothing() -> None:
    with pytest.raises(NoChange, match="setFlag of flag late changes nothing"):
        simulate({"setFlag": {"flag": "late", "variant": "on"}})


def test_app_without_flags_has_none_to_set() -> None:
    with pytest.raises(AuthoringError, match="setFlag: shop has no feature flags") as caught:
        simulate({"setFlag": {"flag": "slow", "variant": "on"}}, app=build_app(flags=None))
    assert caught.value.findings[0].code == "SK121"


@pytest.mark.parametrize(
    "document",
    [
        {"scale": {"target": "Deployment/page", "replicas": 2}},
        {"patch": {"target": "Deployment/page", "type": "Merge", "patch": {"spec": {"replicas": 2}}}},
        {"apply": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "page"}, "spec": {"ports": []}}},
    ],
)
def test_existing_value_is_unchanged(document: Object) -> None:
    objects = build_objects()
    if "apply" in document:
        document["apply"]["spec"]["ports"] = objects[1]["spec"]["ports"]
    with pytest.raises(NoChange, match="changes nothing"):
        simulate(document, objects)


def test_target_is_replaced_in_its_place() -> None:
    before = build_objects()
    after = simulate({"scale": {"target": "Deployment/page", "replicas": 5}}, before)
    assert after[0]["spec"]["replicas"] == 5
    assert after[1:] == before[1:]
    assert before[0]["spec"]["replicas"] == 2


def test_deleted_target_is_gone_alone() -> None:
    before = build_objects()
    assert simulate({"delete": {"target": "Service/page"}}, before) == (before[0], before[2])


def test_created_object_comes_last_and_exists_once() -> None:
    before = build_objects()
    made = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "new"}}
    after = simulate({"create": made}, before)
    assert after[:-1] == before
    assert after[-1]["metadata"] == {"name": "new", "namespace": NAMESPACE}
    with pytest.raises(AuthoringError, match="create: Service/new already exists"):
        simulate({"create": made}, after)
    assert simulate({"apply": {**made, "spec": {"clusterIP": "None"}}}, after)[-1]["spec"] == {"clusterIP": "None"}


@pytest.mark.parametrize(
    "document",
    [
        {"cordon": {"target": "Node/a"}},
        {"taint": {"target": "Node/a", "key": "k"}},
        {"restart": {"target": "Deployment/page"}},
        {"run": {"client": "shell", "command": ["FLUSH"]}},
        {"scale": {"target": "elsewhere/Deployment/page", "replicas": 0}},
    ],
)
def test_operations_without_rendered_fields_leave_objects_alone(document: Object) -> None:
    before = build_objects()
    assert simulate(document, before) == before


def test_rfc_6902_patch_names_paths_that_exist() -> None:
    steps = [{"op": "replace", "path": "/spec/nothing/0", "value": 1}]
    with pytest.raises(AuthoringError, match="the patch of Deployment/page does not apply") as caught:
        simulate({"patch": {"target": "Deployment/page", "type": "Json", "patch": steps}})
    (finding,) = caught.value.findings
    assert (finding.code, finding.observed) == ("SK121", json.dumps(steps))
    assert finding.expected == "paths that exist in the rendered object"
    assert finding.fix == "`scenario-kit render` shows the object"


# --- commands


@pytest.mark.parametrize("command", [["FLUSH"], ["SET", "a", "1"], ["SET", "b", "1"]])
def test_listed_commands_can_be_simulated(command: list[str]) -> None:
    Change.from_json({"run": {"client": "shell", "command": command}}).operation.check_command(
        build_app(), "changes[0]", simulated=True
    )


@pytest.mark.parametrize("command", [["FLUSH", "ALL"], ["SET", "c", "1"], ["SET", "a", "2"]])
def test_other_commands_need_a_real_store(command: list[str]) -> None:
    operation = Change.from_json({"run": {"client": "shell", "command": command}}).operation
    operation.check_command(build_app(), "changes[0]", simulated=False)
    with pytest.raises(
        AuthoringError, match=r"^changes\[0\]: the app's definition does not list this command"
    ) as caught:
        operation.check_command(build_app(), "changes[0]", simulated=True)
    (finding,) = caught.value.findings
    assert (finding.code, finding.observed) == ("SK121", " ".join(command))
    assert finding.expected == "SET {key} 1 | FLUSH"
    assert "real-data-plane" in finding.fix


@pytest.mark.parametrize("simulated", [True, False])
def test_client_must_exist(simulated: bool) -> None:
    operation = Change.from_json({"run": {"client": "shel", "command": ["FLUSH"]}}).operation
    with pytest.raises(AuthoringError, match=r"^changes\[0\]: shop 1 has no client 'shel'") as caught:
        operation.check_command(build_app(), "changes[0]", simulated=simulated)
    (finding,) = caught.value.findings
    assert (finding.code, finding.expected, finding.fix) == ("SK120", "shell", "did you mean `shell`?")


# --- written fields


def list_fields(document: Object, app: App | None = None) -> list[tuple[str, tuple[str, ...]]]:
    found = Change.from_json(document).operation.list_fields(build_objects(), app or build_app())
    return [(str(field.of), field.path) for field in found]


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ({"setFlag": {"flag": "slow", "variant": "on"}}, [("ConfigMap/flags", ("data", "f.json", "flags", "slow"))]),
        ({"run": {"client": "shell", "command": ["SET", "a", "1"]}}, [("Job/shell", ("SET a 1",))]),
        ({"cordon": {"target": "Node/a"}}, [("Node/a", ("spec", "unschedulable"))]),
        ({"uncordon": {"target": "Node/a,b"}}, [(f"Node/{n}", ("spec", "unschedulable")) for n in "ab"]),
        ({"taint": {"target": "Node/a", "key": "k"}}, [("Node/a", ("spec", "taints", "k", "NoSchedule"))]),
        (
            {"untaint": {"target": "Node/a", "key": "k", "effect": "NoExecute"}},
            [("Node/a", ("spec", "taints", "k", "NoExecute"))],
        ),
        ({"scale": {"target": "Deployment/page", "replicas": 1}}, []),  # compared as rendered objects
        (
            {"scale": {"target": "elsewhere/Deployment/x", "replicas": 1}},
            [("elsewhere/Deployment/x", ("spec", "replicas"))],
        ),
        (
            {"patch": {"target": "elsewhere/ConfigMap/x", "type": "Merge", "patch": {"data": {"a": "1", "b": None}}}},
            [("elsewhere/ConfigMap/x", ("data", "a")), ("elsewhere/ConfigMap/x", ("data", "b"))],
        ),
        (
            {
                "patch": {
                    "target": "elsewhere/ConfigMap/x",
                    "type": "Json",
                    "patch": [{"op": "add", "path": "/data/a", "value": "1"}],
                }
            },
            [("elsewhere/ConfigMap/x", ("data", "a"))],
        ),
        ({"create": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}}}, []),
        ({"restart": {"target": "elsewhere/Deployment/x"}}, []),
    ],
)
def test_fields_that_are_written_beside_rendered_objects(
    document: Object, fields: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert list_fields(document) == fields


def test_app_without_flags_has_no_field_of_one() -> None:
    assert list_fields({"setFlag": {"flag": "slow", "variant": "on"}}, build_app(flags=None)) == []


def test_owner_of_a_field_has_the_symbolic_namespace() -> None:
    assert name_field_owner(Reference("Deployment", "page", "shop", "apps"), "shop") == PAGE
    assert name_field_owner(Reference("Deployment", "page", "other", "apps"), "shop") == Reference(
        "Deployment", "page", "other"
    )


@pytest.mark.parametrize(
    ("target", "among"),
    [
        ("Deployment/page", True),
        ("shop/Deployment/page", True),
        ("Deployment/pages", False),
        ("StatefulSet/page", False),
        ("other/Deployment/page", False),
    ],
)
def test_targets_are_compared_whatever_the_namespace_is_called(target: str, among: bool) -> None:
    placed = build_object("Deployment", "page", "apps/v1", "shop")
    unplaced = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "page"}}
    beside = build_object("Service", "page", namespace="shop")
    for objects in ([beside, placed], [unplaced, beside]):
        assert is_among(objects, Reference.parse(target), "shop") is among
    assert not is_among([], Reference.parse(target), "shop")


def test_field_without_path_is_the_whole_object() -> None:
    whole, part = WrittenField(PAGE), WrittenField(PAGE, ("spec", "replicas"))
    assert whole.meets(part)
    assert part.meets(whole)


# --- persistence


def build_manifest(kind: str, api: str = "v1", **spec: Any) -> Object:
    return {"create": {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, "spec": spec}}


CHAOS = {"selector": {"labelSelectors": {"app": "page"}}, "mode": "all"}


@pytest.mark.parametrize(
    ("document", "lasts"),
    [
        ({"setFlag": {"flag": "slow", "variant": "on"}}, {"Object", "Workload", "Pod", "Expires", "SelfHeals"}),
        ({"run": {"client": "shell", "command": ["FLUSH"]}}, set()),
        ({"cordon": {"target": "Node/a"}}, set()),
        ({"taint": {"target": "Node/a", "key": "k"}}, {"Object", "Workload", "Pod", "Expires", "SelfHeals"}),
        (
            {"scale": {"target": "Deployment/page", "replicas": 0}},
            {"Object", "Workload", "Pod", "Expires", "SelfHeals"},
        ),
        (build_manifest("Service"), {"Object", "Workload", "Pod", "Expires", "SelfHeals"}),
        (build_manifest("Job", "batch/v1"), {"Object", "Workload", "Pod", "Expires", "SelfHeals"}),
        (build_manifest("Job", "batch/v1", activeDeadlineSeconds=60), {"Object", "Workload", "Pod"}),
        (build_manifest("Pod", activeDeadlineSeconds=60), {"Object", "Workload", "Pod"}),
        (
            build_manifest("Job", "batch/v1", template={"spec": {"activeDeadlineSeconds": 60}}),
            {"Object", "Workload", "Pod"},
        ),
        (
            build_manifest("Deployment", "apps/v1", template={"spec": {"activeDeadlineSeconds": 60}}),
            {"Object", "Workload", "Pod", "Expires", "SelfHeals"},
        ),
        (
            build_manifest("PodChaos", "chaos-mesh.org/v1alpha1", action="pod-failure", **CHAOS),
            {"Object", "Workload", "Expires", "SelfHeals"},
        ),
        (
            build_manifest("PodChaos", "chaos-mesh.org/v1alpha1", action="pod-failure", duration="60s", **CHAOS),
            {"Object", "Workload", "SelfHeals"},
        ),
        (build_manifest("PodChaos", "chaos-mesh.org/v1alpha1", action="pod-kill", **CHAOS), set()),
        (build_manifest("PhysicalMachineChaos", "chaos-mesh.org/v1alpha1", action="gc"), set()),
        (
            build_manifest("Schedule", "chaos-mesh.org/v1alpha1", type="PodChaos", podChaos={"action": "pod-failure"}),
            {"Object", "Workload", "SelfHeals"},
        ),
    ],
)
def test_persistence_of_effects(document: Object, lasts: set[str]) -> None:
    operation = Change.from_json(document).operation
    assert {p for p in ("Object", "Workload", "Pod", "Expires", "SelfHeals") if operation.outlasts(p)} == lasts


# --- texts, rollouts, inverses


@pytest.mark.parametrize(
    ("document", "texts"),
    [
        ({"taint": {"target": "Node/a", "key": "k", "value": "v"}}, [("key", "k"), ("value", "v")]),
        ({"untaint": {"target": "Node/a", "key": "k"}}, []),
        ({"cordon": {"target": "Node/a"}}, []),
    ],
)
def test_texts_that_a_solver_reads(document: Object, texts: list[tuple[str, str]]) -> None:
    assert list(Change.from_json(document).operation.list_texts()) == texts


def build_patch(type_: str, patch: Any, target: str = "Deployment/page") -> Object:
    return {"patch": {"target": target, "type": type_, "patch": patch}}


@pytest.mark.parametrize(
    ("document", "rolls_out"),
    [
        (build_patch("Merge", {"spec": {"template": {"spec": {}}}}), True),
        (build_patch("Strategic", {"spec": {"template": {"spec": {}}}}), True),
        (build_patch("Merge", {"spec": {"replicas": 1}}), False),
        (build_patch("Merge", {"metadata": {"labels": {}}}), False),
        (build_patch("Merge", {"spec": None}), False),
        (build_patch("Json", [{"op": "remove", "path": "/spec/template/spec/x"}]), True),
        (build_patch("Json", [{"op": "remove", "path": "/spec/replicas"}]), False),
        (build_patch("Json", [{"op": "add", "path": "/a"}, {"op": "add", "path": "/spec/template"}]), True),
        (build_patch("Merge", {"spec": {"template": {}}}, "Service/page"), False),
        (build_patch("Json", [{"op": "add", "path": "/spec/template"}], "ConfigMap/page"), False),
    ],
)
@pytest.mark.parametrize("drop_old", [True, False])
def test_patch_of_a_pod_template_starts_a_rollout(document: Object, rolls_out: bool, drop_old: bool) -> None:
    found = [(str(ref), drop) for ref, drop in Change.from_json(document).operation.list_rollouts(drop_old)]
    assert found == ([("Deployment/page", drop_old)] if rolls_out else [])


@pytest.mark.parametrize(
    ("document", "replicas"),
    [
        ({"scale": {"target": "Deployment/page", "replicas": 7}}, 7),
        (build_patch("Merge", {"spec": {"replicas": 6}}), 6),
        (build_patch("Json", [{"op": "replace", "path": "/spec/replicas", "value": 5}]), 5),
        (build_patch("Json", [{"op": "replace", "path": "/spec/replicas", "value": "x"}]), 0),
        (build_patch("Json", [{"op": "replace", "path": "/spec/other", "value": 5}]), 0),
        (
            {
                "create": {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "metadata": {"name": "x"},
                    "spec": {"replicas": 4},
                }
            },
            4,
        ),
        ({"delete": {"target": "Service/page"}}, 0),
    ],
)
def test_replicas_that_an_operation_asks_for(document: Object, replicas: int) -> None:
    assert Change.from_json(document).operation.count_replicas() == replicas


@pytest.mark.parametrize(
    ("former", "replicas"), [({"spec": {"replicas": 3}}, 3), ({"spec": {"replicas": 0}}, 0), ({"spec": {}}, 1)]
)
def test_scale_is_inverted_to_the_former_number(former: Object, replicas: int) -> None:
    body = {"target": "Deployment/page", "replicas": 9}
    operation = type(Change.from_json({"scale": body}).operation)
    assert operation.invert(body, former) == {"scale": {"target": "Deployment/page", "replicas": replicas}}
    assert operation.invert(body, None) is None
