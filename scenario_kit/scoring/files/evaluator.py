"""Read and write results of ITBench's evaluator, with the keys of its repository, ITBench-Evaluations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.incident_names import normalise_incident
from scenario_kit.scoring.files.source import Source
from scenario_kit.scoring.matching.matcher import MatchDecision
from scenario_kit.scoring.scores.comparison import EvaluatedRun
from scenario_kit.scoring.scores.definitions import DEPTHS
from scenario_kit.scoring.scores.run_score import RunScore
from scenario_kit.scoring.scores.summary import ScoreReport
from scenario_kit.scoring.statistics.estimate import compute_mean, compute_population_error, compute_standard_error

_PARTS: Final = ("precision", "recall", "f1")
#: The k of the evaluator's metric that has no k in its name.
_DEFAULT_K: Final = 3
#: Metrics with precision, recall and F1: the evaluator's name, and our keys.
_TRIPLES: Final = {
    "root_cause_entity": tuple(f"root_cause_{part}" for part in _PARTS),
    **{f"root_cause_entity_k@{k}": tuple(f"{part}@{k}" for part in _PARTS) for k in DEPTHS},
    "root_cause_entity_k": tuple(f"{part}@{_DEFAULT_K}" for part in _PARTS),
    "root_cause_proximity_no_fp": tuple(f"proximity_no_fp.{part}" for part in _PARTS),
    "root_cause_proximity_with_fp": tuple(f"proximity_with_fp.{part}" for part in _PARTS),
}
#: Metrics of one number.
_SINGLES: Final = {
    "propagation_chain": "chain.f1",
    "fault_localization_component_identification": "component_identification",
    "root_cause_resource": "root_cause_resource",
    "root_cause_reasoning": "root_cause_reasoning",
    "root_cause_reasoning_partial": "root_cause_reasoning_partial",
}
#: The metrics for which the evaluator reports the share of runs that score exactly 1.
_PASSING: Final = ("root_cause_entity", "fault_localization_component_identification", "root_cause_resource")


def flatten_scores(values: Mapping[str, float]) -> dict[str, float]:
    """Map our values to the evaluator's keys, as in its ``flat_scores``."""
    pairs = {f"{name}_{part}": key for name, keys in _TRIPLES.items() for part, key in zip(_PARTS, keys, strict=True)}
    return {name: values[key] for name, key in (pairs | _SINGLES).items() if key in values}


def list_evaluated_runs(report: ScoreReport) -> list[EvaluatedRun]:
    """List our runs in the evaluator's form, for comparison."""
    return [
        EvaluatedRun(
            incident=run.incident, trial=run.trial, values=flatten_scores(run.values),
            matched={each.claim: each.verdict == "RootCause" for each in run.decisions},
        )
        for run in report.runs if not run.control
    ]  # fmt: skip


def build_evaluator_result(report: ScoreReport, truth_path: str, outputs_path: str) -> dict[str, Any]:
    """Build the result file. Runs without an answer score zero, whereas the evaluator omits them.

    Standard errors follow the evaluator: per incident with n, over incidents with n-1.
    """
    runs = [run for run in report.runs if not run.control]
    values: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for key, value in flatten_scores(run.values).items():
            values.setdefault(key, {}).setdefault(run.incident, []).append(value)
    per_incident: dict[str, dict[str, Any]] = {}
    for key, of_incidents in values.items():
        for incident, each in of_incidents.items():
            per_incident.setdefault(incident, {})[key] = _summarise_incident(key, each)
    overall = {key: _summarise_overall(key, list(each.values())) for key, each in values.items()}
    bad = sum(run.state not in ("Answered", "Empty") for run in runs)
    return {
        "raw_results": [_build_raw(run) for run in runs],
        "statistics": {"per_incident": per_incident, "overall": overall | {"total_bad_runs": bad}},
        "config": {
            "domain": "finops" if "root_cause_resource" in values else "sre", "ground_truth_path": truth_path,
            "outputs_path": outputs_path, "eval_criteria": list(_list_criteria(values)), "k": _DEFAULT_K,
        },
    }  # fmt: skip


