"""Collateral changes of a repair: each kind of difference, and allowed ones."""

import copy
import json

import pytest

from scenario_kit.judge.repair.collateral_changes import Write, find_alterations, find_restrictions, list_selected
from scenario_kit.model import App, Component, FlagStore, Reference
from scenario_kit.model.authored.app import FlagTrait

APP = App(
    name="shop", version="1", namespace="shop", entry="web",
    components=(
        Component(name="web", workload=Reference("Deployment", "web"), service="Service/web"),
        Component(name="users", workload=Reference("Deployment", "users"), service="", role="Load"),
    ),
    flags=FlagStore(config_map="flags", key="f.json", effects={"flood": FlagTrait(component="users", effect="Surge")}),
)  # fmt: skip


ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
#: What the SDK reports to, and as whom.
TELEMETRY = [
    {"name": "COLLECTOR", "value": "otel:4317"},
    {"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://$(COLLECTOR)"},
    {"name": "OTEL_SERVICE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['component']"}}},
]


def workload(name, **container):
    body = {
        "name": name, "image": f"{name}:1", "env": [{"name": "ADDR", "value": "cart:80"}, *copy.deepcopy(TELEMETRY)],
        "resources": {"limits": {"cpu": "1000m"}}, "readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 10},
        **container,
    }  # fmt: skip
    template = {"metadata": {"labels": {"app": name, "component": name}}, "spec": {"containers": [body]}}
    spec = {"replicas": 1, "revisionHistoryLimit": 10, "template": template}
    return {"kind": "Deployment", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def flags(**variants):
    entries = {
        name: {"state": "ENABLED", "variants": {"on": True, "off": False}, "defaultVariant": variants.get(name, "off")}
        for name in ("slow", "flood")
    }
    return build_object("ConfigMap", "flags", data={"f.json": json.dumps({"flags": entries})})


def build_object(kind, name, **parts):
    return {"kind": kind, "metadata": {"name": name, "namespace": "shop"}, **parts}


BEFORE = [
    workload("web"), workload("ad"), workload("users"), flags(),
    build_object("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}),
    build_object("ConfigMap", "files", data={"a": "1"}),
    build_object("Secret", "key", data={"k": "djE="}),
    build_object("Ingress", "door", spec={"rules": [{"host": "shop", "http": {"paths": [{"path": "/"}]}}]}),
    build_object("Role", "reader", rules=[{"verbs": ["get"]}]),
    build_object("HorizontalPodAutoscaler", "ad", spec={"minReplicas": 2, "maxReplicas": 6}),
]  # fmt: skip


def now(kind, name, edit):
    objects = copy.deepcopy(BEFORE)
    edit(next(o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)))
    return objects


def container(obj):
    return obj["spec"]["template"]["spec"]["containers"][0]


def pod(obj):
    return obj["spec"]["template"]["spec"]


def label_pods(**labels):
    return lambda o: o["spec"]["template"]["metadata"]["labels"].update(labels)


def set_env(obj):
    container(obj)["env"].append({"name": "MODE", "value": "fast"})


def annotate_pods(**marks):
    return lambda o: o["spec"]["template"]["metadata"].update(annotations=marks)


BROKEN = [
    ("Service", "web", lambda o: o["spec"].update(selector={"app": "ad"}), "no longer selects"),
    ("Service", "web", lambda o: o["spec"]["selector"].update(tier="x"), "spec.selector.tier"),
    ("Service", "web", lambda o: o["spec"]["ports"][0].update(targetPort=9), "spec.ports.0.targetPort is 9"),
    ("Service", "web", lambda o: o["spec"].update(ports=[]), "spec.ports"),
    ("ConfigMap", "files", lambda o: o["data"].update(a="2"), "data.a is 2, its baseline is 1"),
    ("ConfigMap", "files", lambda o: o["data"].pop("a"), "data.a is gone"),
    ("Secret", "key", lambda o: o["data"].update(k="djI="), "data.k differs from its baseline"),
    ("Ingress", "door", lambda o: o["spec"]["rules"][0].update(host="other"), "spec.rules.0.host"),
    ("Role", "reader", lambda o: o["rules"][0].update(verbs=["*"]), "rules.0.verbs"),
    ("Deployment", "ad", set_env, "env.MODE"),
    ("Deployment", "ad", lambda o: container(o).update(image="ad:2"), "image is ad:2"),
    ("Deployment", "ad", lambda o: container(o).update(args=["--slow"]), "args"),
    ("Deployment", "web", lambda o: container(o)["readinessProbe"].update(periodSeconds=999), "periodSeconds is 999"),
    ("Deployment", "web", lambda o: container(o)["env"].append({"name": "OTEL_X", "value": "y"}), "env.OTEL_X"),
    ("Deployment", "ad", lambda o: o["spec"]["template"]["metadata"]["labels"].update(app="web"), "also selects"),
    ("ConfigMap", "flags", lambda o: o.update(flags(slow="on")), "flag slow is true, its baseline is false"),
    ("Service", "web", lambda o: o["spec"].update(internalTrafficPolicy="Local"), "is Local, its baseline is Cluster"),
    ("Service", "web", lambda o: o["spec"].update(sessionAffinity="ClientIP"), "is ClientIP, its baseline is None"),
    ("Service", "web", lambda o: o["spec"].update(publishNotReadyAddresses=True), "publishNotReadyAddresses is True"),
    ("Service", "web", lambda o: o["spec"].update(type="ExternalName", externalName="x"), "type is ExternalName"),
    ("Deployment", "ad", lambda o: o["spec"].update(strategy={"type": "Recreate"}), "strategy.type is Recreate"),
    ("Deployment", "ad", lambda o: o["spec"].update(minReadySeconds=600), "minReadySeconds is 600"),
    ("Deployment", "ad", lambda o: pod(o).update(dnsPolicy="Default"), "dnsPolicy is Default"),
    ("Deployment", "ad", lambda o: pod(o).update(hostAliases=[{"ip": "127.0.0.1"}]), "hostAliases"),
    ("Deployment", "ad", lambda o: pod(o).update(tolerations=[{"operator": "Exists"}]), "tolerations"),
    ("Deployment", "ad", lambda o: container(o).update(livenessProbe={"tcpSocket": {"port": 9}}), "livenessProbe"),
    ("Deployment", "ad", lambda o: container(o).update(lifecycle={"preStop": {"sleep": {"seconds": 9}}}), "lifecycle"),
    ("Deployment", "ad", lambda o: container(o)["resources"]["limits"].update(cpu="500m"), "limits.cpu is 500m"),
    ("Deployment", "web", lambda o: o["spec"].update(replicas=11), "replicas is 11, its baseline is 1"),
    ("Deployment", "web", lambda o: o["spec"].update(progressDeadlineSeconds=86400), "is 86400, its baseline is 600"),
    ("Deployment", "web", label_pods(component="door"), "labels.component is door, its baseline is web"),
    ("Deployment", "web", lambda o: container(o)["env"][1].update(value="x"), "env.COLLECTOR.value is x"),
    ("HorizontalPodAutoscaler", "ad", lambda o: o["spec"].update(maxReplicas=2), "maxReplicas is 2, its baseline is 6"),
    ("HorizontalPodAutoscaler", "ad", lambda o: o["spec"].update(minReplicas=1), "minReplicas is 1, its baseline is 2"),
    (
        "Deployment", "web", annotate_pods(**{"prometheus.io/scrape": "false"}),
        "the annotation prometheus.io/scrape is false, its baseline is gone",
    ),
    (
        "Deployment", "ad",
        annotate_pods(**{"resource.opentelemetry.io/service.name": "x"}),
        "the annotation resource.opentelemetry.io/service.name is x",
    ),
    (
        "Service", "web", lambda o: o["metadata"].update(annotations={"prometheus.io/port": "9"}),
        "prometheus.io/port is 9",
    ),
]  # fmt: skip
FINE = [
    ("Deployment", "web", set_env),  # it has a part in the incident
    ("Deployment", "web", lambda o: pod(o).update(dnsPolicy="Default")),
    ("Deployment", "web", lambda o: container(o)["resources"]["limits"].update(cpu="500m")),
    ("Deployment", "web", label_pods(tier="front")),
    ("Deployment", "web", lambda o: o["spec"].update(replicas=10)),
    ("HorizontalPodAutoscaler", "ad", lambda o: o["spec"].update(minReplicas=3, maxReplicas=60)),
    ("Service", "web", lambda o: o["spec"].update(internalTrafficPolicy="Cluster", ipFamilies=["IPv4"])),
    ("Service", "web", lambda o: o["spec"]["ports"][0].update(protocol="TCP", nodePort=30080)),
    ("Deployment", "ad", lambda o: o["spec"].update(progressDeadlineSeconds=600, strategy=ROLLING)),
    ("Deployment", "ad", lambda o: container(o)["env"][3]["valueFrom"]["fieldRef"].update(apiVersion="v1")),
    ("Deployment", "ad", lambda o: container(o)["readinessProbe"].update(timeoutSeconds=1, failureThreshold=3)),
    ("Deployment", "ad", lambda o: pod(o).update(dnsPolicy="ClusterFirst", securityContext={}, serviceAccount="x")),
    ("Deployment", "ad", lambda o: o["spec"].update(replicas=3)),
    ("Deployment", "ad", lambda o: o["spec"].update(revisionHistoryLimit=11)),  # the kit's own resync of all objects
    ("Deployment", "ad", lambda o: container(o)["resources"]["limits"].update(cpu="2", memory="1Gi")),
    ("Deployment", "ad", lambda o: container(o)["resources"]["limits"].update(cpu="1")),
    (
        "Deployment",
        "ad",
        lambda o: container(o).update(imagePullPolicy="IfNotPresent", terminationMessagePath="/dev/termination-log"),
    ),
    ("Deployment", "ad", lambda o: o["spec"]["template"]["metadata"].update(annotations={"restartedAt": "now"})),
    ("Deployment", "users", lambda o: container(o)["env"][0].update(value="60")),
    ("Service", "web", lambda o: o["spec"].update(clusterIP="10.0.0.9", type="ClusterIP")),
    ("ConfigMap", "files", lambda o: o["data"].update(b="2")),
    ("ConfigMap", "flags", lambda o: o.update(flags(flood="on"))),
]


@pytest.mark.parametrize(("kind", "name", "edit", "reported"), BROKEN)
def test_change_without_fault_is_reported(kind, name, edit, reported):
    problems = find_alterations(APP, BEFORE, now(kind, name, edit), [], {("Deployment", "web")})
    assert any(reported in problem for problem in problems), problems


def test_a_difference_behind_allowed_ones_is_reported():
    def edit(obj):
        set_env(obj)
        pod(obj).update(dnsPolicy="Default")
        obj["spec"].update(replicas=11)
        container(obj)["readinessProbe"].update(periodSeconds=999)

    assert find_alterations(APP, BEFORE, now("Deployment", "web", edit), [], {("Deployment", "web")}) == [
        "Deployment/web: spec.replicas is 11, its baseline is 1",
        "Deployment/web: spec.template.spec.containers.web.readinessProbe.periodSeconds is 999, its baseline is 10",
    ]


@pytest.mark.parametrize(("kind", "name", "edit"), FINE)
def test_allowed_differences_are_not_reported(kind, name, edit):
    assert find_alterations(APP, BEFORE, now(kind, name, edit), [], {("Deployment", "web")}) == []


@pytest.mark.parametrize(("kind", "name", "edit", "reported"), BROKEN)
def test_fields_written_by_a_fault_may_differ(kind, name, edit, reported):
    objects = now(kind, name, edit)
    write = next(Write(b, n) for b, n in zip(BEFORE, objects, strict=True) if b != n)
    assert find_alterations(APP, BEFORE, objects, [write], {("Deployment", "web")}) == []


def test_created_and_deleted_objects_are_left_to_other_checks():
    objects = [o for o in BEFORE if o["kind"] != "Ingress"]
    assert find_alterations(APP, BEFORE, objects, []) == []
    made = now("Ingress", "door", lambda o: o["spec"].update(rules=[]))
    assert find_alterations(APP, BEFORE, made, [Write(BEFORE[7], None)]) == []


@pytest.mark.parametrize(
    ("made", "known", "reported"),
    [
        ("NetworkPolicy", None, ["NetworkPolicy/new restricts the app"]),
        ("LimitRange", None, ["LimitRange/new restricts the app"]),
        ("ConfigMap", None, []),
        ("NetworkPolicy", "NetworkPolicy", []),
        ("LimitRange", "ResourceQuota", []),
    ],
)
def test_new_restrictions_of_a_repair(made, known, reported):
    others = [build_object(known, "old")] if known else []
    assert find_restrictions([build_object(made, "new")], [*BEFORE, *others]) == reported


@pytest.mark.parametrize(
    ("budget", "forbids"),
    [
        ({"maxUnavailable": 0}, True), ({"maxUnavailable": "0%"}, True), ({"maxUnavailable": 1}, False),
        ({"minAvailable": 1}, True), ({"minAvailable": "100%"}, True), ({"minAvailable": "1%"}, True),
        ({"minAvailable": 0}, False), ({}, False),
    ],
)  # fmt: skip
def test_budget_without_evictions_is_a_restriction(budget, forbids):
    made = build_object("PodDisruptionBudget", "new", spec={"selector": {"matchLabels": {"app": "web"}}, **budget})
    reported = ["PodDisruptionBudget/new allows no eviction"] if forbids else []
    assert find_restrictions([made], BEFORE) == reported
    assert find_restrictions([made], [*BEFORE, build_object("ResourceQuota", "old")]) == reported


@pytest.mark.parametrize(
    ("labels", "more", "captured"),
    [
        ({"app": "web"}, [], True),
        ({"app": "web", "x": "y"}, [], True),
        ({"app": "other"}, [], False),
        ({}, [], False),
        ({"app": "web"}, [build_object("Service", "web", spec={"selector": {"app": "ad"}})], False),
    ],
    ids=["selected", "with another label", "another app", "without labels", "a fault changed the selector"],
)
def test_new_pod_behind_a_service_of_the_app_is_reported(labels, more, captured):
    pod = {"kind": "Pod", "metadata": {"name": "new", "namespace": "shop", "labels": labels}, "spec": {}}
    reported = ["Service/web also selects the pods of Pod/new"] if captured else []
    assert find_restrictions([pod], [*BEFORE, *more]) == reported


@pytest.mark.parametrize(
    ("available", "forbids"), [(1, False), ("50%", False), ("51%", True), ("100%", True), (2, True)]
)
def test_budget_may_keep_some_of_several_pods(available, forbids):
    budget = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": available}
    web = workload("web")
    web["spec"]["replicas"] = 2
    made = build_object("PodDisruptionBudget", "new", spec=budget)
    assert bool(find_restrictions([made], [web])) is forbids


def find_edit_alterations(kind, name, edit, **more):
    return find_alterations(APP, BEFORE, now(kind, name, edit), [], **more)


@pytest.mark.parametrize(
    ("value", "reported"),
    [("x" * 60, "x" * 60), ("x" * 61, "x" * 59 + "…"), (None, "gone")],
)
def test_difference_names_value_and_baseline(value, reported):
    found = find_edit_alterations("ConfigMap", "files", lambda o: o["data"].update(a=value))
    assert found == [f"ConfigMap/files: data.a is {reported}, its baseline is 1"]


def test_secret_values_are_not_reported():
    found = find_edit_alterations("Secret", "key", lambda o: o["data"].update(k="djI="))
    assert found == ["Secret/key: data.k differs from its baseline"]


@pytest.mark.parametrize("kind", ["Job", "Pod", "Namespace"])
def test_transient_and_controller_fields_may_differ(kind):
    was, is_ = build_object(kind, "x", spec={"a": 1}), build_object(kind, "x", spec={"a": 2})
    assert find_alterations(APP, [was], [is_], []) == []
    assert find_alterations(APP, [{**was, "kind": "Ingress"}], [{**is_, "kind": "Ingress"}], []) != []


@pytest.mark.parametrize("part", ["status", "metadata", "apiVersion", "stringData"])
def test_status_and_metadata_differences_are_ignored(part):
    was = build_object("Ingress", "x", **({} if part == "metadata" else {part: {"a": 1}}))
    is_ = copy.deepcopy(was)
    is_[part] = {**was["metadata"], "labels": {"a": 2}} if part == "metadata" else {"a": 2}
    assert find_alterations(APP, [was], [is_], []) == []


@pytest.mark.parametrize(("kind", "reported"), [("ServiceAccount", 0), ("Other", 1)])
def test_service_account_token_references_may_differ(kind, reported):
    was, is_ = build_object(kind, "x", secrets=[{"name": "a"}]), build_object(kind, "x", secrets=[{"name": "b"}])
    assert bool(find_alterations(APP, [was], [is_], [])) == bool(reported)


def test_involved_workloads_may_change_but_keep_their_probes():
    def probe(obj):
        container(obj)["readinessProbe"].update(periodSeconds=99)

    def image(obj):
        container(obj).update(image="web:2")

    assert find_edit_alterations("Deployment", "web", image, involved={("Deployment", "web")}) == []
    assert find_edit_alterations("Deployment", "web", image, involved={("Deployment", "ad")}) != []
    assert find_edit_alterations("Deployment", "web", probe, involved={("Deployment", "web")}) != []


def test_only_workloads_may_change_as_workaround():
    def path(obj):
        obj["spec"]["rules"][0].update(host="x")

    assert find_edit_alterations("Ingress", "door", path, involved={("Ingress", "door")}) != []


def test_only_fields_written_by_a_fault_are_exempt():
    was = build_object("ConfigMap", "files", data={"a": "1", "b": "1"})
    is_ = build_object("ConfigMap", "files", data={"a": "2", "b": "2"})
    wrote = Write(was, build_object("ConfigMap", "files", data={"a": "9", "b": "1"}))
    other = Write(
        build_object("ConfigMap", "other", data={"b": "1"}), build_object("ConfigMap", "other", data={"b": "2"})
    )
    assert find_alterations(APP, [was], [is_], [wrote]) == ["ConfigMap/files: data.b is 2, its baseline is 1"]
    assert len(find_alterations(APP, [was], [is_], [other])) == 2
    assert (
        find_alterations(
            APP, [was], [is_], [wrote, Write(was, build_object("ConfigMap", "files", data={"a": "1", "b": "9"}))]
        )
        == []
    )
    assert find_alterations(APP, [was], [is_], [Write(None, is_)]) == []
    assert find_alterations(APP, [was], [is_], [Write(None, None), Write(was, None)]) == []


@pytest.mark.parametrize(
    ("before", "after", "spared"),
    [("off", "on", True), ("off", "off", False)],
)
def test_flag_set_by_a_fault_is_exempt(before, after, spared):
    objects = [flags(slow="on")]
    write = Write(flags(slow=before), flags(slow=after))
    found = find_alterations(APP, [flags()], objects, [write])
    assert found == ([] if spared else ["ConfigMap/flags: flag slow is true, its baseline is false"])


def test_writes_to_other_objects_exempt_no_flag():
    write = Write(build_object("ConfigMap", "x", data={"f.json": flags()["data"]["f.json"]}), None)
    assert find_alterations(APP, [flags()], [flags(slow="on")], [write]) != []


@pytest.mark.parametrize("data", [{"f.json": "{"}, {}, {"f.json": "{}"}])
def test_missing_flag_is_reported(data):
    found = find_alterations(APP, [flags()], [build_object("ConfigMap", "flags", data=data)], [])
    assert "ConfigMap/flags: flag slow is gone, its baseline is false" in found
    assert not any("flood" in problem for problem in found)


@pytest.mark.parametrize(
    ("labels", "namespace", "names"),
    [
        ({"app": "web"}, "shop", {("Deployment", "web")}),
        ({"app": "web", "x": "y"}, "shop", set()),
        ({}, "shop", set()),
        ({"app": "web"}, "other", set()),
    ],
)
def test_list_selected_matches_labels_and_namespace(labels, namespace, names):
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": namespace}, "spec": {"selector": labels}}
    assert list_selected(service, BEFORE) == names


def test_changed_service_selection_is_reported_unless_a_fault_made_it():
    moved = now("Deployment", "ad", lambda o: o["spec"]["template"]["metadata"]["labels"].update(app="web"))
    assert "Service/web also selects the pods of Deployment/ad" in find_alterations(APP, BEFORE, moved, [])
    write = Write(BEFORE[1], moved[1])
    assert not any("selects" in problem for problem in find_alterations(APP, BEFORE, moved, [write]))
    lost = now("Service", "web", lambda o: o["spec"].update(selector={"app": "ad"}))
    found = [problem for problem in find_alterations(APP, BEFORE, lost, []) if "selects" in problem]
    assert found == [
        "Service/web also selects the pods of Deployment/ad",
        "Service/web no longer selects the pods of Deployment/web",
    ]
