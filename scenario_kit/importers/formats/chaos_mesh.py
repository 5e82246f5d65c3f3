"""Import Chaos Mesh objects (``chaos-mesh.org/v1alpha1``): experiments, Schedules and Workflows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.importers.drafting import ScenarioIntent
from scenario_kit.importers.formats.chaos_experiments import (
    list_questions,
    map_experiment,
    map_schedule,
    refuse_duration,
)
from scenario_kit.importers.formats.chaos_workflows import import_workflow
from scenario_kit.importers.formats.context import ImportContext, open_documents, refuse_document, take_identity
from scenario_kit.importers.inputs import InputFile
from scenario_kit.importers.ledger import InputNode

GROUP: Final = "chaos-mesh.org/"


def import_chaos_mesh(context: ImportContext, files: Sequence[InputFile]) -> None:
    """Import experiments, Schedules and Workflows, each as one draft."""
    for node in open_documents(context, files):
        kind = node.read_text("kind")
        if not node.read_text("apiVersion").startswith(GROUP):
            refuse_document(node, "an object of Chaos Mesh")
        elif kind == "Workflow":
            import_workflow(context, node)
        else:
            _import_object(context, node, kind)


def _import_object(context: ImportContext, node: InputNode, kind: str) -> None:
    take_identity(node)
    spec = node.find("spec")
    if spec is None or not isinstance(spec.value, dict):
        node.report_refusal("it has no `spec`", "import a complete object", node)
        return
    mapped = map_schedule(context, spec) if kind == "Schedule" else map_experiment(context, spec, kind)
    if mapped.app is None or not mapped.faults:
        node.ledger.mark_undrafted(node.number, node.place)
        return
    if kind != "Schedule":
        refuse_duration(spec)
    name = node.read_text("metadata", "name") or kind
    intent = ScenarioIntent(name, mapped.app, node, mapped.faults, f"Imported from {kind} {name} of Chaos Mesh.")
    intent.questions += list_questions(mapped.faults)
    context.writer.write(intent)