def read_evaluator_result(source: Source) -> list[EvaluatedRun]:
    """Read the runs of a result file.

    Raises:
        AuthoringError: the file is invalid; one finding per error.
    """
    mistakes = Mistakes(source)
    runs = [_read_run(each) for each in Fields(mistakes, (), source.data).read_list("raw_results", required=True)]
    mistakes.raise_errors()
    return runs


def _build_raw(run: RunScore) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for name, keys in _TRIPLES.items():
        if keys[0] in run.values:
            scores[name] = {f"calculation_{part}": run.values[key] for part, key in zip(_PARTS, keys, strict=True)}
    for name, key in _SINGLES.items():
        if key in run.values:
            scores[name] = {"calculation": run.values[key]}
    if "root_cause_entity" in scores:
        scores["root_cause_entity"] = {
            "gt_entities": list(run.roots),
            "predicted_entities": [_build_match(each) for each in run.decisions],
            **scores["root_cause_entity"],
        }
    return {"incident_id": run.incident, "trial_id": run.trial, "scores": scores}


def _build_match(decision: MatchDecision) -> dict[str, Any]:
    matches = decision.verdict == "RootCause"
    built: dict[str, Any] = {"entity": decision.claim, "matches_gt": matches}
    return built | ({"matched_to": decision.group} if matches else {})


def _summarise_incident(key: str, values: Sequence[float]) -> dict[str, Any]:
    built: dict[str, Any] = {
        "mean": compute_mean(values), "stderr": compute_population_error(values), "n": len(values)
    }  # fmt: skip
    return built | ({"pass@1": _measure_passes(values)} if _counts_passes(key) else {})


def _summarise_overall(key: str, values: Sequence[Sequence[float]]) -> dict[str, Any]:
    means = [compute_mean(each) for each in values]
    built: dict[str, Any] = {
        "mean": compute_mean(means), "stderr": compute_standard_error(means), "n_incidents": len(means)
    }  # fmt: skip
    return built | ({"pass@1": compute_mean([_measure_passes(each) for each in values])} if _counts_passes(key) else {})


def _counts_passes(key: str) -> bool:
    return key.startswith(_PASSING) and not key.endswith(("_precision", "_recall"))


def _measure_passes(values: Sequence[float]) -> float:
    return sum(value == 1.0 for value in values) / len(values)


def _list_criteria(keys: Mapping[str, object]) -> Sequence[str]:
    """List the evaluator's names of the scored criteria."""
    names = [*_TRIPLES, *_SINGLES]
    return [name for name in names if "@" not in name and any(key.startswith(name) for key in keys)]


def _read_run(field: Fields) -> EvaluatedRun:
    scores = field.read_object("scores")
    values: dict[str, float] = {}
    matched: dict[str, bool] = {}
    for name in scores.data if scores else ():
        assert scores is not None  # it has fields
        if isinstance(scores.data[name], dict):
            values |= _read_calculations(name, scores.data[name])
        elif isinstance(scores.data[name], int | float):
            values[name] = float(scores.data[name])
    entity = scores.read_object("root_cause_entity") if scores else None
    for each in entity.read_list("predicted_entities") if entity else ():
        matched[each.read_text("entity", required=True)] = each.read_flag("matches_gt")
    return EvaluatedRun(
        incident=normalise_incident(field.read_text("incident_id", required=True, numbers=True)),
        trial=field.read_text("trial_id", required=True, numbers=True), values=values, matched=matched,
    )  # fmt: skip


def _read_calculations(name: str, data: Mapping[str, Any]) -> dict[str, float]:
    """Read the numeric results of a metric, ignoring text that a judge left."""
    keys = {"calculation": name, **{f"calculation_{part}": f"{name}_{part}" for part in _PARTS}}
    numbers = {key: data.get(field) for field, key in keys.items()}
    return {key: float(value) for key, value in numbers.items() if isinstance(value, int | float)}
