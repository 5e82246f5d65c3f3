"""Back to the cluster as it was when it came up, without starting the control plane again.

Deleting objects through the API server takes as long as finalizers, undo and the namespace controller take. Starting
the API server on an old copy of etcd's data would take as long as ``up``: revisions would go back, so everybody who
watches it would have to start again as well. So the difference is written into the running etcd: revisions go on,
watchers see deletions, and only what remembers trials (operator, lab server, Prometheus) is started again.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from scenario_kit.errors import LabError, UsageError
from scenario_kit.lab import baseline, process_specs
from scenario_kit.lab.control_plane import prometheus
from scenario_kit.lab.control_plane.etcd import Etcd
from scenario_kit.lab.host import procfs, supervisor
from scenario_kit.lab.host.state import LabState, ProcessState
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.results.trial import CAMPAIGN_LABEL

FILE = "baseline.msgpack"
_OURS = f"/registry/{GROUP}/".encode()
#: Started again, as each remembers trials.
_FORGETFUL = (prometheus.PART, process_specs.SERVER, process_specs.OPERATOR)
#: What these leave on disk: samples, how far virtual time was used up, logs of pods.
_LEFT = ("prometheus/data", "worlds.json", "pods")
_END_SECONDS = 10.0
_WORK_SECONDS = 180.0
_POLL_SECONDS = 0.02
#: Controllers that had not yet heard of a deletion may write something once more; then it is swept again.
_QUIET_SECONDS, _SWEEPS_SECONDS = 0.15, 15.0


def remember(state: LabState) -> None:
    """Write down how the cluster is now, the state to which ``empty`` returns."""
    etcd = Etcd(state.ports["etcd"])
    try:
        revision = max(etcd.revisions().values())
        found = etcd.under(b"/")
        # Taken before: what is written meanwhile counts as changed, which is looked at once more, not missed.
        baseline.save(Path(state.folder) / FILE, baseline.StoreBaseline(revision, baseline.select_kept(found)))
    finally:
        etcd.close()


def empty(state: LabState, force: bool, start: Callable[..., LabState], say: Callable[[str], None]) -> LabState:
    """Empty a lab whose parts all run; ``start(state, *names)`` starts parts.

    Cut short at any point, it leaves ``state.resetting`` set on disk and can be begun again.

    Raises:
        UsageError: a campaign runs, and ``force`` is not set; nothing was changed.
        LabError: there is no baseline, or something does not answer.
    """
    before = baseline.load(Path(state.folder) / FILE)
    if before is None:
        raise LabError(
            f"lab {state.name!r} cannot be reset: how it was when it came up was not written down",
            fix="scenario-kit lab down, then scenario-kit lab up",
        )
    etcd = Etcd(state.ports["etcd"])
    try:
        if not force:
            _refuse_while_busy(state, etcd.under(_OURS))
        state = msgspec.structs.replace(state, resetting=True)
        state.save()
        _end(state, [state.part(name) for name in _FORGETFUL])
        removed = sweep(etcd, before, thorough=True)
        for left in _LEFT:
            _remove(Path(state.folder) / left)
        # Nothing of the past is left, so virtual time may start as late as in a new lab: a lab does not wear out.
        state = msgspec.structs.replace(state, epoch=process_specs.choose_epoch(time.time()))
        state.save()
        for name in _FORGETFUL:
            part = state.part(name)
            assert part is not None, name
            supervisor.await_free(part)
        state = start(state, *_FORGETFUL)
        removed += _sweep_until_clean(etcd, before)
        supervisor.HealthProbe(state).wait([part.name for part in state.parts], _WORK_SECONDS)
        removed += _sweep_until_clean(etcd, before)
    finally:
        etcd.close()
    state = msgspec.structs.replace(state, resetting=False)
    state.save()
    say(f"{removed} objects removed")
    return state


def sweep(etcd: Etcd, before: baseline.StoreBaseline, *, thorough: bool = False) -> int:
    """Delete what is too much and put back what is missing, or (``thorough``) differs; how much was deleted."""
    found = etcd.revisions()
    newer = [key for key, revision in found.items() if revision > before.revision and key in before.values]
    desired = baseline.plan_restoration(before.values, found, etcd.values(newer) if thorough else {})
    if desired:
        etcd.write(desired.delete, {key: before.values[key] for key in desired.restore})
    return desired.extra


def list_busy(objects: Mapping[bytes, bytes]) -> list[str]:
    """List the campaigns that have not ended, from the objects of our own group. Scenarios that run live do
    not count.
    """
    found = set()
    for key, value in sorted(objects.items()):
        obj: Object = msgspec.json.decode(value)
        status, meta = obj.get("status") or {}, obj["metadata"]
        if b"/trials/" in key and CAMPAIGN_LABEL in meta.get("labels", {}) and not status.get("outcome"):
            found.add(str(meta["labels"][CAMPAIGN_LABEL]))
        if b"/validations/" in key and not status.get("verdict"):
            found.add(f"validation {meta['name']}")
    return sorted(found)


def _refuse_while_busy(state: LabState, objects: Mapping[bytes, bytes]) -> None:
    campaigns = list_busy(objects)
    if campaigns:
        raise UsageError(
            f"lab {state.name!r} is at work: {', '.join(campaigns)}",
            fix="wait until that has ended, or --force: its trials are lost, and begun again by whoever still runs it",
        )


def _sweep_until_clean(etcd: Etcd, before: baseline.StoreBaseline) -> int:
    """Sweep until nothing comes back; how much was deleted."""
    deadline, removed = time.monotonic() + _SWEEPS_SECONDS, 0
    while found := sweep(etcd, before):
        removed += found
        if time.monotonic() > deadline:
            raise LabError("objects come back as fast as they are removed", fix="scenario-kit lab down, then lab up")
        time.sleep(_QUIET_SECONDS)
    return removed


def _end(state: LabState, parts: list[ProcessState | None]) -> None:
    """End processes at once: what they hold is to be forgotten."""
    ending = [part.pid for part in parts if part is not None and part.pid and state.alive(part)]
    for pid in ending:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _END_SECONDS
    while not all(procfs.has_ended(pid) for pid in ending):
        if time.monotonic() > deadline:
            raise LabError(f"processes {ending} of lab {state.name!r} do not end")
        for pid in ending:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(_POLL_SECONDS)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
