"""SK138: errors in a twin's parameters are reported with their place before anything starts."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.cli import run
from scenario_kit.cli.authoring.twin_findings import check_app, check_files
from scenario_kit.lab.twin.definition_checks import DefinitionMistake, find_mistakes
from scenario_kit.load.twin import locate_field
from scenario_kit.load.yaml.document import parse
from scenario_kit.model.twin import DefinitionError, decode
from tests.lab.twin import tiny
from tests.lab.twin.tiny import TWIN
from tools.pages.twin_reference import render_twin_page

CATALOG = Catalog()
HOTEL = CATALOG.app("hotel-reservation", "6ecb097")


@pytest.mark.parametrize("name", CATALOG.apps())
def test_twins_of_the_catalogue_fit(name: str) -> None:
    apps = [CATALOG.app(name, version) for version in CATALOG.versions(name)]
    known = frozenset(component.name for app in apps for component in app.components)
    for app in apps:
        assert find_mistakes(app, known=known) == ()


def wrong(change: Callable[[dict[str, Any]], object]) -> list[DefinitionMistake]:
    twin = copy.deepcopy(TWIN)
    change(twin)
    try:
        definition = decode(twin)
    except DefinitionError as error:
        return [DefinitionMistake(str(error), error.place)]
    return list(find_mistakes(msgspec.structs.replace(HOTEL, twin=definition, images=())))


READ = ("components", "gate", "operations", "read")


def register(name: str, **changed: str) -> Callable[[dict[str, Any]], object]:
    """Let gate find the box in a registry, the api, where the box is registered."""

    def change(twin: dict[str, Any]) -> None:
        twin["registries"] = [{"component": changed.get("component", "api")}]
        edge = next(e for e in twin["edges"] if (e["caller"], e["callee"]) == ("gate", "api"))
        twin["edges"].append(edge | {"caller": "api", "callee": "api"})
        twin["components"]["api"]["registrations"] = [{"registry": changed.get("registry", "api"), "name": "srv"}]
        edge.update(registry=changed.get("of", "api"), name=name)

    return change


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (register("srv"), []),
        (register("srw"), ["edges[1].name: 'api' has no registration of this name in 'api'; there is srv"]),
        (register("srv", of="box"), ["edges[1].registry: no entry of `registries` has the component 'box'"]),
        (
            register("srv", registry="box"),
            [
                "components.api.registrations[0].registry: no entry of `registries` has the component 'box'",
                "edges[1].name: 'api' has no registration of this name in 'api'",
            ],
        ),
        (lambda t: t.update(registries=[{"component": "x"}]), ["registries[0].component: there is no component 'x'"]),
        (
            lambda t: t["load"].update(thinkSeconds=[5, 1]),
            ["load.thinkSeconds: the shortest pause, 5, is above the longest, 1"],
        ),
        (
            lambda t: t["components"].pop(t["load"]["component"]),
            ["edges[0].caller: there is no component 'users'", "load.component: there is no component 'users'"],
        ),
    ],
)
def test_names_of_registries_and_pauses_are_checked(
    change: Callable[[dict[str, Any]], object], messages: list[str]
) -> None:
    assert [mistake.text for mistake in wrong(change)] == messages


@pytest.mark.parametrize(
    ("change", "message", "place"),
    [
        (
            lambda t: t["components"]["api"].update(idleMilicores=3),
            "Object contains unknown field `idleMilicores` - at `components.api`",
            ("components", "api", "idleMilicores"),
        ),
        (
            lambda t: t["components"]["api"].update(cpuMs="fast"),
            "Expected `float`, got `str` - at `components.api.cpuMs`",
            ("components", "api", "cpuMs"),
        ),
        (
            lambda t: t["components"]["gate"]["operations"]["read"]["steps"][0].update(call=3),
            "Expected `str`, got `int` - at `components.gate.operations.read.steps[0].call`",
            (*READ, "steps", 0, "call"),
        ),
        (
            lambda t: t["components"]["gate"].pop("image"),
            "Object missing required field `image` - at `components.gate`",
            ("components", "gate"),
        ),
        (lambda t: t.pop("load"), "Object missing required field `load`", ()),
        (lambda t: t.update(loads=3), "Object contains unknown field `loads`", ("loads",)),
        (
            lambda t: t["edges"][1].update(protocol="grpcs"),
            "Invalid enum value 'grpcs' - at `edges[1].protocol`",
            ("edges", 1, "protocol"),
        ),
        (
            lambda t: t["load"].update(users=3),
            "Expected `object`, got `int` - at `load.users`",
            ("load", "users"),
        ),
        (
            lambda t: t["load"]["routes"].update(write={"perIteration": 1}),
            "'gate/write' is called but not defined",
            ("load", "routes", "write"),
        ),
        (
            lambda t: t["components"]["gate"]["operations"]["read"]["steps"][0].update(call="users/none"),
            "'gate' calls 'users', but there is no edge between them",
            (*READ, "steps", 0, "call"),
        ),
        (
            lambda t: t["components"]["api"].update(cpuMs="$speed"),
            "there is no assumption '$speed'; declared are boxSeconds",
            ("components", "api", "cpuMs"),
        ),
        (
            lambda t: t.update(assumptions={"speed": 3}),
            "assumptions.speed: it has no numeric `value`",
            ("assumptions", "speed"),
        ),
        (
            lambda t: t["assumptions"]["boxSeconds"].update(value=6),
            "assumptions.boxSeconds.value: 6 is not between `low` 1 and `high` 5",
            ("assumptions", "boxSeconds", "value"),
        ),
        (
            lambda t: t["assumptions"]["boxSeconds"].update(low=-1),
            "assumptions.boxSeconds.low: -1 is invalid where the assumption is used: Expected `float` >= 0.0 - at "
            "`edges[2].timeoutSeconds`",
            ("assumptions", "boxSeconds", "low"),
        ),
        (
            lambda t: t["collector"].update(component="drain"),
            "collector.component: there is no component 'drain'",
            ("collector", "component"),
        ),
        (
            lambda t: t["components"]["api"]["start"]["dependencies"].append({"callee": "gate"}),
            "components.api.start.dependencies[1].callee: there is no edge from 'api' to 'gate'",
            ("components", "api", "start", "dependencies", 1, "callee"),
        ),
        (
            lambda t: t["components"]["gate"]["operations"]["read"]["steps"][0].update(times="lines"),
            "components.gate.operations.read.steps[0].times: no route draws 'lines'; drawn are none",
            (*READ, "steps", 0, "times"),
        ),
        (
            lambda t: t["components"]["gate"]["operations"]["read"]["steps"][0].update(parallel=True),
            "components.gate.operations.read.steps[0].parallel: a single call cannot be parallel with itself; calls "
            "of different operations that start together are `steps` of one with `fork`",
            (*READ, "steps", 0, "parallel"),
        ),
        (
            lambda t: t["components"]["gate"]["operations"]["read"]["steps"][0].update(fork=True),
            "components.gate.operations.read.steps[0].fork: it needs at least two `steps` that start together",
            (*READ, "steps", 0, "fork"),
        ),
        (
            lambda t: t["edges"][2].update(connectAttempts=3),
            "edges[2].connectAttempts: several attempts are simulated only one call at a time: add "
            "`serializeConnects: true`, or count them as `retries` of the call",
            ("edges", 2, "connectAttempts"),
        ),
    ],
)
def test_definition_mistake_has_its_path(
    change: Callable[[dict[str, Any]], object], message: str, place: tuple[str | int, ...]
) -> None:
    assert [(mistake.text, mistake.place) for mistake in wrong(change)] == [(message, place)]


def test_valid_definition_has_no_mistakes() -> None:
    assert wrong(lambda twin: None) == []


def test_unknown_image_is_reported() -> None:
    found = find_mistakes(
        msgspec.structs.replace(HOTEL, twin=tiny.DEFINITION, images=("example.org/users:1", "example.org/api:1"))
    )
    assert found == tuple(
        DefinitionMistake(
            f"components.{name}.image: 'example.org/{name}:*' is not in the app's `images`",
            ("components", name, "image"),
        )
        for name in ("gate", "box", "sink")
    )


@pytest.mark.parametrize(("config", "found"), [("box.addr", False), ("bx.addr", True), ("", False)])
def test_edge_with_another_source_than_its_call_is_reported(config: str, found: bool) -> None:
    twin = copy.deepcopy(TWIN)
    twin["edges"][2]["address"] = {"key": "box.addr"}
    small = tiny.app(**twin)
    calls = (*small.calls[:2], msgspec.structs.replace(small.calls[2], config=config))
    mistakes = find_mistakes(msgspec.structs.replace(small, calls=calls))
    message = "edges[2]: `calls` of app.yaml has `config: bx.addr`, but the edge reads box.addr"
    assert [mistake.text for mistake in mistakes] == ([message] if found else [])


def test_edge_without_declared_call_is_reported() -> None:
    (found,) = find_mistakes(msgspec.structs.replace(tiny.app(), calls=tiny.app().calls[:2]))
    message = "`calls` of app.yaml has no {caller: api, callee: box}, which faults, drafts and predictions rely on"
    assert found == DefinitionMistake(f"edges[2]: {message}", ("edges", 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda twin: twin.pop("collector"), "the twin has no `collector`"),
        (lambda twin: twin["components"]["gate"].pop("telemetry"), "it has no `telemetry`"),
        (
            lambda twin: twin["components"]["gate"]["operations"]["read"].pop("span"),
            "none of its operations has a `span` of kind SERVER or CONSUMER",
        ),
    ],
)
def test_entry_without_request_metrics_is_reported(change: Callable[[dict[str, Any]], object], message: str) -> None:
    twin = copy.deepcopy(TWIN)
    change(twin)
    (found,) = find_mistakes(msgspec.structs.replace(tiny.app(), twin=decode(twin)))
    reported = f"components.gate: {message}: requests of the app's entry are not counted, but trials are judged by them"
    assert found == DefinitionMistake(reported, ("components", "gate"))


def test_app_without_twin_has_no_mistakes() -> None:
    assert find_mistakes(msgspec.structs.replace(HOTEL, twin=None)) == ()


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of an app with a mistake in its twin."""
    apps, templates = tmp_path / "catalog" / "apps", tmp_path / "templates" / "apps"
    (apps / HOTEL.name).mkdir(parents=True)
    templates.mkdir(parents=True)
    root = CATALOG.roots[-1]
    (templates / HOTEL.name).symlink_to(root / "templates" / "apps" / HOTEL.name)
    for name in ("app.yaml", "twin.yaml"):
        text = (root / "catalog" / "apps" / HOTEL.name / name).read_text()
        (apps / HOTEL.name / name).write_text(text)
    twin = apps / HOTEL.name / "twin.yaml"
    document = yaml.safe_load(twin.read_text())
    document["edges"][0]["protocol"] = "grpcs"
    twin.write_text(yaml.safe_dump(document))
    monkeypatch.setenv("SCENARIO_KIT_CATALOG", str(tmp_path))
    return tmp_path


