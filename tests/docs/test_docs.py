"""The documentation and the program agree: commands, options, codes, conditions, links."""

import ast
import re
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from operators.scenario import plan as scenario_plan
from operators.scenario import validation_plan
from scenario_kit.cli import build
from scenario_kit.lint import RULES
from scenario_kit.trial import CONDITIONS
from scenario_kit.trial.status import PROOF
from tools.pages.crd import build_crd

sys.path.insert(0, str(Path(__file__).parent))
from pages import PAGES, ROOT, session

TEXT = "\n".join(page.read_text() for page in PAGES)
STATUS = (ROOT / "docs" / "status.md").read_text()
#: Where reasons of conditions are written.
REASONS_IN = (
    "operators/scenario/plan.py",
    "operators/scenario/admission.py",
    "operators/scenario/validation_input.py",
    "operators/scenario/validations.py",
    "operators/scenario/validation_plan.py",
    "operators/scenario/trial_runner.py",
    "scenario_kit/trial/run.py",
    "scenario_kit/trial/status.py",
)


def commands(command=None, name=()):
    """Every command that does something, by the words that call it."""
    command = command or typer.main.get_command(build())
    if children := getattr(command, "commands", None):
        return {k: v for child, each in children.items() for k, v in commands(each, (*name, child)).items()}
    return {name: command}


COMMANDS = commands()


def strings(path):
    return [n.value for n in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(n, ast.Constant)]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_documented(words):
    assert re.search(rf"scenario-kit {' '.join(words)}\b", TEXT)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_has_help_and_an_example(words):
    command = COMMANDS[words]
    assert f"scenario-kit {' '.join(words)}" in (command.help or ""), "an example"
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{parameter.name} has no help"
    assert CliRunner().invoke(build(), [*words, "--help"]).exit_code == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_in_pages_exist(page):
    for shown in session(page.read_text()):
        for call in re.findall(r"scenario-kit ([^|)\"]+)", shown.command):
            given = call.split()
            words = next((w for w in COMMANDS if tuple(given[: len(w)]) == w), None)
            assert words, f"{shown.command}: there is no such command"
            known = {o for p in COMMANDS[words].params for o in p.opts}
            assert {g for g in given if g.startswith("--")} <= known | {"--help"}, shown.command
        if (first := shown.command.split()[0]).startswith("ci/"):
            assert (ROOT / first).exists(), first


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_of_pages_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not target.startswith(("http:", "https:", "mailto:", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), f"{page.name}: {target}"


def test_every_code_in_use_is_explained():
    files = [f for folder in ("scenario_kit", "operators") for f in (ROOT / folder).rglob("*.py")]
    used = {s for f in files for s in strings(f) if isinstance(s, str) and re.fullmatch(r"SK\d{3}", s)}
    page = (ROOT / "docs" / "rules.md").read_text()
    assert len(used) > 50
    assert used - set(RULES) == set()
    assert {code for code in RULES if f"## {code}: " not in page} == set()


@pytest.mark.parametrize("condition", sorted({*CONDITIONS, *scenario_plan.CONDITIONS, *validation_plan.CONDITIONS}))
def test_every_condition_is_documented(condition):
    assert f"`{condition}`" in STATUS


def test_every_reason_is_documented():
    # Reasons are CamelCase strings; whatever else looks like one in these files is in the page as well.
    found = {s for path in REASONS_IN for s in strings(path) if isinstance(s, str)}
    reasons = {s for s in found if re.fullmatch(r"([A-Z][a-z]+){1,4}", s)} - {"ConfigMap", "Error", "Json", "Secret"}
    reasons -= {"True", "False", "Unknown", "Firing", "Pending", "Running", "Skipped", "Fix"}
    reasons |= {f"{kind[0].upper()}{kind[1:]}Held" for kind in PROOF} | {"Pending"}
    assert {"UndoBlocked", "ProgramHeld", "NamespaceVisible", "UnknownApp"} <= reasons
    assert {r for r in reasons if not re.search(rf"\b{r}\b", STATUS)} == set()


@pytest.mark.parametrize("kind", ["Scenario", "Trial", "Validation"])
def test_every_column_is_documented(kind):
    for column in build_crd(kind)["spec"]["versions"][0]["additionalPrinterColumns"]:
        assert f"`{column['name']}`" in STATUS


def test_every_label_and_annotation_key_is_documented():
    files = [f for folder in ("scenario_kit", "operators") for f in (ROOT / folder).rglob("*.py")]
    keys = {
        s for f in files for s in strings(f) if isinstance(s, str) and re.fullmatch(r"scenariokit\.io/[a-z]{3,}", s)
    }
    assert {"scenariokit.io/clock", "scenariokit.io/undo"} <= keys
    assert {k for k in keys if f"`{k}`" not in STATUS} == set()
