"""Kopf handlers. They only dispatch; decisions are made elsewhere.

Rules followed (docs/architecture.md): handlers are registered explicitly, return nothing, and raise temporary errors
only, because a permanent one on deletion would drop the finalizer with a fault still in force.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import kopf

from operators.scenario.environment import Environment
from operators.scenario.reconcile import SCENARIO_LABEL, reconcile, release
from operators.scenario.trial_runner import TrialRun, show_blocked
from operators.scenario.validations import Validations
from operators.scenario.wakeups import Wakeups
from scenario_kit.errors import ScenarioKitError
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.results.trial import VALIDATION_LABEL

log = logging.getLogger(__name__)
_T = TypeVar("_T")
_GROUP: Final = (GROUP, "v1alpha1")
_RETRY_SECONDS: Final = 3.0


class LeanDiffBase(kopf.AnnotationsDiffBaseStorage):
    """Omits large spec fields from the last-handled state: annotations are limited to 256 KiB, and no handler uses the
    diff.
    """

    def build(self, *, body: kopf.Body, extra_fields: Any = None) -> kopf.BodyEssence:
        """Return the object's essence without its large fields."""
        essence = super().build(body=body, extra_fields=extra_fields)
        spec = dict(essence.get("spec") or {})
        for large in ("resolved", "embedded", "faultTypes"):
            spec.pop(large, None)
        essence["spec"] = spec
        return essence


def configure(settings: kopf.OperatorSettings) -> None:
    """Set annotation and finalizer names, and enough threads for parallel trials."""
    settings.persistence.finalizer = "scenariokit.io/undo"
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix="kopf.scenariokit.io")
    settings.persistence.diffbase_storage = LeanDiffBase(prefix="kopf.scenariokit.io", key="last-handled")
    settings.execution.max_workers = 64
    settings.networking.request_timeout = 30
    settings.posting.enabled = False
    settings.peering.standalone = True
    # A trial is often deleted right after it ended, while its thread is still exiting.
    settings.background.instant_exit_timeout = 0.3
    settings.background.cancellation_polling = 0.5


def register(registry: kopf.OperatorRegistry, environment: Environment) -> None:
    """Register the handlers of all kinds."""

    @kopf.on.startup(registry=registry)
    def startup(settings: kopf.OperatorSettings, **_: Any) -> None:
        configure(settings)

    @kopf.on.login(registry=registry)
    def login(**kwargs: Any) -> Any:
        return kopf.login_via_client(**kwargs)

    wakeups = Wakeups()
    count_errors = environment.measurements.count_errors

    validations = Validations(environment)
    owners = (
        TrialOwner("Scenario", SCENARIO_LABEL, partial(reconcile, environment), partial(release, environment)),
        TrialOwner("Validation", VALIDATION_LABEL, validations.reconcile, validations.release),
    )
    for owner in owners:
        _register_owner(registry, environment, wakeups, owner)

    @kopf.on.event(*_GROUP, "trials", id="wake", registry=registry)
    async def trial_changed(namespace: str | None, labels: kopf.Labels, **_: Any) -> None:
        for owner in owners:
            wakeups.wake(owner.kind, f"{namespace or ''}/{labels.get(owner.label)}")

    @kopf.daemon(*_GROUP, "trials", id="run", registry=registry)
    def trial(name: str, stopped: kopf.DaemonStopped, **_: Any) -> None:
        _retry_on_error(count_errors("trial", TrialRun(environment, name, lambda: bool(stopped)).execute))

    @kopf.on.delete(*_GROUP, "trials", id="undo", registry=registry)
    def trial_deleted(name: str, **_: Any) -> None:
        blocked = _retry_on_error(count_errors("trial", TrialRun(environment, name, lambda: False).clean))
        if blocked:
            show_blocked(environment, name, blocked)
            raise kopf.TemporaryError(f"the undo is blocked: {'; '.join(blocked)}", delay=_RETRY_SECONDS)


class TrialOwner(NamedTuple):
    """A kind whose objects own trials; ``label`` names the owner on a trial.

    ``reconcile`` takes name and namespace and returns the wall time of the next due action. ``release`` deletes the
    trials of a terminating object and returns True once none is left.
    """

    kind: str
    label: str
    reconcile: Callable[[str, str], float | None]
    release: Callable[[str], bool]


def _register_owner(
    registry: kopf.OperatorRegistry, environment: Environment, wakeups: Wakeups, owner: TrialOwner
) -> None:
    """Register the handlers of a kind that owns trials: reconciliation, wake-up on a change, and deletion."""
    kind, singular = owner.kind, owner.kind.lower()
    resource = (*_GROUP, f"{singular}s")
    count_errors = environment.measurements.count_errors

    @kopf.daemon(*resource, id="reconcile", registry=registry)
    async def follow(name: str, namespace: str | None, stopped: kopf.DaemonStopped, **_: Any) -> None:
        reconcile_once = count_errors(singular, lambda: owner.reconcile(name, namespace or ""))
        await wakeups.follow(kind, f"{namespace or ''}/{name}", reconcile_once, _stop(stopped))

    @kopf.on.event(*resource, id="wake", registry=registry)
    async def wake(name: str, namespace: str | None, **_: Any) -> None:
        wakeups.wake(kind, f"{namespace or ''}/{name}")

    @kopf.on.delete(*resource, id="release", registry=registry)
    def delete(name: str, namespace: str | None, **_: Any) -> None:
        if namespace != environment.settings.management_namespace:
            return
        if not _retry_on_error(count_errors(singular, lambda: owner.release(name))):
            raise kopf.TemporaryError("its trials are being undone", delay=1.0)


def _stop(stopped: kopf.DaemonStopped) -> Callable[[float], Awaitable[bool]]:
    async def wait(seconds: float) -> bool:
        await stopped.wait(seconds)
        return bool(stopped)

    return wait


def _retry_on_error(call: Callable[[], _T]) -> _T:
    """Convert errors of a call into Kopf's temporary errors, so that every failure is retried."""
    try:
        return call()
    except ScenarioKitError as error:
        log.warning("%s", error)
        raise kopf.TemporaryError(str(error), delay=_RETRY_SECONDS) from error
