"""SK001 to SK006, SK218, SK219: what is contributed, and with what around it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, Rule, add, register_rule
from scenario_kit.lint.simulation.stages import list_containers
from scenario_kit.load.yaml.edit import Put
from scenario_kit.model import Position, Severity
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.render.objects.lookup import format_reference

#: Files that a machine could run; others (README.md, a diagram) are for people.
_CODE: Final = frozenset(
    {
        ".sh",
        ".bash",
        ".py",
        ".js",
        ".ts",
        ".rb",
        ".pl",
        ".go",
        ".rs",
        ".c",
        ".java",
        ".jar",
        ".exe",
        ".so",
        ".wasm",
        ".lua",
    }
)
_OWN: Final = frozenset({"scenario.yaml", "fault.yaml"})
#: Files of one folder that are looked at; a scenario has a handful.
_MOST: Final = 500

for _code, _title, _why, _bad, _good, _fix in (
    (
        "SK001",
        "More than one scenario in a pull request",
        "each scenario is reviewed, run and reverted on its own",
        "a pull request with two new folders under catalog/scenarios",
        "one pull request for each",
        "open one pull request per scenario",
    ),
    (
        "SK002",
        "A file outside the scenario's folder, a folder without a scenario, or a link",
        "a scenario that needs a change elsewhere is two contributions, and the other one is reviewed as code",
        "a pull request that also edits templates/",
        "files below catalog/scenarios/<name>/ only",
        "move everything else to a pull request of its own",
    ),
    (
        "SK004",
        "A commit is not signed off",
        "without `Signed-off-by`, nobody has stated that the text may be published under its licence",
        "a commit message without the trailer",
        "Signed-off-by: Name <address>",
        "run `git rebase --signoff` on the base, then push again",
    ),
    (
        "SK006",
        "Evidence was changed by hand",
        "evidence is measured, not written by the author of the scenario",
        "a pull request with an evidence.json",
        "evidence that `ci/evidence` recorded after the merge",
        "restore the file as it is on the base branch",
    ),
):
    add(Rule(_code, _title, Severity.ERROR, _why, _bad, _good, _fix, by="validate-pr"))

add(
    Rule(
        "SK005",
        "A generated file is stale, or was edited by hand",
        Severity.ERROR,
        "the next run of the generator would silently revert the edit",
        "",
        "",
        "",
        unjudged=("`ci/gen --check` regenerates every such file and compares; that needs a checkout of the project"),
    )
)


@register_rule(
    "SK218",
    why=(
        "a benchmark that models were trained on measures memory; the canary "
        "lets whoever collects training data leave it out"
    ),
    bad="metadata: {name: cart-oom}",
    good=f"metadata: {{name: cart-oom, annotations: {{{CANARY_KEY}: {CANARY}}}}}",
    fix=f"add the annotation {CANARY_KEY}",
    repair="writes the annotation",
    severity=Severity.WARNING,
)
def check_canary(case: LintContext) -> Iterator[Problem]:
    """A merged scenario has no canary."""
    around = ("metadata", "annotations")
    found = case.positions.texts.get((*around, CANARY_KEY), "")
    if case.merged and found != CANARY:
        there = any(place[:2] == around for place in case.positions.texts)
        edit = Put((*around, CANARY_KEY), CANARY) if there else Put(around, {CANARY_KEY: CANARY})
        message = "the scenario's canary is another one" if found else "the scenario has no canary"
        yield Problem(around, message, found or "none", f"{CANARY_KEY}: {CANARY}", edits=(edit,))


@register_rule(
    "SK219",
    why="a script runs in no sandbox and no receipt undoes it; a fault from the catalogue has both",
    bad="catalog/scenarios/cart-oom/flood.py",
    good="faults: [{type: memory-stress, target: Deployment/cart}]",
    fix="express it as a fault or as changes; if a change cannot express it, open a feature request",
    about=("Scenario", "Fault"),
)
def check_scripts(case: LintContext | FaultCase) -> Iterator[Problem]:
    """Code lies beside the scenario."""
    if isinstance(case, FaultCase) or case.merged:
        beside = list(_list_files_beside(case.path.parent))
        if len(beside) > _MOST:
            message = f"more than {_MOST} files lie beside it, too many to look at each"
            fix = "remove what neither the scenario nor its readers need"
            yield Problem(("metadata",), message, f"{len(beside)} files", f"at most {_MOST} files", fix)
        for path in beside[:_MOST]:
            if _is_code(path):
                message = f"'{path.name}' is a program"
                yield Problem(
                    ("metadata",), message, path.name, "YAML and texts alone", position=Position(path=str(path))
                )
    if isinstance(case, LintContext):
        for procedure in case.procedures():
            for j, change in enumerate(procedure.changes):
                body = change.create or change.apply
                own = [c for _, c in list_containers(body) if c.get("command") or c.get("args")] if body else []
                if body and own:
                    message = (
                        f"{procedure.kind} '{procedure.name}' brings a program of its own, in {format_reference(body)}"
                    )
                    place = (*procedure.place, "changes", j, change.operation)
                    fix = "use `run` with a client of the app, or another change"
                    yield Problem(place, message, str(own[0].get("command") or own[0].get("args"))[:80], fix=fix)


def _list_files_beside(folder: Path) -> Iterator[Path]:
    """List files below a folder, without those that a fault type of its own has around it: that is judged by itself."""
    others = {path.parent for path in folder.glob("faults/*/fault.yaml")}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _OWN and others.isdisjoint(path.parents):
            yield path


def _is_code(path: Path) -> bool:
    if path.suffix.lower() in _CODE or path.stat().st_mode & 0o111:
        return True
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
