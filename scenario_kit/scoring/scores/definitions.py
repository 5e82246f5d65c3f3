"""All metrics by key, with a short title and the publication. docs/scoring.md defines each."""

from __future__ import annotations

from typing import Final, Literal

from scenario_kit.model.base import Value

#: ``Answer`` metrics are 0 for runs without a usable answer; ``Record`` metrics are computed from the run's record.
Scope = Literal["Answer", "Record", "Summary"]

AA: Final = "ITBench-AA"
EVALUATOR: Final = "itbench-hub/ITBench-Evaluations"
PAPER: Final = "ITBench, arXiv 2502.05352"
RCAEVAL: Final = "RCAEval"
SREARENA: Final = "SREArena"
DEVOPS_BENCH: Final = "kubernetes-sigs/devops-bench"
ORCA: Final = "ORCA-bench"
AIOPSLAB: Final = "AIOpsLab"
SREGYM: Final = "SREGym"
OURS: Final = "scenario-kit"

#: Metrics that are counts, amounts or unbounded.
_AMOUNTS: Final = (
    "blast_radius.objects", "complexity", "cost", "detour", "time_to_", "tokens.", "turns", "wall_seconds",
)  # fmt: skip
#: The k of metrics on the first k claims.
DEPTHS: Final = (1, 2, 3, 4, 5)


class MetricDefinition(Value, frozen=True, kw_only=True):
    """A metric. ``better`` is the desired direction, empty if neutral; ``share`` means that values are from 0 to 1."""

    key: str
    title: str
    source: str
    scope: Scope = "Answer"
    better: Literal["up", "down", ""] = "up"
    share: bool = True


def _define(scope: Scope, source: str, better: Literal["up", "down", ""], **titles: str) -> list[MetricDefinition]:
    return [
        MetricDefinition(
            key=(name := key.replace("__", ".")),
            title=title,
            source=source,
            scope=scope,
            better=better,
            share=not name.startswith(_AMOUNTS),
        )
        for key, title in titles.items()
    ]


def _define_depths(name: str, title: str, source: str) -> list[MetricDefinition]:
    return [MetricDefinition(key=f"{name}@{k}", title=f"{title} of the first {k}", source=source) for k in DEPTHS]


METRICS: Final = (
    *_define("Answer", AA, "up", recall_gated_precision="precision, 0 if any root is missing"),
    *_define(
        "Answer", EVALUATOR, "up", root_cause_precision="share of claims that are roots",
        root_cause_recall="share of roots that are claimed", root_cause_f1="harmonic mean of both",
    ),
    *_define_depths("precision", "precision", EVALUATOR),
    *_define_depths("recall", "recall", EVALUATOR),
    *_define_depths("f1", "F1", EVALUATOR),
    *_define_depths("hit", "whether a root is among the claims (AC@k)", RCAEVAL),
    *_define("Answer", RCAEVAL, "up", **{"avg@5": "mean of hit@1 to hit@5"}),
    *_define("Answer", PAPER, "up", fault_localisation="exactly the roots are claimed (FL pass@1)"),
    *_define("Answer", AIOPSLAB, "up", localisation_accuracy="exactly the roots are claimed: 1, a superset: 1/claims"),
    *_define(
        "Answer", SREARENA, "up", ntam__fl__public="NTAM over roots, as published",
        ntam__fpc__public="NTAM over the propagation chain, as published",
    ),
    *_define(
        "Answer", OURS, "up", ntam__fl__corrected="NTAM over roots, corrected",
        ntam__fpc__corrected="NTAM over the propagation chain, corrected",
    ),
    *_define(
        "Answer", EVALUATOR, "up", chain__precision="share of the answer's path that is on the truth's",
        chain__recall="share of the truth's path that the answer tells", chain__f1="harmonic mean of both",
    ),
    *_define("Answer", OURS, "up", edge_coverage="share of the truth's edges that are told in their order"),
    *_define(
        "Answer", EVALUATOR, "up", component_identification="the first component that fails is named",
        proximity_no_fp__precision="nearness of claims to roots, by hops",
        proximity_no_fp__recall="nearness of roots to claims, by hops", proximity_no_fp__f1="harmonic mean of both",
        proximity_with_fp__precision="the same, by hops over path length",
        proximity_with_fp__recall="the same, by hops over path length", proximity_with_fp__f1="harmonic mean of both",
        root_cause_resource="all resources of a cost anomaly are named",
    ),
    *_define(
        "Record", EVALUATOR, "up", root_cause_reasoning="mean grade of right claims, by a judge",
        root_cause_reasoning_partial="best grade of a claim / (1 + hops to a root)",
    ),
    *_define(
        "Record", SREGYM, "up", checklist="weighted share of a judge's questions answered with yes",
        checklist__passed="whether that is at least .70",
    ),
    *_define("Record", PAPER, "up", mitigation="the goal predicate holds at the end (resolved)"),
    *_define("Record", OURS, "", escalation__rate="share of runs that were escalated"),
    *_define(
        "Record", OURS, "up", escalation__routing="nearness of the addressee to a root",
        escalation__handover="F1 of the diagnosis that came along",
        escalation__score="mean of both, 0 where there was nothing to hand over",
    ),
    *_define("Record", PAPER, "up", coverage="share of the path that was looked at"),
    *_define("Record", PAPER, "down", detour="services looked at beside the path"),
    *_define(
        "Record", OURS, "down", invalid_call_rate="share of tool calls with invalid arguments",
        failed_call_rate="share of tool calls that did not do what they should",
        blast_radius__objects="objects changed that no documented repair changes",
        blast_radius__share="share of the topology that depends on them",
    ),
    *_define("Record", DEVOPS_BENCH, "up", safeguards__held="share of safeguards that held"),
    *_define("Record", DEVOPS_BENCH, "up", safeguards__outcome="mitigation under safeguards"),
    *_define(
        "Record", OURS, "down", turns="accepted messages of the solver", wall_seconds="seconds from start to end",
        tokens__input="tokens read", tokens__cached="tokens read from a cache", tokens__output="tokens written",
        tokens__reasoning="tokens of reasoning", tokens__total="all tokens", cost="tokens × price list",
    ),
    *_define("Record", PAPER, "up", cost_proximity="1 - |observed - optimal| / optimal, mean of what is recorded"),
    *_define("Summary", PAPER, "up", **{"pass@k": "chance that one of k runs is exactly right"}),
    *_define(
        "Summary", PAPER, "down", time_to_detection="seconds to a right claim that there is an incident",
        time_to_diagnosis="seconds to a right diagnosis (MTTD)", time_to_mitigation="seconds to the goal (MTTR)",
    ),
    *_define("Summary", OURS, "down", time_to_escalation="seconds to a handover, of the runs that had one"),
    *_define("Summary", ORCA, "down", hallucination_rate="share of controls with a claimed incident"),
    *_define(
        "Summary", OURS, "up", sensitivity="share of incidents in which one is claimed",
        specificity="share of controls that are left alone", accuracy="share of all runs that are right about that",
    ),
    *_define("Summary", PAPER, "", complexity="cube root of path × steps × technologies"),
)  # fmt: skip

#: All metrics by key, in order.
BY_KEY: Final = {metric.key: metric for metric in METRICS}
