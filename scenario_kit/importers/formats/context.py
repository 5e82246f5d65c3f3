"""The context of an import, and decisions that importers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.importers.drafting import DraftWriter, FaultIntent
from scenario_kit.importers.inputs import InputDocument, InputFile, parse_documents
from scenario_kit.importers.ledger import ImportLedger, InputNode
from scenario_kit.importers.mechanisms import Mechanism, map_fields
from scenario_kit.importers.targets import AppFinder, is_absent_app
from scenario_kit.model import App

NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class ImportContext(NamedTuple):
    """The catalogue, the decisions and the drafts of one import."""

    catalog: Catalog
    finder: AppFinder
    ledger: ImportLedger
    writer: DraftWriter


def open_documents(context: ImportContext, files: Sequence[InputFile]) -> list[InputNode]:
    """Open every document of the files. Of several files, those that cannot be read are refused.

    Raises:
        AuthoringError: the only file cannot be read as YAML.
    """
    documents: list[InputDocument] = []
    for file in files:
        with context.ledger.refuse_unreadable(alone=len(files) == 1):
            documents += parse_documents(file)
    return [context.ledger.open_document(each) for each in documents]


def refuse_document(node: InputNode, expected: str) -> None:
    """Refuse a whole document of another kind."""
    kind = node.value.get("kind") if isinstance(node.value, dict) else None
    found = f"an object of kind {kind}" if kind else "a document of another form"
    node.refuse(f"this is {found}, not {expected}", "leave it out, or import it in its own format")


def report_unknown_target(
    node: InputNode, app: App | None, words: Iterable[str], names: Iterable[str], whole: InputNode
) -> None:
    """Report an app, or a component of the app, that the catalogue does not have; no draft of ``whole`` is written."""
    named = ", ".join(filter(None, names))
    if app is not None:
        why = f"{app.name} has no component for {named}" if named else f"it names no component of {app.name}"
        node.report_refusal(why, "choose a component of the app with --app and --target", whole)
        return
    absent = next((word for word in words if is_absent_app(word)), "")
    if absent:
        why, fix = f"the catalogue has no app {absent}", "choose an app and a component of it with --app and --target"
        node.report_refusal(why, f"{fix}, or add the app", whole)
        return
    why = f"no app of the catalogue has a component for {named}" if named else "it names neither app nor component"
    node.report_refusal(why, "choose an app and a component of it with --app and --target", whole)


def explain_chosen_target(app: App, names: Iterable[str]) -> str:
    """Say why a fault is aimed at the component that was chosen with ``--target``."""
    named = ", ".join(filter(None, names))
    return f"--target; {app.name} has no component for {named}" if named else "--target; it names no component"


def take_identity(node: InputNode) -> None:
    """Take apiVersion, kind and name of an object."""
    for steps, result in (
        (("apiVersion",), "the format"),
        (("kind",), "the format"),
        (("metadata", "name"), "the name"),
    ):
        if (part := node.find(*steps)) is not None:
            part.take(result)


def map_mechanism(
    context: ImportContext, mechanism: Mechanism, node: InputNode, entity: str, parameters: Mapping[str, Any] = NONE
) -> FaultIntent | None:
    """Map the fields below a node to a fault at an entity; report it and return None if there is no such fault."""
    if not mechanism.fault:
        node.report_refusal(mechanism.because, mechanism.fix)
        return None
    fault = context.catalog.fault(mechanism.fault)
    return FaultIntent(mechanism.fault, entity, node, map_fields(mechanism, node, fault) | dict(parameters))
