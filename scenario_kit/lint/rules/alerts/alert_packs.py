"""SK310 to SK313, SK317: inconsistent expressions, annotations and tests of alert rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from scenario_kit.catalog.pack_tests import TESTS, is_promtool, list_firing, list_named, locate_tests, read_tests
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.lint.context.catalog_context import PackCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.promql import list_comparisons, list_durations, list_numbers
from scenario_kit.load.promql.parser import walk
from scenario_kit.load.yaml.edit import Drop, Put
from scenario_kit.model import AlertRule
from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_list
from scenario_kit.model.spelling import did_you_mean

#: The assumption of packs for apps without background errors, where any error matters.
NO_BACKGROUND_ERRORS: Final = "NoBackgroundErrors"
_ERRORS: Final = re.compile(r"error|fail|exception|5\.\.|5\[0-9\]|5xx", re.IGNORECASE)
_COUNTED: Final = ("rate", "irate", "increase")
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SAID: Final = re.compile(
    r"(?<![\w.-])(\d+(?:\.\d+)?)\s*(%|percent|ms|milliseconds?|s|seconds?|m|min|minutes?|h|hours?|th)?(?![\w-])"
)
_PERIODS: Final = {"s": 1, "m": 60, "h": 3600}


@register_check("SK310", "Pack")
def check_untested(case: PackCase) -> Iterator[Problem]:
    path = locate_tests(case.path)
    shown = f"{TESTS}/{path.name}"
    alerts = [(place, str(entry["alert"])) for place, entry in case.groups() if "alert" in entry]
    if not path.is_file():
        if alerts:
            names = ", ".join(f"'{name}'" for _, name in alerts)
            message = f"there is no {shown}: no case shows {names} firing"
            yield Problem((*alerts[0][0], "alert"), message, expected="a case with `fires` for each")
        return
    try:
        document = read_tests(path)[0].data
    except (AuthoringError, UsageError):
        return  # SK317
    for place, name in alerts:
        if name not in list_firing(document):
            desired = "a test with `exp_alerts`" if is_promtool(document) else "a case with `fires`"
            yield Problem((*place, "alert"), f"no case of {shown} shows '{name}' firing", expected=desired)
    names_ = {name for _, name in alerts}
    for name in sorted(list_named(document) - names_) if case.rules else ():
        yield Problem((), f"{shown} tests '{name}', which the pack does not have", name, fix=did_you_mean(name, names_))


@register_check("SK317", "Pack")
def check_test_files(case: PackCase) -> Iterator[Problem]:
    path = locate_tests(case.path)
    if not path.is_file():
        return
    try:
        document, found = read_tests(path)
    except AuthoringError as error:
        found = error.findings
        if not found:
            yield Problem((), f"{TESTS}/{path.name} cannot be read: {error.message}", fix=error.fix)
        document = None
    for each in found:
        yield Problem((), each.message, each.observed, each.expected, each.fix, position=each.position)
    if document is not None and is_promtool(document.data):
        for i, file in enumerate(document.data.get("rule_files") or ()):
            if Path(str(file)).name != case.path.name:
                message = f"`rule_files` names {file}: the tests of a pack are about its own rules"
                at, desired = document.positions.value("rule_files", i), f"../{case.path.name}"
                yield Problem((), message, str(file), desired, f"write `rule_files: [{desired}]`", position=at)


@register_check("SK311", "Pack")
def check_texts(case: PackCase) -> Iterator[Problem]:
    for place, entry, known in case.alerts():
        written = entry.get("annotations")
        for name, text in (written if isinstance(written, Mapping) else {}).items():
            if isinstance(text, str):
                yield from _check_numbers((*place, "annotations", name), text, known)


def _check_numbers(place: Place, text: str, known: AlertRule) -> Iterator[Problem]:
    plain = _TEMPLATE.sub(lambda found: " " * len(found[0]), text)
    for match in _SAID.finditer(plain):
        value, unit = float(match[1]), (match[2] or "")
        possible = _list_in_unit(unit, known)
        if any(abs(value - number) < 1e-9 for number in possible):
            continue
        shown = " or ".join(f"{number:g}{_insert_space(match)}{unit}" for number in sorted(possible))
        message = f"the text of '{known.name}' says {match[0].strip()}, which its expression does not"
        right = f"{next(iter(possible)):g}" if len(possible) == 1 else ""
        edits = (Put(place, text[: match.start(1)] + right + text[match.end(1) :]),) if right else ()
        yield Problem(place, message, match[0].strip(), shown or "no number", edits=edits)


def _insert_space(match: re.Match[str]) -> str:
    return " " if match[2] and match[0][match.end(1) - match.start()].isspace() else ""


def _list_in_unit(unit: str, known: AlertRule) -> set[float]:
    """List the numbers that a text with this unit may state about a rule."""
    thresholds = {c.number for c in list_comparisons(known.expr)}
    periods = {*list_durations(known.expr), float(known.for_seconds)}
    if unit in ("%", "percent"):
        return {round(n * 100, 9) for n in thresholds if 0 < n <= 1} or {n for n in thresholds if n > 1}
    if unit == "th":
        return {round(n * 100, 9) for n in list_numbers(known.expr) if 0 < n < 1}
    if unit.startswith(("ms", "milli")):
        return {n for n in thresholds if n > 0}
    if unit:
        each = _PERIODS[unit[0]]
        spans = {n / each for n in periods if n} | {n / each for n in thresholds if n > 0}
        return spans | ({n / 1000 / each for n in thresholds if n > 0} if "milliseconds" in known.expr else set())
    return {*list_numbers(known.expr), *periods, *(n / 60 for n in periods)}


@register_check("SK312", "Pack")
def check_zero_thresholds(case: PackCase) -> Iterator[Problem]:
    if NO_BACKGROUND_ERRORS in (case.document.get("assumes") or ()):
        return
    for place, _, known in case.alerts():
        for compared in list_comparisons(known.expr):
            if compared.operator in (">", "!=") and compared.number == 0 and _counts_errors(compared.left):
                message = f"'{known.name}' fires on a single error"
                yield Problem((*place, "expr"), message, f"{compared.operator} 0", "a threshold above the baseline")


def _counts_errors(node: Any) -> bool:
    """Return whether a node is a rate or an increase of errors."""
    for part in walk(node):
        if getattr(getattr(part, "func", None), "name", "") in _COUNTED:
            for inner in walk(part):
                matched = getattr(getattr(inner, "matchers", None), "matchers", ())
                values = [m.value for m in matched if str(m.op) in ("MatchOp.Equal", "MatchOp.Re")]
                if any(_ERRORS.search(text) for text in (getattr(inner, "name", None) or "", *values)):
                    return True
    return False


@register_check("SK313", "Pack")
def check_defined_twice(case: PackCase) -> Iterator[Problem]:
    seen: dict[str, AlertRule] = {}
    for place, _, known in case.alerts():
        key = f"{known.name} {sorted(known.labels.items())}"
        other = seen.setdefault(key, known)
        if other is not known:
            edits = (Drop(place),) if (other.expr, other.for_seconds) == (known.expr, known.for_seconds) else ()
            message = f"'{known.name}' is defined twice with the same labels"
            yield Problem((*place, "alert"), message, known.name, "a name of its own", edits=edits)


@register_check("SK313", "Scenario")
def check_chosen_twice(case: LintContext) -> Iterator[Problem]:
    """Report an alert that several chosen packs define."""
    packs = case.scenario.spec.app.alert_packs
    seen: dict[str, str] = {}
    for i, pack in enumerate(packs):
        try:
            names = {known.name for known in case.catalog.alert_pack(pack)}
        except AuthoringError:
            continue  # SK107
        common = sorted(name for name in names if seen.get(name, pack) != pack)
        if common:
            message = f"the packs {seen[common[0]]} and {pack} both define {shorten_list(common, 1)}"
            fix = "choose one of the packs"
            yield Problem(("spec", "app", "alertPacks", i), message, pack, "packs with alerts of their own", fix)
        seen |= dict.fromkeys(sorted(names - seen.keys()), pack)
