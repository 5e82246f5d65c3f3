"""Ground truth files, kept outside the snapshot: ITBench's two versions, and a complete one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import yaml

from scenario_kit.model import ScenarioSpec
from scenario_kit.scoring.files.itbench_truth import build_truth_v1, build_truth_v2
from scenario_kit.scoring.files.scenario_truth import build_scenario_truth
from scenario_kit.scoring.files.truths import OWN_FILE
from scenario_kit.snapshot.canonical.names import NameMap
from scenario_kit.snapshot.recording import Recording

V1_FILE: Final = "ground_truth.yaml"
V2_FILE: Final = "ground_truth_v2.yaml"


def write_truth(folder: Path, name: str, spec: ScenarioSpec, recording: Recording, names: NameMap) -> None:
    """Write the three ground truth files, with the names of the snapshot."""
    runbook = recording.runbook
    namespace = names.find(runbook.namespace)
    truth = build_scenario_truth(name, spec, runbook.ground_truth, runbook.faults, namespace)
    for file, document in ((V1_FILE, build_truth_v1(truth)), (V2_FILE, build_truth_v2(truth))):
        renamed = json.loads(names.rename(json.dumps(document)))
        (folder / file).write_text(yaml.safe_dump(renamed, sort_keys=False, allow_unicode=True), encoding="utf-8")
    own = names.rename(json.dumps(_describe_truth(name, spec, recording), indent=2, sort_keys=True))
    (folder / OWN_FILE).write_text(own + "\n", encoding="utf-8")


def _describe_truth(name: str, spec: ScenarioSpec, recording: Recording) -> dict[str, Any]:
    runbook = recording.runbook
    return {
        "name": name,
        "scenario": runbook.scenario,
        "title": spec.title,
        "brief": spec.brief.strip(),
        "namespaces": list(runbook.everywhere),
        "digest": runbook.digest,
        "outcome": runbook.outcome,
        "seed": recording.seed,
        "groundTruth": runbook.ground_truth.to_json(),
        "expect": runbook.expect.to_json(),
        "faults": [
            {"name": f.name, "type": f.type, "version": f.version, "digest": f.digest, "injectedAfterSeconds": seconds}
            for f in runbook.faults
            for seconds in [_count_seconds(recording, f.name)]
        ],
        "solutions": [p.to_json() for p in runbook.procedures if p.use == "Solution"],
    }


def _count_seconds(recording: Recording, fault: str) -> float | None:
    """Return the seconds from the start of the recording to a fault's injection; None if it was not injected."""
    at = recording.injections.get(fault)
    return None if at is None else at - recording.start
