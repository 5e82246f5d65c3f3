"""SK210, SK212: revealing names and texts that a fault leaves in the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scenario_kit.lint.context.catalog_context import SCENARIO, USE, FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import RenderedField, find_introduced
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.leaks.needless.surroundings import split_words
from scenario_kit.lint.simulation.stages import list_containers, walk_leaves
from scenario_kit.load.yaml.edit import Drop, Edit, Put
from scenario_kit.model import Object, Severity
from scenario_kit.model.json_document import list_mappings

#: Words that reveal a fault in names; working systems do not use them.
TELLING: Final = frozenset(
    {
        "abort", "attack", "bad", "blackhole", "block", "blocker", "break", "breaker", "broken", "bug", "burn", "chaos",
        "corrupt", "crash", "crasher", "decoy", "delay", "deny", "drop", "evil", "exhaust", "experiment", "fail",
        "failure", "fake", "fault", "faulty", "flood", "flooder", "hog", "inject", "injected", "injection", "injector",
        "invalid", "kill", "killer", "latency", "leak", "loss", "lossy", "malicious", "misconfig", "misconfigured",
        "noisy", "outage", "partition", "sabotage", "saboteur", "simulated", "slow", "spike", "starve", "stress",
        "stressor", "surge", "throttle", "wrong",
    }
)  # fmt: skip
#: Neutral prefixes for names by kind.
_PREFIX: Final = {
    "NetworkPolicy": "pods", "ConfigMap": "settings", "Secret": "settings", "Deployment": "batch", "Job": "batch",
    "DaemonSet": "agent", "ResourceQuota": "compute", "LimitRange": "defaults", "PersistentVolumeClaim": "claim",
    "PersistentVolume": "volume", "PriorityClass": "class",
}  # fmt: skip


@register_check("SK210", "Scenario", "Fault")
def check_telling_names(case: LintContext | FaultCase) -> Iterator[Problem]:
    known: set[str] | None = None
    for found in find_introduced(case, _list_names if isinstance(case, FaultCase) else _list_texts):
        name = str(found.spot.value)
        if not found.written.stage.breaks or not (words := [word for word in split_words(name) if word in TELLING]):
            continue
        known = _collect_words(case) if known is None else known
        if known.issuperset(words):
            continue
        first = next(word for word in words if word not in known)
        message = f"{found.spot.note} of {found.subject} is '{name}', which contains '{first}'"
        prefix = _PREFIX.get(found.written.object["kind"], "set")
        expected = f"a name such as {{{{ neutral('{prefix}') }}}}"
        edits = _suggest_neutral(case, name, prefix) if isinstance(case, FaultCase) else ()
        # Whether a scenario can use another value depends on the app.
        severity = Severity.ERROR if isinstance(case, FaultCase) else Severity.WARNING
        yield Problem(found.site.place, message, name, expected, severity=severity, edits=edits)


def _list_names(obj: Object) -> Iterator[RenderedField]:
    """Yield visible names: of the object, its labels and annotations, its containers, keys and volumes."""
    yield RenderedField(("metadata", "name"), obj["metadata"]["name"], "the name")
    yield from _list_labels(obj, ())
    spec = obj.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if isinstance(template, dict):
        yield from _list_labels(template, ("spec", "template"))
    for keys, container in list_containers(obj):
        yield RenderedField((*keys, "name"), container.get("name", ""), "the name of a container")
        for i, variable in list_mappings(container.get("env")):
            yield RenderedField((*keys, "env", i, "name"), variable.get("name", ""), "the name of a variable")
    for name in obj.get("data") or {} if obj["kind"] in ("ConfigMap", "Secret") else ():
        yield RenderedField(("data", name), name, "a key")


def _list_texts(obj: Object) -> Iterator[RenderedField]:
    """Yield every text: a scenario's values may be anywhere."""
    yield from (RenderedField(keys, value, "a value") for keys, value in walk_leaves(obj) if isinstance(value, str))


def _list_labels(obj: Object, keys: tuple[str, ...]) -> Iterator[RenderedField]:
    metadata = obj.get("metadata") or {}
    for kind in ("labels", "annotations"):
        for name, value in (metadata.get(kind) or {}).items():
            yield RenderedField((*keys, "metadata", kind, name), name, f"the name of one of the {kind}")
            yield RenderedField((*keys, "metadata", kind, name), value, f"one of the {kind}")


def _collect_words(case: LintContext | FaultCase) -> set[str]:
    """Return the words that the app uses itself; they reveal nothing about a fault."""
    objects = case.objects or () if isinstance(case, LintContext) else [o for r in case.renderings for o in r.objects]
    return {word for obj in objects for spot in _list_names(obj) for word in split_words(str(spot.value))}


def _suggest_neutral(case: FaultCase, name: str, prefix: str) -> tuple[Edit, ...]:
    """Return edits that generate the name wherever the file contains it."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    drawn = f"{{{{ neutral('{prefix}') }}}}"
    places = [(place, text) for place, text in case.positions.texts.items() if len(place) > 1 and word.search(text)]
    if any("{{" in text or "{%" in text for _, text in places):
        return ()  # within an expression the syntax differs
    return tuple(Put(place, word.sub(drawn, text)) for place, text in places)


@register_check("SK212", "Scenario", "Fault")
def check_written_answer(case: LintContext | FaultCase) -> Iterator[Problem]:
    if isinstance(case, LintContext):
        place = ("metadata", "namespace")
        namespace = case.positions.texts.get(place, "")
        if namespace and namespace in (case.app.namespace if case.app else "", "default"):
            message = f"a solver can read the namespace '{namespace}', and so the whole scenario"
            yield Problem(place, message, namespace, "a management namespace, or none", edits=(Drop(place),))
        return
    telltale = {SCENARIO: "the name of the scenario", USE: "the name of the fault", case.fault.name: "the fault's type"}
    if beside := _find_scenario_beside(case.path):
        telltale[beside] = "the name of the scenario"
    for found in find_introduced(case, _list_readable):
        text = str(found.spot.value)
        found_words = [
            what for word, what in telltale.items() if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w])", text)
        ]
        if found_words and found.written.stage.breaks:
            message = f"{found.subject} contains {found_words[0]}"
            yield Problem(found.site.place, message, text[:80], "nothing of the ground truth")


def _find_scenario_beside(path: Path) -> str:
    """Return the name of the scenario to which the fault belongs; empty if it is in a catalogue."""
    folder = path.resolve().parent.parent.parent
    return folder.name if (folder / "scenario.yaml").is_file() else ""


def _list_readable(obj: Object) -> Iterator[RenderedField]:
    """Yield everything but the spec of chaos objects, which has to describe the experiment."""
    chaos = str(obj.get("apiVersion", "")).startswith("chaos-mesh.org/")
    yield from (RenderedField(keys, value) for keys, value in walk_leaves(obj) if not (chaos and keys[:1] == ("spec",)))