def test_lint_and_try_report_mistakes_before_start(collection: Path, tmp_path: Path) -> None:
    file = collection / "catalog" / "apps" / HOTEL.name / "app.yaml"
    (found,) = check_files([file], Catalog())
    assert found.code == "SK138"
    assert "hotel-reservation 6ecb097: `edges[0].protocol` must be 'grpc' or 'http' or 'kafka' or" in found.message
    assert (found.observed, found.fix) == ("the text 'grpcs'", "did you mean `grpc`?")
    twin = file.with_name("twin.yaml")
    line = next(i for i, text in enumerate(twin.read_text().splitlines(), 1) if "protocol: grpcs" in text)
    assert str(found.position) == f"{twin}:{line}:13"
    assert run(["lint", str(file.parent)]) == 1
    assert check_app(HOTEL.name, HOTEL.version, Catalog()) == [found]
    scenario = CATALOG.roots[-1] / "catalog" / "scenarios" / "hotel-pages-late" / "scenario.yaml"
    assert run(["try", str(scenario), "--runs", str(tmp_path / "runs"), "--name", "never-started"]) == 1


SHARED = """\
load: {users: 1}
edges: [{caller: a}]
versions:
  "2": {load: {users: 2}}
"""


@pytest.mark.parametrize(
    ("version", "place", "position"),
    [
        ("1", ("load", "users"), "twin.yaml:1:8"),
        ("2", ("load", "users"), "twin.yaml:4:16"),
        ("2", ("load", "entry"), "twin.yaml:1:7"),
        ("2", ("edges", 0, "caller"), "twin.yaml:2:10"),
        ("1", (), "twin.yaml:1:1"),
    ],
)
def test_field_position_is_in_its_version_section(version: str, place: tuple[str | int, ...], position: str) -> None:
    assert str(locate_field(parse(SHARED, "twin.yaml"), version, place)) == position


def test_every_twin_field_is_documented() -> None:
    page = render_twin_page()
    for field in (
        "perIteration",
        "thinkSeconds",
        "readySeconds",
        "cacheFailures",
        "retransmitSeconds",
        "resolveSeconds",
    ):
        assert f"`{field}`" in page
    assert "``" not in page


def test_images_of_manifests_are_those_of_the_app() -> None:
    container = {"name": "main", "image": "example.org/api:2"}
    workload = {
        "kind": "Deployment",
        "metadata": {"name": "api"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    app = msgspec.structs.replace(HOTEL, twin=decode(copy.deepcopy(TWIN)), images=("example.org/api:1",))
    assert app.twin is not None
    listed = [*app.images, *(model.image.replace("*", "x") for model in app.twin.components.values())]

    (mistake,) = find_mistakes(msgspec.structs.replace(app, images=tuple(listed)), (app, [workload]))

    assert mistake.text.startswith("the image 'example.org/api:2' of Deployment/api is not in `images` of app.yaml")
