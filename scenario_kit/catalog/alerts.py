"""Alert packs: Prometheus rules, and which label of each names the entity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenario_kit.errors import AuthoringError
from scenario_kit.load.promql import children, parsed
from scenario_kit.model import AlertRule, EntityLabel, Object
from scenario_kit.model.base import convert


def rules_of(pack: str, path: Path, document: Object) -> tuple[AlertRule, ...]:
    """The rules of a pack's document.

    Raises:
        AuthoringError: a rule lacks a field, or its expression or a duration cannot be parsed.
    """
    groups = document.get("groups", ())
    if not isinstance(groups, list | tuple) or not all(_is_group(group) for group in groups):
        raise AuthoringError(f"{path}: expected `groups`, each with a list of `rules` that are mappings")
    return tuple(_rule(pack, path, rule) for group in groups for rule in group.get("rules", ()))


def _is_group(group: Any) -> bool:
    rules = group.get("rules", []) if isinstance(group, dict) else None
    return isinstance(rules, list) and all(isinstance(rule, dict) for rule in rules)


def longest_range(expr: str) -> int:
    """How far back an expression looks, in seconds: range, subquery and offset, added up along each branch.

    Raises:
        ValueError: not PromQL.
    """

    def reach(node: Any) -> float:
        own = sum(_seconds(getattr(node, name, None)) for name in ("range", "offset"))
        return own + max((reach(child) for child in children(node)), default=0.0)

    return int(reach(parsed(expr)))


def _seconds(duration: Any) -> float:
    return float(duration.total_seconds()) if duration is not None else 0.0


def _rule(pack: str, path: Path, rule: Object) -> AlertRule:
    import promql_parser

    try:
        return AlertRule(
            name=rule["alert"],
            expr=rule["expr"].strip(),
            for_seconds=int(promql_parser.parse_duration(rule.get("for", "0s")).total_seconds()),
            range_seconds=longest_range(rule["expr"]),
            labels=rule.get("labels", {}),
            annotations=rule.get("annotations", {}),
            entity=convert(rule["entity"], EntityLabel) if "entity" in rule else None,
            pack=pack,
        )
    except KeyError as error:
        raise AuthoringError(f"{path}: rule '{rule.get('alert', '?')}' lacks {error}") from error
    except (ValueError, TypeError, AttributeError) as error:  # the first is also msgspec's ValidationError
        raise AuthoringError(f"{path}: rule '{rule.get('alert', '?')}': {error}") from error
