"""SK218, SK219: the canary, and programs beside or in a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.stages import list_containers
from scenario_kit.load.yaml.edit import Put
from scenario_kit.model import Position
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.render.objects.lookup import format_reference

#: Executable files; others (README.md, a diagram) are documentation.
_CODE: Final = frozenset(
    ".sh .bash .py .js .ts .rb .pl .go .rs .c .java .jar .exe .so .wasm .lua".split()  # noqa: SIM905
)
_OWN: Final = frozenset({"scenario.yaml", "fault.yaml"})
_PICTURES: Final = (".gif", ".jpeg", ".jpg", ".png", ".webp")
#: Maximum size of a text that a person reviews.
_MAX_BYTES: Final = 1 << 20
#: Maximum number of files in a scenario's folder.
_MAX_FILES: Final = 500


@register_check("SK218")
def check_canary(case: LintContext) -> Iterator[Problem]:
    around = ("metadata", "annotations")
    found = case.positions.texts.get((*around, CANARY_KEY), "")
    if case.merged and found != CANARY:
        exists = any(place[:2] == around for place in case.positions.texts)
        edit = Put((*around, CANARY_KEY), CANARY) if exists else Put(around, {CANARY_KEY: CANARY})
        message = "the scenario has a wrong canary" if found else "the scenario has no canary"
        yield Problem(around, message, found or "none", f"{CANARY_KEY}: {CANARY}", edits=(edit,))


@register_check("SK219", "Scenario", "Fault")
def check_scripts(case: LintContext | FaultCase) -> Iterator[Problem]:
    if isinstance(case, FaultCase) or case.merged:
        beside = list(_list_files_beside(case.path.parent))
        if len(beside) > _MAX_FILES:
            message = f"there are more than {_MAX_FILES} files beside it, too many to check"
            fix = "remove files that neither the scenario nor its readers need"
            yield Problem(("metadata",), message, f"{len(beside)} files", f"at most {_MAX_FILES} files", fix)
        for path in beside[:_MAX_FILES]:
            if message := _describe_unreviewable(path):
                fix = "" if message.endswith("a program") else "remove it, or write what it says as a short text"
                position, expected = Position(path=str(path)), "only YAML and text files"
                yield Problem(("metadata",), message, path.name, expected, fix, position=position)
    if isinstance(case, LintContext):
        for procedure in case.procedures():
            for of_change, change in procedure.list_changes():
                body = change.operation.resource
                own = [c for _, c in list_containers(body) if c.get("command") or c.get("args")] if body else []
                if body and own:
                    message = f"{procedure.kind} '{procedure.name}' contains a program, in {format_reference(body)}"
                    place = (*of_change, change.operation.keyword)
                    fix = "use `run` with a client of the app, or another change"
                    yield Problem(place, message, str(own[0].get("command") or own[0].get("args"))[:80], fix=fix)


def _list_files_beside(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder, without those of the scenario's own fault types, which are checked separately."""
    others = {path.parent for path in folder.glob("faults/*/fault.yaml")}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _OWN and others.isdisjoint(path.parents):
            yield path


def _describe_unreviewable(path: Path) -> str:
    """Describe why a person cannot review a file: it is a program, too large, or no text; empty if one can."""
    if _is_code(path):
        return f"'{path.name}' is a program"
    try:
        if path.stat().st_size > _MAX_BYTES:
            return f"'{path.name}' has more than {_MAX_BYTES >> 10} KiB"
        if path.suffix.lower() in _PICTURES:
            return ""
        return "" if b"\0" not in path.read_bytes() else f"'{path.name}' is no text"
    except OSError:
        return ""


def _is_code(path: Path) -> bool:
    if path.suffix.lower() in _CODE or path.stat().st_mode & 0o111:
        return True
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
