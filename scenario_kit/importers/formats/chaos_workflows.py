"""Import Workflows of Chaos Mesh (https://chaos-mesh.org/docs/create-chaos-mesh-workflow/) as staged faults.

Serial children run one after another, each for its deadline; parallel ones start together. Faults last until they are
repaired, so only the start times of a Workflow are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final

from scenario_kit.importers.drafting import MAX_START_SECONDS, FaultIntent, ScenarioIntent
from scenario_kit.importers.formats.chaos_experiments import (
    find_kind_key,
    list_questions,
    map_experiment,
    map_schedule,
    read_seconds,
)
from scenario_kit.importers.formats.context import ImportContext, take_identity
from scenario_kit.importers.ledger import InputNode
from scenario_kit.model import App

#: Maximum number of template visits (a template counts once per reference), and maximum nesting depth.
_MAX_VISITS: Final = 200
_MAX_DEPTH: Final = 20
_UNSUPPORTED: Final = {
    "Task": "it runs a container and branches on its result; imports execute nothing",
    "StatusCheck": "checks belong in `expect.checks`",
}


@dataclass(slots=True)
class _Stages:
    """State of the walk through a Workflow."""

    context: ImportContext
    templates: dict[str, InputNode]
    faults: list[FaultIntent] = field(default_factory=list)
    app: App | None = None
    visits: int = 0
    decided: set[str] = field(default_factory=set)


def import_workflow(context: ImportContext, node: InputNode) -> None:
    """Import one Workflow as one draft."""
    take_identity(node)
    entry = node.find("spec", "entry")
    templates = {each.read_text("name"): each for each in node.list_nodes("spec", "templates")}
    if entry is None or str(entry.value) not in templates:
        node.report_refusal("its `entry` names no template", "name the first template in `spec.entry`", node)
        return
    entry.take("the first stage")
    walk = _Stages(context, templates)
    _visit(walk, str(entry.value), 0, ())
    branches = {b.read_text("target") for t in templates.values() for b in t.list_nodes("conditionalBranches")}
    for name, template in templates.items():
        if name in walk.decided:
            continue
        if name in branches:
            template.refuse("only a branch on the result of a Task reaches it", "import its experiment on its own")
        else:
            template.refuse("it is unreachable from `entry`")
    if walk.app is None or not walk.faults:
        node.ledger.mark_undrafted(node.number, node.place)
        return
    name = node.read_text("metadata", "name") or "workflow"
    intent = ScenarioIntent(name, walk.app, node, walk.faults, f"Imported from Workflow {name} of Chaos Mesh.")
    intent.questions += list_questions(walk.faults)
    if any(each.start_seconds for each in walk.faults):
        intent.questions.append(
            "stages that end before the next one in the source are permanent in this draft; is that intended?"
        )
    context.writer.write(intent)


def _visit(walk: _Stages, name: str, start: int, above: tuple[str, ...]) -> float:
    """Visit a template that starts after ``start`` seconds; return its duration in seconds.

    An experiment without a deadline never ends.
    """
    template = walk.templates.get(name)
    walk.visits += 1
    if template is None:
        return 0
    if name in above or len(above) >= _MAX_DEPTH or walk.visits > _MAX_VISITS:
        template.report_refusal(
            "the Workflow has a cycle here, or too many stages", "write the stages without repetition"
        )
        return 0
    first = name not in walk.decided
    walk.decided.add(name)
    kind, deadline = template.read_text("templateType"), template.find("deadline")
    length = read_seconds(deadline)
    if first:
        _take_stage_name(template)
    if kind in ("Serial", "Parallel"):
        return _visit_children(walk, template, kind, start, (*above, name))
    if kind in _UNSUPPORTED:
        if first:
            template.refuse(_UNSUPPORTED[kind])
        return length or 0
    if deadline is not None and first:
        _decide_deadline(deadline, kind, length)
    if kind == "Suspend":
        return length or 0
    _map_leaf(walk, template, kind, start)
    return math.inf if length is None else length


def _visit_children(walk: _Stages, template: InputNode, kind: str, start: int, above: tuple[str, ...]) -> float:
    """Visit the children of a template. Its deadline ends those that run, and later ones do not start."""
    deadline = template.find("deadline")
    seconds = read_seconds(deadline)
    most = math.inf if seconds is None else seconds
    lengths: list[float] = []
    for child in template.list_nodes("children"):
        passed = sum(lengths) if kind == "Serial" else 0
        if math.isinf(passed) or passed >= most:
            _refuse_child(walk, child, math.isinf(passed))
            continue
        begin = start + round(passed)
        _decide_child(walk, child, begin)
        lengths.append(_visit(walk, str(child.value), begin, above))
    if deadline is not None and not walk.context.ledger.is_covered(deadline.number, deadline.place):
        if seconds is None:
            deadline.refuse("it is not a duration")
        else:
            deadline.map(f"the next stage starts at most {seconds} s later")
    return min(most, sum(lengths) if kind == "Serial" else max(lengths, default=0))


def _refuse_child(walk: _Stages, child: InputNode, endless: bool) -> None:
    """Refuse a child that never starts."""
    if walk.context.ledger.is_covered(child.number, child.place):
        return
    why = "a stage before it has no `deadline` and never ends" if endless else "it would start after the deadline"
    child.refuse(f"{why}, so it never starts", "correct the deadline in the Workflow")


def _decide_child(walk: _Stages, child: InputNode, begin: int) -> None:
    if walk.context.ledger.is_covered(child.number, child.place):
        return
    if str(child.value) in walk.templates:
        child.map(f"starts after {begin} s")
    else:
        child.refuse("the template does not exist", "correct the name")


def _map_leaf(walk: _Stages, template: InputNode, kind: str, start: int) -> None:
    """Map a template that holds an experiment or a Schedule."""
    key = "schedule" if kind == "Schedule" else find_kind_key(template)
    spec = None if key is None else template.find(key)
    if spec is None or not isinstance(spec.value, dict):
        template.report_refusal(f"a template of type {kind or '?'} without an experiment", "import a complete object")
        return
    mapped = map_schedule(walk.context, spec) if kind == "Schedule" else map_experiment(walk.context, spec, kind)
    if mapped.app is None:
        return
    if walk.app is not None and mapped.app.name != walk.app.name:
        template.report_refusal(
            f"it targets {mapped.app.name}, but the Workflow targets {walk.app.name}", "split the Workflow"
        )
        return
    walk.app = mapped.app
    if start > MAX_START_SECONDS:
        template.report_refusal(
            f"it starts after {start} s; a fault starts after at most {MAX_START_SECONDS} s", "start it earlier"
        )
    walk.faults += [replace(each, start_seconds=start) for each in mapped.faults]


def _take_stage_name(template: InputNode) -> None:
    for name in ("name", "templateType"):
        if (part := template.find(name)) is not None:
            part.take("a stage")


def _decide_deadline(deadline: InputNode, kind: str, length: int | None) -> None:
    if length is None:
        deadline.refuse("it is not a duration")
    elif kind == "Suspend":
        deadline.map(f"{length} s before the next stage")
    else:
        deadline.guess(f"the next stage starts {length} s later", "the fault itself lasts until it is repaired")
