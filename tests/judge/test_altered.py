"""What a repair changes beside the fault: each kind of difference, and what may differ."""

import copy
import json

import pytest

from scenario_kit.judge.altered import Write, altered
from scenario_kit.model import App, Component, FlagStore
from scenario_kit.model.app import FlagTrait

APP = App(
    name="shop", version="1", namespace="shop", entry="web",
    components=(
        Component(name="web", workload="Deployment/web", service="Service/web"),
        Component(name="users", workload="Deployment/users", service="", role="Load"),
    ),
    flags=FlagStore(config_map="flags", key="f.json", effects={"flood": FlagTrait(component="users", effect="Surge")}),
)  # fmt: skip


def workload(name, **container):
    body = {
        "name": name, "image": f"{name}:1", "env": [{"name": "ADDR", "value": "cart:80"}],
        "resources": {"limits": {"cpu": "1000m"}}, "readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 10},
        **container,
    }  # fmt: skip
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [body]}}
    spec = {"replicas": 1, "revisionHistoryLimit": 10, "template": template}
    return {"kind": "Deployment", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def flags(**variants):
    entries = {
        name: {"state": "ENABLED", "variants": {"on": True, "off": False}, "defaultVariant": variants.get(name, "off")}
        for name in ("slow", "flood")
    }
    return of("ConfigMap", "flags", data={"f.json": json.dumps({"flags": entries})})


def of(kind, name, **parts):
    return {"kind": kind, "metadata": {"name": name, "namespace": "shop"}, **parts}


BEFORE = [
    workload("web"), workload("ad"), workload("users"), flags(),
    of("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}),
    of("ConfigMap", "files", data={"a": "1"}),
    of("Secret", "key", data={"k": "djE="}),
    of("Ingress", "door", spec={"rules": [{"host": "shop", "http": {"paths": [{"path": "/"}]}}]}),
    of("Role", "reader", rules=[{"verbs": ["get"]}]),
]  # fmt: skip


def now(kind, name, edit):
    objects = copy.deepcopy(BEFORE)
    edit(next(o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)))
    return objects


def container(obj):
    return obj["spec"]["template"]["spec"]["containers"][0]


def set_env(obj):
    container(obj)["env"].append({"name": "MODE", "value": "fast"})


BROKEN = [
    ("Service", "web", lambda o: o["spec"].update(selector={"app": "ad"}), "no longer selects"),
    ("Service", "web", lambda o: o["spec"]["selector"].update(tier="x"), "spec.selector.tier"),
    ("Service", "web", lambda o: o["spec"]["ports"][0].update(targetPort=9), "spec.ports.0.targetPort is 9"),
    ("Service", "web", lambda o: o["spec"].update(ports=[]), "spec.ports"),
    ("ConfigMap", "files", lambda o: o["data"].update(a="2"), "data.a is 2, its baseline is 1"),
    ("ConfigMap", "files", lambda o: o["data"].pop("a"), "data.a is gone"),
    ("Secret", "key", lambda o: o["data"].update(k="djI="), "data.k is not what it was"),
    ("Ingress", "door", lambda o: o["spec"]["rules"][0].update(host="other"), "spec.rules.0.host"),
    ("Role", "reader", lambda o: o["rules"][0].update(verbs=["*"]), "rules.0.verbs"),
    ("Deployment", "ad", set_env, "env.MODE"),
    ("Deployment", "ad", lambda o: container(o).update(image="ad:2"), "image is ad:2"),
    ("Deployment", "ad", lambda o: container(o).update(args=["--slow"]), "args"),
    ("Deployment", "web", lambda o: container(o)["readinessProbe"].update(periodSeconds=999), "periodSeconds is 999"),
    ("Deployment", "ad", lambda o: o["spec"]["template"]["metadata"]["labels"].update(app="web"), "also selects"),
    ("ConfigMap", "flags", lambda o: o.update(flags(slow="on")), "flag slow is true, its baseline is false"),
]  # fmt: skip
FINE = [
    ("Deployment", "web", set_env),  # it has a part in the incident
    ("Deployment", "ad", lambda o: o["spec"].update(replicas=3)),
    ("Deployment", "ad", lambda o: o["spec"].update(revisionHistoryLimit=11)),  # the kit's own resync of all objects
    ("Deployment", "ad", lambda o: container(o)["resources"]["limits"].update(cpu="2", memory="1Gi")),
    ("Deployment", "ad", lambda o: container(o)["resources"]["limits"].update(cpu="1")),
    ("Deployment", "ad", lambda o: container(o).update(imagePullPolicy="IfNotPresent", terminationMessagePath="/x")),
    ("Deployment", "ad", lambda o: o["spec"]["template"]["metadata"].update(annotations={"restartedAt": "now"})),
    ("Deployment", "users", lambda o: container(o)["env"][0].update(value="60")),
    ("Service", "web", lambda o: o["spec"].update(clusterIP="10.0.0.9", type="ClusterIP")),
    ("ConfigMap", "files", lambda o: o["data"].update(b="2")),
    ("ConfigMap", "flags", lambda o: o.update(flags(flood="on"))),
]


@pytest.mark.parametrize(("kind", "name", "edit", "told"), BROKEN)
def test_what_no_fault_changed_is_as_it_was(kind, name, edit, told):
    problems = altered(APP, BEFORE, now(kind, name, edit), [], {"Deployment/web"})
    assert any(told in problem for problem in problems), problems


@pytest.mark.parametrize(("kind", "name", "edit"), FINE)
def test_what_may_differ(kind, name, edit):
    assert altered(APP, BEFORE, now(kind, name, edit), [], {"Deployment/web"}) == []


@pytest.mark.parametrize(("kind", "name", "edit", "told"), BROKEN)
def test_what_a_fault_changed_may_be_anything(kind, name, edit, told):
    objects = now(kind, name, edit)
    write = next(Write(b, n) for b, n in zip(BEFORE, objects, strict=True) if b != n)
    assert altered(APP, BEFORE, objects, [write], {"Deployment/web"}) == []


def test_what_a_fault_created_or_deleted_is_its_own_matter_and_what_is_gone_others_tell():
    objects = [o for o in BEFORE if o["kind"] != "Ingress"]
    assert altered(APP, BEFORE, objects, []) == []
    made = now("Ingress", "door", lambda o: o["spec"].update(rules=[]))
    assert altered(APP, BEFORE, made, [Write(BEFORE[7], None)]) == []
