"""SK127: Chaos Mesh experiments, validated by the schemas of the CRDs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.parameter_places import find_parameter_place
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.load import Positions
from scenario_kit.load.schema.validation import find_mistakes
from scenario_kit.load.yaml.edit import Edit, Put
from scenario_kit.model import Change, Fault, Object
from scenario_kit.model.authored.change import get_operation_type
from scenario_kit.model.chaos.ineffective import find_ineffective_fields
from scenario_kit.model.chaos.kinds import Experiment, get_experiment
from scenario_kit.model.chaos.pod_selector import parse_selector
from scenario_kit.model.chaos.reach import list_selections
from scenario_kit.model.chaos.times import find_misread_times
from scenario_kit.model.json_document import Place
from scenario_kit.model.spelling import did_you_mean, find_only
from scenario_kit.schema.chaos import get_object_schema, list_kinds

#: Modes of selection that need a number, which the CRDs do not enforce.
_COUNTED = ("fixed", "fixed-percent", "random-max-percent")


@register_check("SK127")
def check_experiments(case: LintContext) -> Iterator[Problem]:
    for of_use, use, fault in case.list_rendered():
        for wrong in _check_fault(fault):
            message = f"fault '{use.name}': {wrong.message}"
            place = find_parameter_place(of_use, use, wrong.observed)
            yield Problem(place, message, wrong.observed, wrong.expected, wrong.fix)
    for place, change in case.list_changes():
        if manifest := change.operation.experiment:
            yield from _check_manifest(case.positions, (*place, "chaos"), manifest)


@register_check("SK127", "Fault")
@report_once("message", "observed")
def check_experiments_of_type(case: FaultCase) -> Iterator[Problem]:
    places = [i for i, change in enumerate(case.fault.changes) if get_operation_type(change).injects_chaos]
    for _, fault in case.list_rendered():
        # Some may be conditional; then the first ones count.
        for i, manifest in zip(places, fault.experiments, strict=False):
            for problem in _check_manifest(case.positions, ("changes", i, "chaos"), manifest):
                yield problem._replace(edits=())  # the source is a template


def _check_fault(fault: Fault) -> Iterator[Problem]:
    """Yield problems in the experiments of a rendered fault; places are relative to the experiment."""
    for change in _changes(fault):
        if manifest := change.operation.experiment:
            kind = manifest.get("kind", "an object without a kind")
            for problem in _check_manifest(Positions(""), (), manifest):
                yield problem._replace(message=f"{kind}: {problem.message}")


def _changes(fault: Fault) -> Iterator[Change]:
    yield from fault.changes
    for solution in fault.solutions:
        yield from solution.changes
    for decoy in fault.decoys:
        yield from decoy.changes


def _check_manifest(positions: Positions, place: Place, manifest: Object) -> Iterator[Problem]:
    """Yield problems in a manifest at ``place``."""
    kind, experiment = str(manifest.get("kind", "")), get_experiment(manifest)
    schema = get_object_schema(kind, experiment.kind)
    if schema is None:
        meant, known = find_only(kind, list_kinds()), list_kinds()
        edits: tuple[Edit, ...] = (Put((*place, "kind"), meant),) if meant else ()
        message = f"Chaos Mesh has no kind '{kind}'" if kind else "the object has no kind"
        yield Problem((*place, "kind"), message, kind, " or ".join(known), did_you_mean(kind, known), edits=edits)
        return
    for finding, repairs, follows in find_mistakes(manifest, schema, positions, place):
        if follows:
            continue
        at = finding.position if positions.path else None
        yield Problem(
            place, finding.message, finding.observed, finding.expected, finding.fix, position=at, edits=repairs
        )
    yield from _check_counts(place, experiment)
    yield from _check_selectors(place, manifest)
    for wrong in find_misread_times(manifest):
        where: Place = (*place, *experiment.place, *wrong.keys)
        message = f"Chaos Mesh cannot use `{'.'.join(wrong.keys)}`"
        yield Problem(where, message, wrong.value, wrong.expected, "write the time in another unit")
    for idle in find_ineffective_fields(manifest):
        where = (*place, *experiment.place, *idle.keys)
        message = f"`{'.'.join(map(str, idle.keys))}` has no effect: {idle.reason}"
        yield Problem(where, message, idle.value, idle.expected, f"write {idle.expected}")


def _check_selectors(place: Place, manifest: Object) -> Iterator[Problem]:
    """Check for selectors that the manager cannot parse: it emits an event and selects nothing."""
    for keys, selector in list_selections(manifest):
        try:
            parse_selector(selector, "")
        except ValueError as error:
            field, _, words = str(error).partition(": ")
            where: Place = (*place, *keys, field)
            message = f"Chaos Mesh cannot read `{'.'.join(map(str, keys))}.{field}`"
            yield Problem(where, message, words, "a valid Kubernetes selector", "correct the field")


def _check_counts(place: Place, experiment: Experiment) -> Iterator[Problem]:
    """Report a missing number of pods."""
    where: Place = (*place, *experiment.place)
    for at, part in ((where, experiment.spec), ((*where, "target"), experiment.spec.get("target"))):
        if isinstance(part, Mapping) and part.get("mode") in _COUNTED and not part.get("value"):
            message = f"`mode: {part['mode']}` needs a number in `value`"
            yield Problem((*at, "mode"), message, str(part["mode"]), "`value`, or `mode: all`", "add `value`")
