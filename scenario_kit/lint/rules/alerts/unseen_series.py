"""SK315: rules over series that nothing exports.

Known series are those of a lab, whose exporters a real cluster has as well, those that exporters of an app's twin
report, and those that the pack records itself. A pack of an app without a twin is not checked: only its own cluster
knows its series.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.context.catalog_context import PackCase
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.query_values.metric_bounds import accepts_value
from scenario_kit.load.promql.parser import parse_expression, walk
from scenario_kit.load.series import LABELS, VALUES
from scenario_kit.load.yaml.edit import Put
from scenario_kit.model import App
from scenario_kit.model.spelling import ask_which, did_you_mean, find_only, suggest

#: The label of which a matcher is added to every expression.
_SCOPED: Final = "namespace"
#: Labels that a scrape adds to every series of its target: grouping by one that is absent changes no group.
_OF_TARGETS: Final = ("cluster", "instance", "job")
#: Functions that create labels.
_MAKE_LABELS: Final = ("label_replace", "label_join", "count_values", "info")
#: The label that holds component names.
_COMPONENT: Final = "service_name"
_NAMES: Final = frozenset(LABELS)
#: The least similarity of a name that may be misspelt.
_NEAR: Final = 0.93


class _SeriesProblem(NamedTuple):
    """An unknown word in an expression, and the known ones."""

    message: str
    observed: str
    word: str
    known: frozenset[str]


@register_check("SK315", "Pack")
def check_unseen(case: PackCase) -> Iterator[Problem]:
    if _is_of_foreign_cluster(case.catalog, case.name):
        return
    recorded = {str(entry["record"]) for _, entry in case.groups() if entry.get("record")}
    recorded |= {name for app in _list_apps(case.catalog) for name in list_exported(app)}
    components = _list_components(case.catalog)
    for place, entry in case.groups():
        expr = entry.get("expr")
        if not isinstance(expr, str):
            continue
        try:
            tree = parse_expression(expr)
        except ValueError:
            continue  # SK117
        name = entry.get("alert") or entry.get("record")
        for problem in dict.fromkeys(_examine(tree, recorded, components)):
            meant = find_only(problem.word, problem.known)
            edits = (Put((*place, "expr"), _respell(expr, problem.word, meant)),) if meant else ()
            yield Problem(
                (*place, "expr"),
                f"'{name}' asks for {problem.message}",
                problem.observed,
                fix=_suggest(problem),
                edits=edits,
            )


def find_unseen(selector: Any, exported: Collection[str] = ()) -> str:
    """Describe what no series of a lab has in a selector: a name, a label or a value; empty if some series fits.

    Names of recording rules (with a colon), those ``exported`` by the app and values of ``service_name`` are not
    judged.
    """
    if ":" in _read_name(selector):
        return ""
    found = next(_examine_selector(selector, exported, frozenset()), None)
    return found.message if found else ""


def list_exported(app: App) -> frozenset[str]:
    """List the series that only the exporters of an app's twin report."""
    exporters = app.twin.exporters if app.twin is not None else ()
    return frozenset(spelled.partition("{")[0] for each in exporters for spelled in each.series) - _NAMES


def _respell(expr: str, word: str, meant: str) -> str:
    return re.sub(rf"(?<![\w:]){re.escape(word)}(?![\w:])", meant, expr)


def _suggest(problem: _SeriesProblem) -> str:
    if problem.known is not _NAMES:
        return did_you_mean(problem.word, problem.known)
    # Names of one exporter begin alike: only one that is nearly the same can be meant.
    if near := suggest(problem.word, _NAMES, least=_NEAR):
        return ask_which(near[:1])
    return (
        "leave the rule out, declare its exporter in the app's twin.yaml, or list its pack only in apps that run on "
        "real clusters (`twin: none`): a lab has no other series than those of docs/series.md and of such exporters"
    )


def _is_of_foreign_cluster(catalog: Catalog, pack: str) -> bool:
    """Return whether an app that runs only on real clusters uses the pack."""
    for name in catalog.apps():
        try:
            app = catalog.app(name, catalog.versions(name)[0])
        except (AuthoringError, IndexError):
            continue  # the app has findings of its own
        if app.twin is None and pack in app.alert_packs:
            return True
    return False


def _list_components(catalog: Catalog) -> frozenset[str]:
    """Return the names under which any component reports spans; empty if an app cannot be loaded."""
    found: set[str] = set()
    for name in catalog.apps():
        try:
            found.update(c.name for version in catalog.versions(name) for c in catalog.app(name, version).components)
        except AuthoringError:
            return frozenset()
    return frozenset(found)


def _list_apps(catalog: Catalog) -> Iterator[App]:
    """Yield every version of every app; those with findings of their own are skipped."""
    for name in catalog.apps():
        with suppress(AuthoringError):
            yield from [catalog.app(name, version) for version in catalog.versions(name)]


def _examine(tree: Any, recorded: Collection[str], components: frozenset[str]) -> Iterator[_SeriesProblem]:
    for node in walk(tree):
        if type(node).__name__ == "VectorSelector":
            yield from _examine_selector(node, recorded, components)
        elif type(node).__name__ == "AggregateExpr":
            yield from _examine_grouping(node, recorded)


def _examine_selector(node: Any, recorded: Collection[str], components: frozenset[str]) -> Iterator[_SeriesProblem]:
    name = _read_name(node)
    if not name or name in recorded:
        return
    if name not in LABELS:
        yield _SeriesProblem(f"a series that nothing exports: {name}", name, name, _NAMES)
        return
    values = {**VALUES.get(name, {}), **({_COMPONENT: components} if components else {})}
    for matcher in node.matchers.matchers:
        label, desired = str(matcher.name), str(matcher.value)
        if label in ("__name__", _SCOPED):
            continue
        if label not in LABELS[name]:
            if not accepts_value(matcher, ""):
                message = f"a label that {name} does not have: {label}"
                yield _SeriesProblem(message, f'{label}="{desired}"', label, LABELS[name])
        elif label in values and not any(accepts_value(matcher, value) for value in values[label]):
            message = f'a value that {label} of {name} never has: "{desired}"'
            yield _SeriesProblem(message, f'{label}="{desired}"', desired, values[label])


def _examine_grouping(node: Any, recorded: Collection[str]) -> Iterator[_SeriesProblem]:
    """Yield grouping labels that no series inside has: everything is in one group."""
    modifier = node.modifier
    inner = list(walk(node.expr))
    makes = {str(getattr(getattr(n, "func", None), "name", "")) for n in inner} & {*_MAKE_LABELS}
    names = [_read_name(n) for n in inner if type(n).__name__ == "VectorSelector"]
    counts = any(str(getattr(n, "op", "")) == "count_values" for n in inner)
    if modifier is None or not str(modifier.type).endswith("By") or makes or counts or not names:
        return
    if any(name in recorded or name not in LABELS for name in names):
        return
    known = frozenset[str]().union(*(LABELS[name] for name in names))
    for label in modifier.labels:
        if label not in known and label not in _OF_TARGETS:
            whose = " and ".join(dict.fromkeys(names))
            message = f"groups by a label that {whose} {'do' if ' and ' in whose else 'does'} not have: {label}"
            yield _SeriesProblem(message, label, label, known)


def _read_name(node: Any) -> str:
    """Return the metric name of a selector; empty if it selects several."""
    if node.name:
        return str(node.name)
    named = [m for m in node.matchers.matchers if m.name == "__name__" and str(m.op) == "MatchOp.Equal"]
    return str(named[0].value) if named else ""
