"""The first line of a scenario makes an editor complete, explain and correct it, inside this checkout and elsewhere."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenario_kit.catalog import find_data_root
from scenario_kit.cli import run
from scenario_kit.load import get_schema
from scenario_kit.model.twin.component import ComponentModel
from tools.editor.server import Server
from tools.pages.twin_reference import list_fields

EDITOR = Path(__file__).parents[2] / "tools" / "editor"
PROGRAM = EDITOR / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
SHIPPED = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js on PATH, which the language server runs on")
    if not PROGRAM.is_file():
        pytest.skip("the language server is not installed: run ci/editor")
    with Server(PROGRAM) as running:
        yield running


@pytest.fixture(params=["inside", "outside"])
def scenario(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A scenario with its header, and its text."""
    if request.param == "inside":
        beside = SHIPPED.parent.with_name(
            f"not-there-{next(NUMBERS)}"
        )  # the server asks for no file, and keeps its URI
        return beside / "scenario.yaml", SHIPPED.read_text()
    monkeypatch.chdir(tmp_path)
    where = ["--app", "otel-demo", "--target", "Service/product-catalog", "--fault", "service-target-port-wrong"]
    assert run(["new", "mine", *where, "--author", "a", "--output", str(tmp_path / "incidents")]) == 0
    path = tmp_path / "incidents" / "mine" / "scenario.yaml"
    return path, path.read_text()


def place(text: str, words: str) -> tuple[int, int]:
    """Line and column, from 0, of the first letter of ``words``."""
    before = text[: text.index(words)]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def test_shipped_scenario_has_no_diagnostics(server: Server, scenario: tuple[Path, str]) -> None:
    assert server.opened(*scenario) == []


def test_scenario_typo_has_its_position(server: Server, scenario: tuple[Path, str]) -> None:
    path, text = scenario
    wrong = text.replace("groundTruth:", "groundTruht:", 1)
    found = server.opened(path, wrong)

    (typo,) = [each for each in found if "groundTruht" in each["message"]]
    at = typo["range"]["start"]
    assert (at["line"], at["character"]) == place(wrong, "groundTruht")


def test_field_is_explained(server: Server, scenario: tuple[Path, str]) -> None:
    path, text = scenario
    server.opened(path, text)
    line, column = place(text, "groundTruth:")

    described = get_schema("Scenario")["properties"]["spec"]["properties"]["groundTruth"]["description"]
    assert plain(described) in plain(server.hover(path, line, column + 2))


def test_completion_offers_every_fault_field(server: Server, scenario: tuple[Path, str]) -> None:
    path, text = scenario
    head = text[: text.index("  faults:")]
    opened = f"{head}  faults:\n  - name: one\n    \n"
    server.opened(path, opened)
    offered = server.completions(path, opened.count("\n") - 1, 4)

    fields = get_schema("Scenario")["properties"]["spec"]["properties"]["faults"]["items"]["properties"]
    assert set(offered) >= fields.keys() - {"name"}
    for name in fields.keys() - {"name"}:
        assert plain(fields[name]["description"]) in plain(offered[name]), name


def test_values_of_a_field_are_offered(server: Server, scenario: tuple[Path, str]) -> None:
    path, text = scenario
    head = text[: text.index("  faults:")]
    opened = f"{head}  faults:\n  - name: one\n    role: \n"
    server.opened(path, opened)

    offered = server.completions(path, opened.count("\n") - 1, 10)
    assert {"Cause", "Trigger", "Sustaining", "Distractor"} <= set(offered)


def plain(text: str) -> str:
    """Without what Markdown adds."""
    return " ".join(text.replace("\\", "").replace("`", "").replace("*", "").replace("&nbsp;", " ").split())


TWIN = find_data_root() / "catalog" / "apps" / "hotel-reservation" / "twin.yaml"


@pytest.fixture
def twin() -> tuple[Path, str]:
    """A twin's definition with its header, and its text."""
    return TWIN.parent.with_name(f"not-there-{next(NUMBERS)}") / TWIN.name, TWIN.read_text()


def test_shipped_twin_has_no_diagnostics(server: Server, twin: tuple[Path, str]) -> None:
    assert server.opened(*twin) == []


def test_twin_typo_has_its_position(server: Server, twin: tuple[Path, str]) -> None:
    path, text = twin
    wrong = text.replace("readySeconds:", "readySecond:", 1)
    found = server.opened(path, wrong)
    (typo,) = [each for each in found if "readySecond" in each["message"]]
    at = typo["range"]["start"]
    assert (at["line"], at["character"]) == place(wrong, "readySecond:")


def test_hover_of_a_twin_field_has_its_unit(server: Server, twin: tuple[Path, str]) -> None:
    path, text = twin
    server.opened(path, text)
    line, column = place(text, "readySeconds:")
    message = plain(server.hover(path, line, column + 2))
    assert "From its start until it serves" in message
    assert "Unit: s." in message


def test_completion_offers_every_component_field(server: Server, twin: tuple[Path, str]) -> None:
    path, text = twin
    head = text[: text.index("\ncomponents:")]
    opened = f"{head}\ncomponents:\n  one:\n    image: x\n    \n"
    server.opened(path, opened)
    offered = server.completions(path, opened.count("\n") - 1, 4)
    fields = {f.name: f.description for f in list_fields(ComponentModel)}
    assert set(offered) >= fields.keys() - {"image"}
    for name in fields.keys() - {"image"}:
        assert plain(fields[name]) in plain(offered[name]), name
