"""Decide whether the answer of an object check is the same for every valid object, or true in the healthy app."""

from __future__ import annotations

import msgspec

from scenario_kit.lint.rules.alerts.object_values.field_domains import build_object, find_domain, list_names
from scenario_kit.lint.rules.alerts.object_values.healthy_objects import list_healthy_forms
from scenario_kit.model import Object
from scenario_kit.model.authored.check import ObjectCheck
from scenario_kit.observe.compare import describe_expectation, matches_object
from scenario_kit.schema.writable import SYSTEM_NAMESPACES


def explain_constant_object(check: ObjectCheck) -> str:
    """Explain why an object check holds for every object of its kind; empty if it does not, or that is unknown."""
    ref = check.ref
    if ref.kind == "Namespace" and ref.name in (*SYSTEM_NAMESPACES, "default") and check.exists and not check.path:
        return f"every cluster has the namespace {ref.name}"
    domain = find_domain(ref, check.path) if not ref.group else None
    if domain is None:
        return ""
    for compared in (check.equals, check.not_equals, check.not_contains):
        domain = domain.include(compared)
    # These ask for a value, so an absent field is another question than theirs.
    of_value = check.not_equals is not None or check.not_contains is not None or check.contains is not None
    values = (*domain.values, *([None] if domain.optional and not (of_value or check.matches is not None) else []))
    path = ".".join(list_names(check.path))
    if check.at_least is not None or check.at_most is not None:
        values = tuple(value for value in values if not isinstance(value, str))
    plain = msgspec.structs.replace(check, path=path)
    try:
        holds = bool(values) and all(matches_object(plain, build_object(path, value)) for value in values)
    except ValueError:
        return ""  # SK104, SK117
    if holds and check.exists:
        return f"every {ref.kind} has the field '{path}'"
    return f"every value that '{path}' of a {ref.kind} can have satisfies the check" if holds else ""


def explain_healthy_object(check: ObjectCheck, obj: Object | None) -> str:
    """Explain why an object check holds in the healthy app, where ``obj`` is as rendered; empty if it does not.

    Raises:
        ValueError: the path or a pattern is malformed.
    """
    forms = [None] if obj is None else list(list_healthy_forms(obj, check.path))
    holds = bool(forms) and all(matches_object(check, form) for form in forms)
    return f"before any fault, {check.ref} already satisfies the check: {describe_expectation(check)}" if holds else ""
