"""SK138: variables and configuration keys that a twin reads and no container has."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.cli.authoring.twin_findings import check_app, check_files
from scenario_kit.lab.twin.definition_checks import find_mistakes
from tests.lab.twin import tiny

CATALOG = Catalog()
Document = dict[str, Any]
Change = Callable[[Document], object]


def find(change: Change, objects: list[Document] | None = None, others: tuple[Document, ...] = ()) -> list[str]:
    twin = copy.deepcopy(tiny.TWIN)
    change(twin)
    app = tiny.app(**twin)
    found = find_mistakes(app, (app, objects or tiny.objects()), frozenset(), lambda: [others] if others else [])
    return [mistake.text for mistake in found]


def load(**fields: Any) -> Change:
    return lambda twin: twin["load"].update(fields)


def edge(number: int, **fields: Any) -> Change:
    return lambda twin: twin["edges"][number].update(fields)


def component(name: str, **fields: Any) -> Change:
    return lambda twin: twin["components"][name].update(fields)


def crowd(variable: str) -> Change:
    task = {"perIteration": 1}
    classes = {"browsers": {"env": variable, "share": 0.1, "tasks": {"browse": task}}}

    def change(twin: Document) -> None:
        twin["load"]["userClasses"] = classes
        twin["components"]["users"]["operations"] = {"browse": {"steps": [{"call": "gate/read"}]}}

    return change


LEFT_OUT = "add it to the manifests, or leave the field out"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            load(stagesEnv="STAGES"),
            "load.stagesEnv: no container of 'users' sets STAGES, whatever the options, so the number of users would "
            f"never change; {LEFT_OUT}",
        ),
        (
            edge(2, timeoutEnv="BOX_TIMEOUT"),
            "edges[2].timeoutEnv: no container of 'api' sets BOX_TIMEOUT, whatever the options, so `timeoutSeconds` "
            f"would always count; {LEFT_OUT}",
        ),
        (
            crowd("BROWSERS"),
            "load.userClasses.browsers.env: no container of 'users' sets BROWSERS, whatever the options, so these "
            f"users would never come; {LEFT_OUT}",
        ),
        (
            component("gate", start={"env": ["API_ADR"]}),
            "components.gate.start.env[0]: no container of 'gate' sets API_ADR, whatever the options, so every start "
            "would fail",
        ),
        (
            component("gate", start={"env": ["*_DSN"]}),
            "components.gate.start.env[0]: no container of 'gate' sets *_DSN, whatever the options, so nothing is "
            f"required; {LEFT_OUT}",
        ),
        (
            component("gate", config="/etc/gate.json", start={"keys": {"port": "no port"}}),
            "components.gate.start.keys.port: no container of 'gate' mounts /etc/gate.json, whatever the options",
        ),
        (
            edge(1, optional=True, address={"env": "API_ADDRS"}),
            "edges[1].address.env: no container of 'gate' sets API_ADDRS, whatever the options, so there would never "
            "be such a call",
        ),
        (
            component("gate", ports=[{"number": 80, "protocol": "http"}, {"env": "ADMIN_PORT", "protocol": "http"}]),
            "components.gate.ports[1].env: no container of 'gate' sets ADMIN_PORT, whatever the options, so it would "
            f"not listen there; {LEFT_OUT}",
        ),
        (
            load(users={"env": "USER", "default": 3}),
            "load.users.env: no container of 'users' sets USER, whatever the options, so its `default` would always "
            "count",
        ),
        (
            component("sink", logins=[{"userEnv": "ME", "passwordEnv": "SECRET"}]),
            "components.sink.logins[0].userEnv: no container of 'sink' sets ME, whatever the options, so nobody would "
            f"have this login; {LEFT_OUT}",
        ),
    ],
)
def test_what_no_container_has_is_reported(change: Change, message: str) -> None:
    assert find(change)[:1] == [message]


@pytest.mark.parametrize(
    "change",
    [
        lambda twin: None,
        edge(1, optional=True),
        component("gate", start={"env": ["API_ADDR", "*_ADDR"]}),
        component("gate", ports=[{"env": "PORT", "number": 80, "protocol": "http", "paths": ["/", "/live"]}]),
        load(users={"env": "HEADCOUNT", "default": 3}),
        # The manifests may set some of several logins only.
        component("box", logins=[{"userEnv": "BOX_USER", "passwordEnv": "BOX_PASSWORD"}, {"passwordEnv": "ROOT"}]),
    ],
)
def test_what_a_container_has_or_a_program_does_without_is_not(change: Change) -> None:
    assert find(change) == []


def test_other_options_may_set_the_variable() -> None:
    others = tiny.objects()
    users = next(o for o in others if o["kind"] == "Deployment" and o["metadata"]["name"] == "users")
    users["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": "STAGES", "value": "100:60"})
    assert find(load(stagesEnv="STAGES"), others=tuple(others)) == []
    assert len(find(load(stagesEnv="STAGE"), others=tuple(others))) == 1


def test_components_that_no_options_deploy_have_no_findings() -> None:
    def add(twin: Document) -> None:
        twin["components"]["cache"] = {"image": "example.org/api:*", "container": "cache", "start": {"env": ["NO"]}}

    assert find(add) == []


def test_keys_of_a_mounted_file_are_looked_up() -> None:
    objects = tiny.objects()
    gate = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "gate")
    pod = gate["spec"]["template"]["spec"]
    pod["volumes"] = [{"name": "conf", "configMap": {"name": "gate"}}]
    pod["containers"][0]["volumeMounts"] = [{"name": "conf", "mountPath": "/etc/gate"}]
    objects.append({"kind": "ConfigMap", "metadata": {"name": "gate"}, "data": {"gate.json": '{"Port": "80"}'}})

    def read(key: str) -> list[str]:
        return find(component("gate", config="/etc/gate/gate.json", start={"keys": {key: "no port"}}), objects)

    assert read("Port") == []
    assert read("Prt") == [
        "components.gate.start.keys.Prt: /etc/gate/gate.json of 'gate' does not have Prt, whatever the options, so "
        "every start would fail"
    ]


@pytest.mark.parametrize(("name", "version"), [(n, v) for n in CATALOG.apps() for v in CATALOG.versions(n)])
def test_catalogue_apps_have_no_findings(name: str, version: str) -> None:
    assert check_app(name, version, CATALOG) == []


@pytest.mark.parametrize(
    ("twin", "unused"),
    [
        ("assumptions: {pause: {value: 1, low: 1, high: 2}}\nconstants: {reconnectSeconds: $pause}\n", []),
        ("assumptions: {pause: {value: 1, low: 1, high: 2}}\n", ["assumptions.pause"]),
        # One version alone uses it.
        (
            "assumptions: {pause: {value: 1, low: 1, high: 2}}\n"
            "versions: {'1.0': {constants: {reconnectSeconds: $pause}}}\n",
            [],
        ),
        ("versions: {'1.0': {assumptions: {wait: {value: 1, low: 1, high: 2}}}}\n", ["versions.1.0.assumptions.wait"]),
    ],
)
def test_assumptions_that_no_version_uses_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, twin: str, unused: list[str]
) -> None:
    folder = tmp_path / "catalog" / "apps" / "little"
    folder.mkdir(parents=True)
    (tmp_path / "templates").mkdir()
    component = "{name: web, workload: Deployment/web, role: Entry}"
    version = f"{{components: [{component}]}}"
    head = "name: little\ntitle: A page\nnamespace: little\nentry: web\n"
    (folder / "app.yaml").write_text(f"{head}versions: {{'1.0': {version}, '2.0': {version}}}\n")
    load = "load: {component: web, entry: 'web/{route}', users: {default: 1}, routes: {get: {perIteration: 1}}}\n"
    (folder / "twin.yaml").write_text(
        f"{twin}{load}components: {{web: {{image: '*/web:*', operations: {{get: {{}}}}}}}}\n"
    )
    monkeypatch.setenv("SCENARIO_KIT_CATALOG", str(tmp_path))
    found = [f.message for f in check_files([folder / "app.yaml"], Catalog()) if "nothing uses" in f.message]
    assert [message.split(": ")[1] for message in found] == unused
