"""Trial objects in the cluster: parse, list and delete them, and write their status and that of their owners."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from operators.scenario.environment import Environment
from scenario_kit.campaign.trial_store import read_status
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.errors import NotFound
from scenario_kit.model import Object, Reference, TrialSpec
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.trial import make_trial_reference
from scenario_kit.ports import Cluster
from scenario_kit.trial import TrialStatus

log = logging.getLogger(__name__)


def read_trial(trial: Object) -> tuple[TrialSpec, TrialStatus]:
    """Parse the spec and status of a Trial object."""
    return TrialSpec.from_json(trial["spec"]), read_status(trial)


def list_trials(environment: Environment, label: str = "", owner: str = "") -> list[Object]:
    """List the trials whose ``label`` names ``owner``; without a label, all."""
    labels = {label: owner} if label else None
    return environment.cluster.list("Trial", environment.settings.management_namespace, group=GROUP, labels=labels)


def delete_trials(environment: Environment, trials: Iterable[Object]) -> None:
    """Delete trials; their finalizers undo them first."""
    for trial in trials:
        if not is_terminating(trial):
            name, namespace = trial["metadata"]["name"], environment.settings.management_namespace
            environment.cluster.delete(make_trial_reference(name, namespace))


def delete_records(environment: Environment, trial: str) -> None:
    """Delete receipts, baseline and evidence of a trial once all of its changes are undone."""
    namespace = environment.settings.management_namespace
    for kind in ("ConfigMap", "Secret"):
        for obj in environment.cluster.list(kind, namespace, labels={TRIAL_LABEL: trial}):
            environment.cluster.delete(Reference(kind, obj["metadata"]["name"], namespace))


def write_status(cluster: Cluster, ref: Reference, status: Object) -> bool:
    """Replace the status of an object; return False if the object was deleted in the meantime."""
    try:
        cluster.patch(ref, [{"op": "add", "path": "/status", "value": status}], "Json", subresource="status")
    except NotFound:
        log.info("%s was deleted in the meantime", ref)
        return False
    return True
