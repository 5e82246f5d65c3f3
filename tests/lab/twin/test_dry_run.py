"""SK138: contradictions between a twin and its app's manifests are reported with their place."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.cli.authoring.twin_findings import check_files
from scenario_kit.lab.twin.definition_checks import find_mistakes
from scenario_kit.lab.twin.dry_run import Miss, find_misses
from scenario_kit.model import CallEdge
from scenario_kit.render import render_app, resolve_options
from scenario_kit.render.apps.namespaces import locate_components
from tests.lab.twin import tiny

CATALOG = Catalog()
Document = dict[str, Any]


def dry_run(
    twin: Callable[[Document], object] = lambda _: None, objects: Callable[[list[Document]], object] = lambda _: None
) -> list[Miss]:
    made, there = copy.deepcopy(tiny.TWIN), tiny.objects()
    twin(made)
    objects(there)
    app = tiny.app(**made)
    assert app.twin is not None
    return list(find_misses(app, app.twin, there))


def container(objects: list[Document], name: str) -> Document:
    workload = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == name)
    found: Document = workload["spec"]["template"]["spec"]["containers"][0]
    return found


def service(objects: list[Document], name: str) -> Document:
    return next(o for o in objects if o["kind"] == "Service" and o["metadata"]["name"] == name)


def env(name: str, **values: str) -> Callable[[list[Document]], object]:
    written = [{"name": k, "value": v} for k, v in values.items()]
    return lambda objects: container(objects, name).update(env=written)


def probe(path: str, port: int | str = "main") -> Callable[[list[Document]], object]:
    readiness_probe = {"httpGet": {"path": path, "port": port}}
    return lambda objects: container(objects, "gate").update(readinessProbe=readiness_probe)


def edge(number: int, **fields: Any) -> Callable[[Document], object]:
    return lambda twin: twin["edges"][number].update(fields)


@pytest.mark.parametrize(
    ("name", "version", "options"),
    [(n, v, o) for n in CATALOG.apps() for v in CATALOG.versions(n) for o in ({}, {"separateStores": True})],
)
def test_catalogue_apps_have_no_misses(name: str, version: str, options: Document) -> None:
    app = CATALOG.app(name, version)
    objects = render_app(app, resolve_options(app, options), 50, app.namespace, templates=CATALOG.templates(name))
    assert app.twin is not None
    assert find_misses(locate_components(app, objects, app.namespace), app.twin, objects) == ()


def test_consistent_app_has_no_misses() -> None:
    assert dry_run(objects=probe("/live?full=1")) == []
    assert dry_run(objects=lambda objects: objects.remove(service(objects, "box"))) != []


def test_pods_without_a_workload_belong_to_the_app() -> None:
    spec = {"containers": [{"name": "main", "image": "test:1"}]}
    bare = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "test", "namespace": "tiny"}, "spec": spec}

    assert dry_run(objects=lambda objects: objects.append(bare)) == []
    assert dry_run(objects=lambda objects: (env("gate", API_ADDR="api")(objects), objects.append(bare))) != []


@pytest.mark.parametrize(
    ("selector", "replicas", "found"),
    [
        ({"statefulset.kubernetes.io/pod-name": "api-2"}, 3, True),
        ({"app": "api", "apps.kubernetes.io/pod-index": "0"}, 1, True),
        ({"statefulset.kubernetes.io/pod-name": "api-2"}, 2, False),
    ],
)
def test_services_of_single_pods_select_them(selector: Document, replicas: int, found: bool) -> None:
    def make_stateful(objects: list[Document]) -> None:
        service(objects, "api")["spec"]["selector"] = selector
        workload = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "api")
        workload["kind"] = "StatefulSet"
        workload["spec"].update(replicas=replicas, serviceName="api")

    reported = [miss.text for miss in dry_run(objects=make_stateful)]
    call = "the call from 'gate' to 'api' fails: nothing listens at api:9000: Service/api selects no pod"
    assert reported == ([] if found else [call])


def test_a_headless_service_without_selector_is_explained() -> None:
    def leave_endpoints_to_a_program(objects: list[Document]) -> None:
        env("gate", API_ADDR="api-0.api:9000")(objects)
        service(objects, "api")["spec"] = {"clusterIP": "None", "ports": [{"port": 9000}]}

    (miss,) = dry_run(objects=leave_endpoints_to_a_program)
    assert "it has no selector, and in a lab no program writes its endpoints" in miss.text


@pytest.mark.parametrize(("policy", "found"), [({"restartPolicy": "Always"}, True), ({}, False)])
def test_sidecars_run_beside_the_other_containers(policy: Document, found: bool) -> None:
    """A component may run in a sidecar, whose ports Services name, too."""

    def move_beside(objects: list[Document]) -> None:
        service(objects, "api")["spec"]["ports"][0]["targetPort"] = "rpc"
        moved = {**container(objects, "api"), "ports": [{"name": "rpc", "containerPort": 9000}], **policy}
        workload = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "api")
        workload["spec"]["template"]["spec"] = {
            "initContainers": [moved],
            "containers": [{"name": "main", "image": "example.org/other:1"}],
        }

    assert (dry_run(objects=move_beside) == []) is found


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("until nc -z api 9000; do sleep 1; done", ""),
        ("until nc -z api 9001; do sleep 1; done", "waits for api:9001, where nothing but this pod could answer"),
        ("until nc -z gate 80; do sleep 1; done", "waits for gate:80, where nothing but this pod could answer"),
        ("until nslookup other; do sleep 1; done", "waits for the name other, which does not exist"),
        ("echo not implemented; exit 2", "ends with exit code 2"),
        ("sleep 600", ""),
    ],
)
def test_init_containers_that_never_end_are_reported(script: str, why: str) -> None:
    def add_init_container(objects: list[Document]) -> None:
        workload = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "gate")
        waiting = {"name": "wait", "image": "busybox:1.37.0", "command": ["sh", "-c", script]}
        workload["spec"]["template"]["spec"]["initContainers"] = [waiting]

    found = dry_run(objects=add_init_container)

    assert [miss.place for miss in found] == ([("components", "gate")] if why else [])
    assert all(f"the init container 'wait' of Deployment/gate {why}" in miss.text for miss in found)


@pytest.mark.parametrize(
    ("host", "spec", "found"),
    [
        ("api-0.api", {}, True),
        ("api-0.api.tiny.svc", {}, True),
        ("api-1.api", {}, False),
        ("api-1.api", {"ordinals": {"start": 1}}, True),
        ("api-1.api", {"ordinals": {"start": 1}, "replicas": 0}, True),  # its next pod
        ("api-0.api", {"replicas": 0}, True),
    ],
)
def test_pods_of_a_stateful_set_have_names(host: str, spec: Document, found: bool) -> None:
    def make_stateful(objects: list[Document]) -> None:
        env("gate", API_ADDR=f"{host}:9000")(objects)
        service(objects, "api")["spec"]["clusterIP"] = "None"
        workload = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "api")
        workload["kind"], workload["spec"]["serviceName"] = "StatefulSet", "api"
        workload["spec"].update(spec)

    reported = [miss.text for miss in dry_run(objects=make_stateful) if "call from 'gate'" in miss.text]
    assert reported == (
        [] if found else ["the call from 'gate' to 'api' fails: no pod of Service/api has the name 'api-1'"]
    )


@pytest.mark.parametrize(
    ("twin", "objects", "message", "place"),
    [
        (
            edge(1, protocol="http"),
            None,
            "the call from 'gate' to 'api' fails: port 9000 of 'api' speaks grpc, but the call http",
            ("edges", 1),
        ),
        (
            edge(1, address={"env": "API_ADDRESS"}),
            None,
            "the call from 'gate' to 'api' has no address: container 'gate' has no variable API_ADDRESS; it has "
            "API_ADDR",
            ("edges", 1),
        ),
        (
            edge(1, address={"hostEnv": "APIS_SERVICE_HOST", "portEnv": "API_SERVICE_PORT"}),
            None,
            "the call from 'gate' to 'api' has no address: container 'gate' has no variable APIS_SERVICE_HOST; it has "
            "API_ADDR",
            ("edges", 1),
        ),
        (
            None,
            env("gate", API_ADDR="apis:9000"),
            "the call from 'gate' to 'api' fails: there is no Service 'apis'; did you mean `api`?",
            ("edges", 1),
        ),
        (
            None,
            env("gate", API_ADDR="api:9001"),
            "the call from 'gate' to 'api' fails: nothing listens at api:9001: Service/api has port 9000",
            ("edges", 1),
        ),
        (
            None,
            env("gate", API_ADDR="sink:4317"),
            "the call from 'gate' to 'api' fails: 'sink' listens at sink:4317, not 'api'",
            ("edges", 1),
        ),
        (
            None,
            lambda objects: service(objects, "api")["spec"]["ports"][0].update(targetPort=9001),
            "the call from 'gate' to 'api' fails: nothing listens at api:9000: Service/api forwards to port "
            "9001, but 'api' listens on 9000",
            ("edges", 1),
        ),
        (
            None,
            lambda objects: service(objects, "api")["spec"].update(selector={"app": "apis"}),
            "the call from 'gate' to 'api' fails: nothing listens at api:9000: Service/api selects "
            "no pod",
            ("edges", 1),
        ),
        (
            None,
            env("api", BOX_DSN="sql://me:wrong@box/x"),
            "the call from 'api' to 'box' fails: 'box' rejects the user 'me' or its password",
            ("edges", 2),
        ),
        (
            lambda twin: twin["components"]["gate"].update(telemetryProtocol="http", telemetry={"text": "sink:4318"}),
            None,
            "what 'gate' reports to 'sink' fails: nothing listens at sink:4318: Service/sink has "
            "port 4317",
            ("components", "gate", "telemetry"),
        ),
        (
            lambda twin: twin["components"]["box"].update(container="store"),
            None,
            "no container of Deployment/box runs it; its containers are 'box' of example.org/box:1; set `image`, "
            "`commands`, `arguments` or `container`",
            ("components", "box", "image"),
        ),
        (
            lambda twin: twin["load"].update(users={"env": "CLIENTS"}),
            None,
            "container 'users' has no variable CLIENTS, so there would be no users; it has USERS",
            ("load", "users"),
        ),
        (
            None,
            probe("/ready"),
            "the readinessProbe of Deployment/gate requests /ready at port 80, which 'gate' does not serve: its "
            "`paths` are /, /live",
            ("components", "gate", "ports"),
        ),
        (
            None,
            probe("/live", 8080),
            "the readinessProbe of Deployment/gate requests /live at port 8080, which 'gate' does not serve: it "
            "listens on 80",
            ("components", "gate", "ports"),
        ),
    ],
)  # fmt: skip
def test_dry_run_reports_mismatches_with_position(
    twin: Callable[[Document], object] | None,
    objects: Callable[[list[Document]], object] | None,
    message: str,
    place: tuple[str | int, ...],
) -> None:
    assert dry_run(twin or (lambda _: None), objects or (lambda _: None)) == [Miss(message, place)]


@pytest.mark.parametrize(
    "change",
    [
        edge(2, optional=True, address={"env": "NONE"}),
        lambda twin: twin["components"].update(extra={"image": "example.org/extra:*"}),
    ],
    ids=["an optional address", "a component that options leave out"],
)
def test_optional_parts_may_be_missing(change: Callable[[Document], object]) -> None:
    assert dry_run(change) == []


QUEUE = {"component": "box", "port": 7000, "topics": ["jobs"]}


@pytest.mark.parametrize(
    ("topic", "consumer", "message"),
    [
        ("jobs", {}, None),
        (
            "job",
            {},
            "components.box.operations.get.topic: no entry of `queues` for 'box' has a topic 'job'; there is jobs",
        ),
        ("jobs", {"topic": "job"}, "components.api.consumers[0].topic: 'box' has no topic 'job'; there is jobs"),
        ("jobs", {"queue": "boxes"}, "components.api.consumers[0].queue: `queues` has no 'boxes'; there is box"),
        ("jobs", {"operation": "Work"}, "'api/Work' is called but not defined"),
    ],
)  # fmt: skip
def test_topics_belong_to_existing_queues(topic: str, consumer: Document, message: str | None) -> None:
    twin = copy.deepcopy(tiny.TWIN)
    twin["queues"] = [QUEUE]
    twin["components"]["box"]["operations"]["get"]["topic"] = topic
    twin["components"]["api"]["operations"]["Job"] = {"ownMs": 1}
    known = {"queue": "box", "topic": "jobs", "group": "api", "operation": "Job"}
    twin["components"]["api"]["consumers"] = [{**known, **consumer}]
    made = tiny.app(**twin)
    roles = {"box": "Queue"}
    components = tuple(msgspec.structs.replace(c, role=roles.get(c.name, c.role)) for c in made.components)
    taken = CallEdge(caller="api", callee="box", mode="Async")
    reported = find_mistakes(msgspec.structs.replace(made, components=components, calls=(*made.calls, taken)))
    assert [m.text for m in reported] == ([message] if message else [])
    assert all(m.place[:4] == ("components", "api", "consumers", 0) for m in reported if consumer)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("a: &x {b: 1}\nc: {<<: *x}\n", "SK101", "merge keys are not allowed"),
        ("components: {\n", "SK101", "the file is not YAML"),
        ("- a\n", "SK138", "expected a mapping, observed list"),
        ("versions: {'2.0': {}}\n", "SK138", "versions: app.yaml has no version '2.0', only 1.0"),
    ],
)
def test_unreadable_twin_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: str, message: str
) -> None:
    folder = tmp_path / "catalog" / "apps" / "little"
    folder.mkdir(parents=True)
    (tmp_path / "templates").mkdir()
    component = "{name: web, workload: Deployment/web, role: Entry}"
    head = "name: little\ntitle: A page\nnamespace: little\nentry: web\n"
    (folder / "app.yaml").write_text(f"{head}versions: {{'1.0': {{components: [{component}]}}}}\n")
    (folder / "twin.yaml").write_text(text)
    monkeypatch.setenv("SCENARIO_KIT_CATALOG", str(tmp_path))
    first = check_files([folder / "app.yaml"], Catalog())[0]
    assert first.code == code
    assert message in first.message
    assert first.position is not None
    assert first.position.path.endswith("twin.yaml")
