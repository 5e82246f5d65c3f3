"""SK117, SK314, SK316, SK319: rules that are invalid, evaluated differently, or restricted to a namespace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.catalog.alerts import InvalidRule, list_groups, parse_duration
from scenario_kit.lint.context.catalog_context import PackCase
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.promql import list_matchers
from scenario_kit.load.promql.parser import parse_expression
from scenario_kit.load.yaml.edit import Drop, Put
from scenario_kit.model.authored.alert_rule import EVALUATION
from scenario_kit.model.json_document import Place

#: Fields of a group that change how its rules are evaluated, which the evaluator does not support; zero means unset.
_UNSUPPORTED: Final = ("limit", "query_offset", "partial_response_strategy")
#: Fields of an alerting rule that Prometheus rejects in a recording rule.
_OF_ALERTS: Final = ("for", "keep_firing_for", "annotations", "entity")


@register_check("SK117", "Pack")
def check_unreadable(case: PackCase) -> Iterator[Problem]:
    """Report an expression that is not PromQL."""
    for written, _ in case.read:
        expr = written.rule.get("expr")
        if isinstance(expr, str) and (reported := _explain_unreadable(expr)):
            message = f"the expression of '{_name(written.rule)}' is not PromQL: {reported}"
            fix = "correct the expression"
            yield Problem((*written.place, "expr"), message, expr[:120], "a valid PromQL expression", fix)


def _explain_unreadable(expr: str) -> str:
    try:
        parse_expression(expr)
    except ValueError as error:
        return str(error).splitlines()[0]
    return ""


def _name(rule_: dict[str, Any]) -> str:
    return str(rule_.get("alert", rule_.get("record", "?")))


@register_check("SK314", "Pack")
def check_unsupported(case: PackCase) -> Iterator[Problem]:
    groups = list(list_groups(case.document))
    for place, group in groups:
        yield from _check_group(place, group)
    for place, rule_ in case.groups():
        if "record" in rule_:
            for field in (name for name in _OF_ALERTS if name in rule_):
                message = f"`{field}` in the recording rule '{rule_['record']}': Prometheus accepts it for alerts only"
                yield Problem((*place, field), message, field, "no such field", edits=(Drop((*place, field)),))
    seen = Counter(str(group.get("name")) for _, group in groups)
    for place, group in groups:
        if seen[str(group.get("name"))] > 1:
            message = f"the file has several groups called '{group['name']}': Prometheus does not load it"
            yield Problem((*place, "name"), message, str(group["name"]), "a unique name", "give it another name")


def _check_group(place: Place, group: dict[str, Any]) -> Iterator[Problem]:
    for field in _UNSUPPORTED:
        if group.get(field) not in (None, 0, "0", "0s"):
            message = f"`{field}` of the group '{group.get('name')}' is not supported"
            yield Problem(
                (*place, field), message, f"{field}: {group[field]}", "no such field", edits=(Drop((*place, field)),)
            )
    interval = parse_duration(group.get("interval", f"{EVALUATION}s"))
    if interval % EVALUATION:
        near = max(1, round(interval / EVALUATION)) * EVALUATION
        message = (
            f"the group '{group.get('name')}' is evaluated every {interval:g} s, but samples are {EVALUATION} s apart"
        )
        yield Problem(
            (*place, "interval"), message, str(group["interval"]), f"a multiple of {EVALUATION}s", f"write {near}s"
        )


@register_check("SK316", "Pack")
def check_unrecordable(case: PackCase) -> Iterator[Problem]:
    for written, known in case.read:
        expr = written.rule.get("expr")
        if isinstance(known, InvalidRule) and isinstance(expr, str) and not _explain_unreadable(expr):
            yield Problem(known.place, known.message, expr[:120], "the series without labels or offset", known.fix)


@register_check("SK319", "Pack")
def check_namespaced(case: PackCase) -> Iterator[Problem]:
    for place, rule_ in case.groups():
        expr = rule_.get("expr")
        if not isinstance(expr, str) or _explain_unreadable(expr):
            continue
        for matcher in list_matchers(expr):
            if matcher.label == "namespace":
                message = f"'{_name(rule_)}' names the namespace {matcher.operator}\"{matcher.value}\""
                edits = (Put((*place, "expr"), _remove_matcher(expr, matcher.start, matcher.end)),)
                yield Problem(
                    (*place, "expr"),
                    message,
                    f'namespace{matcher.operator}"{matcher.value}"',
                    "no matcher of the namespace",
                    edits=edits,
                )


def _remove_matcher(expr: str, start: int, end: int) -> str:
    """Remove the matcher with this value from the expression, and a comma beside it."""
    before, after = expr[:start].rstrip("\"'"), expr[end + 1 :]
    before = before[: before.rindex("namespace")].rstrip()
    after = after.lstrip()
    if after.startswith(","):
        after = after[1:].lstrip()
    else:
        before = before.removesuffix(",").rstrip()
    return before + after
