"""Experiments that hit only some of a workload's pods, such as one bad replica of three."""

from __future__ import annotations

from typing import Final

import msgspec

from scenario_kit.model import Fault, Object
from scenario_kit.model.authored.scenario import FaultUse
from scenario_kit.render.templating.authoring_error import build_error

_MODE: Final = "fixed"


def measure_share(use: FaultUse, workload: Object | None) -> float:
    """Return the share of the target's pods that a fault hits; 1 unless the scenario limits their number.

    Raises:
        AuthoringError: the target has no such number of pods, or none that could be spared.
    """
    if use.replicas is None:
        return 1.0
    whole = (workload or {}).get("spec", {}).get("replicas", 1) if (workload or {}).get("kind") != "DaemonSet" else 0
    if not whole:
        raise build_error(
            "SK304",
            f"fault '{use.name}': nothing says how many pods {use.target} has",
            expected="a Deployment or StatefulSet as the target",
            fix="remove `replicas`",
        )
    if use.replicas >= whole:
        raise build_error(
            "SK304",
            f"fault '{use.name}' hits {use.replicas} of the pods of {use.target}, which has {whole}",
            observed=f"replicas: {use.replicas}",
            expected=f"fewer than {whole}" if whole > 1 else "a target of several pods",
            fix="remove `replicas`, or give the app more pods of it by its options",
        )
    return use.replicas / whole


def limit_replicas(fault: Fault, use: FaultUse) -> Fault:
    """Restrict each experiment of a fault to ``use.replicas`` pods, the oldest first.

    Chaos Mesh would draw them; a trial binds an experiment to the oldest (``changes.chaos``), so that every repeat hits
    one that is as old. Pods of one workload do not differ in anything else.

    Raises:
        AuthoringError: the fault changes what all pods have in common, or draws pods anew each time that it recurs.
    """
    if use.replicas is None:
        return fault
    if len(fault.experiments) != len(fault.changes) or use.recurrence is not None:
        what = "draws its pods anew each time that it recurs" if use.recurrence else "changes all pods alike"
        raise build_error(
            "SK304",
            f"fault '{fault.name}': {fault.type} {what}",
            observed=f"replicas: {use.replicas}",
            expected="a fault that consists of Chaos Mesh experiments, without `recurrence`",
            fix="remove `replicas`",
        )

    def limit(experiment: Object) -> Object:
        return {**experiment, "spec": {**experiment["spec"], "mode": _MODE, "value": str(use.replicas)}}

    return msgspec.structs.replace(fault, changes=tuple(change.edit_manifest(limit) for change in fault.changes))
