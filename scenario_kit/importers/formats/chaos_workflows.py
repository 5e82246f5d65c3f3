"""Workflows of Chaos Mesh (https://chaos-mesh.org/docs/create-chaos-mesh-workflow/), with the starts of their stages.

Serial children follow each other, each for its deadline; parallel ones start together. A fault here lasts until it is
repaired, so only the starts of a Workflow are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from scenario_kit.importers.drafting import LATEST_START, FaultIntent, ScenarioIntent
from scenario_kit.importers.formats.chaos_experiments import (
    find_kind_key,
    list_questions,
    map_experiment,
    map_schedule,
    read_seconds,
)
from scenario_kit.importers.formats.context import ImportContext, take_head
from scenario_kit.importers.ledger import InputNode
from scenario_kit.model import App

#: Templates that are visited, one as often as it is a child, and how deep they may nest.
_MOST_VISITS: Final = 200
_DEEPEST: Final = 20
_UNREAD: Final = {
    "Task": "it runs a container and chooses by its result; nothing is executed here",
    "StatusCheck": "checks belong into `expect.checks`",
}


@dataclass(slots=True)
class _Stages:
    """What was found on the way through a Workflow."""

    context: ImportContext
    templates: dict[str, InputNode]
    faults: list[FaultIntent] = field(default_factory=list)
    app: App | None = None
    visits: int = 0
    decided: set[str] = field(default_factory=set)


def import_workflow(context: ImportContext, node: InputNode) -> None:
    """Import one Workflow as one draft."""
    take_head(node)
    entry = node.find("spec", "entry")
    templates = {each.read_text("name"): each for each in node.list_nodes("spec", "templates")}
    if entry is None or str(entry.value) not in templates:
        node.blame("its `entry` names no template", "name the first template in `spec.entry`")
        return
    entry.take("the first stage")
    walk = _Stages(context, templates)
    _visit(walk, str(entry.value), 0, ())
    for name, template in templates.items():
        if name not in walk.decided:
            template.refuse("nothing leads to it from `entry`")
    if walk.app is None or not walk.faults:
        return
    name = node.read_text("metadata", "name") or "workflow"
    intent = ScenarioIntent(name, walk.app, node, walk.faults, f"Imported from Workflow {name} of Chaos Mesh.")
    intent.questions += list_questions(walk.faults)
    if any(each.start_seconds for each in walk.faults):
        intent.questions.append("stages that ended before others began last here; do they still mean the same?")
    context.writer.write(intent)


def _visit(walk: _Stages, name: str, start: int, above: tuple[str, ...]) -> int:
    """Visit a template that starts after so many seconds; return how many it takes."""
    template = walk.templates.get(name)
    walk.visits += 1
    if template is None:
        return 0
    if name in above or len(above) >= _DEEPEST or walk.visits > _MOST_VISITS:
        template.blame("the Workflow goes round in circles here, or is too long", "lay it out without repetition")
        return 0
    first = name not in walk.decided
    walk.decided.add(name)
    kind, deadline = template.read_text("templateType"), template.find("deadline")
    length = read_seconds(deadline)
    if first:
        _take_head(template)
    if kind in ("Serial", "Parallel"):
        return _visit_children(walk, template, kind, start, (*above, name))
    if kind in _UNREAD:
        if first:
            template.refuse(_UNREAD[kind])
        return length or 0
    if deadline is not None and first:
        _decide_deadline(deadline, kind, length)
    if kind != "Suspend":
        _map_leaf(walk, template, kind, start)
    return length or 0


def _visit_children(walk: _Stages, template: InputNode, kind: str, start: int, above: tuple[str, ...]) -> int:
    children = template.list_nodes("children")
    lengths: list[int] = []
    for child in children:
        begin = start + (sum(lengths) if kind == "Serial" else 0)
        _decide_child(walk, child, begin)
        lengths.append(_visit(walk, str(child.value), begin, above))
    deadline = template.find("deadline")
    if deadline is not None and not walk.context.ledger.is_covered(deadline.number, deadline.place):
        deadline.refuse("a fault lasts until it is repaired")
    return sum(lengths) if kind == "Serial" else max(lengths, default=0)


def _decide_child(walk: _Stages, child: InputNode, begin: int) -> None:
    if walk.context.ledger.is_covered(child.number, child.place):
        return
    if str(child.value) in walk.templates:
        child.map(f"starts after {begin} s")
    else:
        child.refuse("there is no such template", "correct the name")


def _map_leaf(walk: _Stages, template: InputNode, kind: str, start: int) -> None:
    """Map a template that holds an experiment or a Schedule."""
    key = "schedule" if kind == "Schedule" else find_kind_key(template)
    spec = None if key is None else template.find(key)
    if spec is None or not isinstance(spec.value, dict):
        template.blame(f"a template of type {kind or '?'} without its experiment", "import a complete object")
        return
    mapped = map_schedule(walk.context, spec) if kind == "Schedule" else map_experiment(walk.context, spec, kind)
    if mapped.app is None:
        return
    if walk.app is not None and mapped.app.name != walk.app.name:
        template.blame(f"it breaks {mapped.app.name}, and the Workflow {walk.app.name}", "split the Workflow")
        return
    walk.app = mapped.app
    if start > LATEST_START:
        template.blame(f"it starts after {start} s, and a fault after at most {LATEST_START}", "start it earlier")
    walk.faults += [replace(each, start_seconds=start) for each in mapped.faults]


def _take_head(template: InputNode) -> None:
    for name in ("name", "templateType"):
        if (part := template.find(name)) is not None:
            part.take("a stage")


def _decide_deadline(deadline: InputNode, kind: str, length: int | None) -> None:
    if length is None:
        deadline.refuse("it is no duration")
    elif kind == "Suspend":
        deadline.map(f"{length} s before what follows")
    else:
        deadline.guess(f"what follows starts {length} s later", "the fault itself lasts until it is repaired")
