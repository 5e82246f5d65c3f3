"""Every command block of every page is executed: here, by .ci/run, or in a lab; none may be left out silently."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import IN_A_LAB, INSTEAD, PAGES, QUICK, ROOT, STEPS, blocks, perform, session

#: Examples in other blocks that nothing executes so far: they need an app that runs, or write into the catalogue.
NOT_EXECUTED = ("scenario-kit new two-troubles", "kubectl -n otel-demo run look")
CI = (ROOT / ".ci" / "run").read_text()


def commands(page):
    return [shown.command for shown in session(page.read_text())]


EVERY = {command for page in PAGES for command in commands(page)}


def choose_executed(command):
    """Choose the command that is executed; a ci program that takes hours needs a substitute."""
    hours = command.startswith("ci/") and command not in QUICK
    return INSTEAD[command] if hours else INSTEAD.get(command, command)


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_commands_of_a_page_succeed(page, tmp_path):
    if page.name in IN_A_LAB:
        pytest.skip("its commands are executed in a lab: tests/e2e")
    executed = [choose_executed(c) for c in commands(page) if c not in STEPS]
    if executed:
        perform(executed, ROOT, SCENARIO_KIT_HOME=str(tmp_path))


def test_steps_of_ci_are_steps_of_ci():
    scripts = CI + (ROOT / "ci" / "check").read_text()
    for command in STEPS:
        assert re.search(rf"{re.escape(command)}\b", scripts), command


def test_exceptions_refer_to_documented_commands():
    assert set(INSTEAD) - EVERY == set()
    assert set(STEPS) - EVERY == set()
    assert {page.name for page in PAGES if commands(page)} >= set(IN_A_LAB)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_stand_in_console_blocks(page):
    """A command in any other block would not be executed; but for a session whose output is shown shortened."""
    for language in ("", "bash", "sh", "shell", "text"):
        for block in blocks(page.read_text(), language):
            if block.startswith(NOT_EXECUTED):
                continue
            first = block.split(None, 1)[0] if block.split() else ""
            assert not re.match(r"(scenario-kit|kubectl|pip|python3?|ci/\w+|export|git)$", first), block


def test_two_commands_stand_at_the_top():
    first = next(iter(blocks((ROOT / "README.md").read_text(), "console")))
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["$ ci/demo", "$ ci/test"]
