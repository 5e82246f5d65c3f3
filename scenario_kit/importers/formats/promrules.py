"""Import Prometheus rule files and PrometheusRule objects as alert packs (docs/add-an-alert-pack.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scenario_kit.catalog.alerts import InvalidRule, find_longest_range, parse_duration, read_rules
from scenario_kit.draft.yaml_format import BlockText, dump_document
from scenario_kit.importers.decisions import ImportedFile
from scenario_kit.importers.drafting import make_name
from scenario_kit.importers.formats.context import ImportContext, open_documents, refuse_document, take_identity
from scenario_kit.importers.formats.rule_cases import build_case
from scenario_kit.importers.inputs import InputFile
from scenario_kit.importers.ledger import InputNode
from scenario_kit.lint import lint_text
from scenario_kit.load.promql.result_labels import find_result_labels
from scenario_kit.load.yaml.comments import format_question
from scenario_kit.model import Severity
from scenario_kit.model.authored.alert_rule import EVALUATION
from scenario_kit.model.base import Object

#: Labels that identify an object, the most specific first, and its kind.
_ENTITIES: Final = {
    "service_name": "Component", "pod": "Pod", "deployment": "Deployment", "statefulset": "StatefulSet",
    "horizontalpodautoscaler": "HorizontalPodAutoscaler", "node": "Node",
}  # fmt: skip
_LABEL: Final = re.compile(r"\$labels\.([a-zA-Z_]\w*)|\blabels\.([a-zA-Z_]\w*)")
_GROUPING: Final = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")
#: A matcher of the namespace, or of a label that the scrape of a cluster's own components adds.
_SURROUNDING: Final = re.compile(
    r"""\b(?:(?P<label>namespace|cluster|metrics_path)\s*(?:=~|!~|!=|=)\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|(?P<job>job)\s*=~?\s*["'][^"']*(?:kube-state-metrics|kubelet|cadvisor)[^"']*["'])\s*,?\s*"""
)
#: The code for an alert without a test case; the importer adds one.
_UNTESTED: Final = "SK310"
_RULE_FIELDS: Final = ("alert", "record", "for", "keep_firing_for", "labels", "annotations")


@dataclass(slots=True)
class _AlertPack:
    """A pack that is being written: its name, the recording rules of its file, and the alerts that it has so far.

    ``questions`` are open decisions for the author.
    """

    name: str
    records: Sequence[Object]
    questions: list[str] = field(default_factory=list)
    alerts: set[str] = field(default_factory=set)


def import_promrules(context: ImportContext, files: Sequence[InputFile]) -> None:
    """Import every file or object as one alert pack."""
    names: set[str] = set()
    for node in open_documents(context, files):
        groups = _find_groups(node)
        if groups is None:
            refuse_document(node, "Prometheus rules: `groups`, or an object of kind PrometheusRule")
            continue
        name = _name_pack(node, names)
        records = _read_records(groups)
        pack = _AlertPack(name, records)
        kept = [g for each in groups if (g := _map_group(context, each, pack)) is not None]
        if not any("alert" in rule for group in kept for rule in group["rules"]):
            alerts = any("alert" in (rule.value or {}) for group in groups for rule in group.list_nodes("rules"))
            why = "none of its alerts could be imported" if alerts else "it has no alerts"
            node.report_refusal(why, "correct them, or leave the file out" if alerts else "leave the file out")
            continue
        context.writer.files += _build_files(name, kept, node, pack.questions)


def _build_files(name: str, groups: Sequence[Object], node: InputNode, questions: list[str]) -> list[ImportedFile]:
    """Build the pack and the test cases of its rules."""
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    cases = [build_case(rule, _compute_firing_seconds(rule)) for rule in alerts]
    guessed = ["the samples are guessed from the expressions: does `scenario-kit alerts test` pass?"]
    parts = (
        (f"alerts/{name}.yaml", {"groups": list(groups)}, questions),
        (f"alerts/tests/{name}.yaml", cases, guessed),
    )
    return [
        ImportedFile(
            name=name, path=path, source=node.position, questions=tuple(asked),
            text="".join(f"{format_question(each)}\n" for each in asked) + dump_document(document),
        )
        for path, document, asked in parts
    ]  # fmt: skip


def _compute_firing_seconds(rule: Object) -> int:
    """Compute the seconds until a rule fires: its ``for`` and its longest range."""
    return int(parse_duration(rule.get("for", "0"))) + find_longest_range(rule["expr"])


def _find_groups(node: InputNode) -> list[InputNode] | None:
    data = node.value if isinstance(node.value, dict) else {}
    if data.get("kind") == "PrometheusRule":
        take_identity(node)
        return node.list_nodes("spec", "groups")
    return node.list_nodes("groups") if isinstance(data.get("groups"), list) and "kind" not in data else None


def _read_records(groups: Sequence[InputNode]) -> list[Object]:
    """Return the recording rules of a file, which alerts of any group may use."""
    rules = [each.value for group in groups for each in group.list_nodes("rules") if isinstance(each.value, dict)]
    return [
        {**rule, "expr": _SURROUNDING.sub("", rule["expr"])}
        for rule in rules
        if "record" in rule and isinstance(rule.get("expr"), str)
    ]


def _name_pack(node: InputNode, names: set[str]) -> str:
    base = node.read_text("metadata", "name") or Path(node.position.path).stem
    name, number = make_name(base), 2
    while name in names:
        name, number = f"{make_name(base)}-{number}", number + 1
    names.add(name)
    return name


def _map_group(context: ImportContext, group: InputNode, pack: _AlertPack) -> Object | None:
    """Map a group; None if none of its rules is imported."""
    made: Object = {"name": group.read_text("name") or "rules"}
    if (head := group.find("name")) is not None:
        head.take("the group")
    if (interval := group.find("interval")) is not None and (fitted := _fit_interval(interval)):
        made["interval"] = fitted
    if (labels := group.find("labels")) is not None and isinstance(labels.value, dict):
        labels.take("labels of every rule in the group")
        made["labels"] = labels.value
    found = (_map_rule(context, each, pack, made.get("labels") or {}) for each in group.list_nodes("rules"))
    rules = [rule for rule in found if rule]
    return {**made, "rules": rules} if rules else None


def _fit_interval(node: InputNode) -> str:
    """Round the interval to a multiple of the scrape interval."""
    try:
        seconds = parse_duration(node.value)
    except ValueError as error:
        node.refuse(str(error))
        return ""
    fitted = max(EVALUATION, round(seconds / EVALUATION) * EVALUATION)
    if fitted == seconds:
        node.take(f"interval: {fitted}s")
    else:
        node.guess(f"interval: {fitted}s", f"the scrape interval is {EVALUATION} s")
    return f"{fitted}s"


def _map_rule(context: ImportContext, node: InputNode, pack: _AlertPack, labels: Object) -> Object | None:
    """Map one rule of a group with these labels; refuse it and return None if it is invalid or would not pass lint."""
    data = node.value if isinstance(node.value, dict) else {}
    expr = node.find("expr")
    name = str(data.get("alert", data.get("record", "")))
    if expr is None or not name:
        node.refuse("a rule needs `expr`, and `alert` or `record`", "complete it")
        return None
    rule: Object = {key: data[key] for key in _RULE_FIELDS if key in data} | {"expr": str(expr.value)}
    removed = dict.fromkeys(m["label"] or m["job"] for m in _SURROUNDING.finditer(rule["expr"]))
    stripped = _SURROUNDING.sub("", rule["expr"])
    written, rule["expr"] = rule["expr"], _arrange_lines(stripped)
    if "alert" in rule and (entity := _guess_entity(rule)):
        rule["entity"] = entity
    problem = _find_problem(context, pack, rule)
    if problem:
        node.refuse(f"rule '{name}': {problem}", "correct the rule, or leave it out")
        return None
    if "alert" in rule:
        key = f"{name} {sorted((labels | (rule.get('labels') or {})).items())}"
        if key in pack.alerts:
            node.refuse(f"rule '{name}': an alert of this name and with these labels is above", "rename one of them")
            return None
        pack.alerts.add(key)
    for key in _RULE_FIELDS:
        if (part := node.find(key)) is not None:
            part.take(f"{key} of the rule")
    if stripped != written:
        expr.map("expr", _explain_removal(removed))
    else:
        expr.take("expr")
    if "alert" in rule:
        _decide_entity(node, rule, pack.questions)
    return rule


def _arrange_lines(expr: str) -> str:
    """Return an expression without spaces at the ends of lines, which is written as it stands in its file."""
    text = "\n".join(line.rstrip() for line in expr.strip().splitlines())
    return BlockText(text) if "\n" in text else text


def _explain_removal(labels: Iterable[str]) -> str:
    """Say which matchers are removed from an expression, and why."""
    reasons = ("a trial adds its own",) if "namespace" in labels else ()
    if others := [label for label in labels if label != "namespace"]:
        depend = "depends" if len(others) == 1 else "depend"
        reasons = (*reasons, f"{', '.join(f'`{label}`' for label in others)} {depend} on how a cluster is scraped")
    return f"matchers of {', '.join(f'`{label}`' for label in labels)} are removed: {'; '.join(reasons)}"


def _decide_entity(node: InputNode, rule: Object, questions: list[str]) -> None:
    head = node.find("alert")
    assert head is not None
    entity = rule.get("entity")
    if entity:
        reason = f"label `{entity['label']}` seems to identify the affected object"
        head.report_guess(f"entity: {entity['label']} ({entity['kind']})", reason)
        return
    questions.append(f"which label of alert {rule['alert']} identifies the affected object (`entity`), if any?")


def _guess_entity(rule: Object) -> dict[str, str] | None:
    """Guess the label of the result that identifies the object: one that annotations quote, or one of a grouping."""
    annotations = " ".join(map(str, (rule.get("annotations") or {}).values()))
    quoted = [first or second for first, second in _LABEL.findall(annotations)]
    grouped = [label.strip() for part in _GROUPING.findall(rule["expr"]) for label in part.split(",")]
    try:
        left = find_result_labels(rule["expr"])
    except ValueError:
        return None  # the rule is refused for it
    for labels in (quoted, grouped):
        found = next((label for label in _ENTITIES if label in labels and (left is None or label in left)), "")
        if found:
            return {"label": found, "kind": _ENTITIES[found]}
    return None


def _find_problem(context: ImportContext, pack: _AlertPack, rule: Object) -> str:
    """Return why a rule cannot be part of a pack with the recording rules of its file, or empty."""
    document: Any = {"groups": [{"name": "rules", "rules": [rule]}]}
    others = [each for each in pack.records if each.get("record") != rule.get("record")]
    known: Any = {"groups": [*document["groups"], {"name": "records", "rules": others}]}
    written = (each for place, each in read_rules(pack.name, known) if place.place[:2] == ("groups", 0))
    unread = next((each for each in written if isinstance(each, InvalidRule)), None)
    if unread is not None:
        return unread.message
    found = lint_text(dump_document(document), Path("alerts", f"{pack.name}.yaml"), context.catalog)
    errors = (each.finding for each in found if each.finding.severity is Severity.ERROR)
    return next((error.message for error in errors if error.code != _UNTESTED), "")
