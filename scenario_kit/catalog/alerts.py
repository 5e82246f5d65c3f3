"""Alert packs: Prometheus rules with the label that names the entity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.load.promql.parser import list_children, parse_expression
from scenario_kit.load.promql.recording import build_recorded_expression, inline
from scenario_kit.model import AlertRule, EntityLabel, Object
from scenario_kit.model.authored.alert_rule import EVALUATION
from scenario_kit.model.base import convert
from scenario_kit.model.json_document import Place

#: Fields of Prometheus rule groups and rules.
_GROUP_FIELDS: Final = ("name", "interval", "labels")
_RULE_FIELDS: Final = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_UNITS: Final = {"y": 31_536_000, "w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1, "ms": 0.001}
_PART: Final = re.compile(r"([0-9]+)(ms|[ywdhms])")


class WrittenRule(NamedTuple):
    """A rule as authored, its path and its group."""

    place: Place
    rule: Object
    group: Object


class InvalidRule(NamedTuple):
    """An invalid rule: path, message and fix."""

    place: Place
    message: str
    fix: str = ""


def parse_rules(pack: str, path: Path, document: Object) -> tuple[AlertRule, ...]:
    """Parse the alerting rules of a pack and inline recorded series.

    Raises:
        AuthoringError: a missing field, or an invalid expression or duration.
    """
    if not isinstance(get_groups(document), list | tuple) or not all(
        _is_group(group) for group in get_groups(document)
    ):
        raise AuthoringError(f"{path}: expected `groups`, each with a list of `rules` that are mappings")
    read = read_rules(pack, document)
    for _, rule in read:
        if isinstance(rule, InvalidRule):
            raise AuthoringError(f"{path}: {rule.message}", fix=rule.fix)
    return tuple(rule for _, rule in read if isinstance(rule, AlertRule))


def read_rules(pack: str, document: Object) -> list[tuple[WrittenRule, AlertRule | InvalidRule | None]]:
    """Parse each rule: None for a recording rule, ``InvalidRule`` for an invalid one."""
    records = {
        str(written.rule["record"]): build_recorded_expression(str(written.rule.get("expr", "")), _read_labels(written))
        for written in list_rules(document)
        if "record" in written.rule
    }
    return [(written, _read(pack, written, records)) for written in list_rules(document)]


def get_groups(document: Object) -> Any:
    """Return the groups of a rule file or a PrometheusRule object."""
    spec = document.get("spec")
    return (
        (spec.get("groups", ()) if isinstance(spec, dict) else ()) if "kind" in document else document.get("groups", ())
    )


def list_groups(document: Object) -> Iterator[tuple[Place, Object]]:
    """List every group with its path."""
    above: Place = ("spec", "groups") if "kind" in document else ("groups",)
    for i, group in enumerate(get_groups(document) or ()):
        yield (*above, i), group


def list_rules(document: Object) -> Iterator[WrittenRule]:
    """List all alerting and recording rules in file order."""
    for place, group in list_groups(document):
        for j, rule in enumerate(group.get("rules") or ()):
            yield WrittenRule((*place, "rules", j), rule, group)


def build_prometheus_groups(document: Object, prefix: str = "") -> list[Object]:
    """Build the groups for Prometheus, without our own fields and with prefixed names."""
    found = []
    for group in get_groups(document):
        rules = [{key: rule[key] for key in _RULE_FIELDS if key in rule} for rule in group["rules"]]
        own = {key: group[key] for key in _GROUP_FIELDS if key in group}
        found.append({**own, "name": f"{prefix}{group['name']}", "rules": rules})
    return found


def parse_duration(text: Any) -> float:
    """Parse a Prometheus duration into seconds.

    Raises:
        ValueError: not a duration.
    """
    if text == "0":
        return 0.0
    parts = _PART.findall(text) if isinstance(text, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"`{text}` is not a duration: write one such as `5m` or `1h30m`")
    return float(sum(int(number) * _UNITS[unit] for number, unit in parts))


def _is_group(group: Any) -> bool:
    rules = group.get("rules", []) if isinstance(group, dict) else None
    return isinstance(rules, list) and all(isinstance(rule, dict) for rule in rules)


def find_longest_range(expr: str) -> int:
    """Return how far back an expression looks, in seconds: ranges, subqueries and offsets, summed along each branch.

    Raises:
        ValueError: invalid PromQL.
    """

    def reach(node: Any) -> float:
        own = sum(_parse_seconds(getattr(node, name, None)) for name in ("range", "offset"))
        return own + max((reach(child) for child in list_children(node)), default=0.0)

    return int(reach(parse_expression(expr)))


def _parse_seconds(duration: Any) -> float:
    return float(duration.total_seconds()) if duration is not None else 0.0


def _read_labels(written: WrittenRule) -> dict[str, str]:
    return {**(written.group.get("labels") or {}), **(written.rule.get("labels") or {})}


def _read(pack: str, written: WrittenRule, records: dict[str, str]) -> AlertRule | InvalidRule | None:
    rule, place = written.rule, written.place
    if "record" in rule:
        return _check_recording_rule(rule, place, records)
    whose = f"rule '{rule.get('alert', '?')}'"
    try:
        expr = rule["expr"].strip()
        parse_expression(expr)
        expr = inline(expr, records)
        return AlertRule(
            name=rule["alert"],
            expr=expr,
            for_seconds=int(parse_duration(rule.get("for", "0"))),
            range_seconds=find_longest_range(expr),
            interval_seconds=int(parse_duration(written.group.get("interval", f"{EVALUATION}s"))) or EVALUATION,
            keep_firing_seconds=int(parse_duration(rule.get("keep_firing_for", "0"))),
            labels=_read_labels(written),
            annotations=rule.get("annotations", {}),
            entity=convert(rule["entity"], EntityLabel) if "entity" in rule else None,
            pack=pack,
        )
    except KeyError as error:
        return InvalidRule(place, f"{whose} lacks {error}", f"add {error}")
    except AuthoringError as error:
        return InvalidRule((*place, "expr"), f"{whose}: {error.message}", error.fix)
    except (ValueError, TypeError, AttributeError) as error:  # the first is also msgspec's ValidationError
        return InvalidRule((*place, "expr"), f"{whose}: {error}", "correct the expression")


def _check_recording_rule(rule: Object, place: Place, records: dict[str, str]) -> InvalidRule | None:
    """Return why a recording rule is invalid; None if it is valid."""
    try:
        inline(str(rule["expr"]), {name: expr for name, expr in records.items() if name != rule["record"]})
    except KeyError as error:
        return InvalidRule(place, f"rule '{rule['record']}' lacks {error}", f"add {error}")
    except AuthoringError as error:
        return InvalidRule((*place, "expr"), f"rule '{rule['record']}': {error.message}", error.fix)
    return None
