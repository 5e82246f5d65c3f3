"""Reset of the cluster to its baseline without a restart of the control plane.

Deletion through the API server would wait for finalizers, undo and the namespace controller. An API server restarted on
a copy of etcd's data would take as long as ``up``: revisions would decrease, so all watchers would have to restart. So
the difference is written to the running etcd: revisions increase, watchers see deletions, and only components that
remember trials (operator, lab server, Prometheus) are restarted.
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
from scenario_kit.lab.host.supervisor import locate_pki
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.model.results.trial import CAMPAIGN_LABEL

FILE = "baseline.msgpack"
_OURS = f"/registry/{GROUP}/".encode()
#: Restarted, as they remember trials.
_FORGETFUL = (prometheus.PART, process_specs.SERVER, process_specs.OPERATOR)
#: Their files: samples, the horizon of virtual time, logs of pods.
_LEFT = ("prometheus/data", "worlds.json", "pods")
_END_SECONDS = 10.0
_WORK_SECONDS = 180.0
_POLL_SECONDS = 0.02
#: Controllers may write once more before they observe a deletion; then the sweep is repeated.
_QUIET_SECONDS, _SWEEPS_SECONDS = 0.15, 15.0


def remember(state: LabState) -> None:
    """Save the current state of the cluster as the baseline for ``empty``."""
    etcd = Etcd(state.ports["etcd"], locate_pki(state))
    try:
        revision = max(etcd.revisions().values())
        found = etcd.under(b"/")
        # Read first: keys written in the meantime count as changed and are compared again.
        baseline.save(Path(state.folder) / FILE, baseline.StoreBaseline(revision, baseline.select_kept(found)))
    finally:
        etcd.close()


def empty(state: LabState, force: bool, start: Callable[..., LabState], say: Callable[[str], None]) -> LabState:
    """Empty a lab with all components running; ``start(state, *names)`` starts components.

    If interrupted, ``state.resetting`` stays set on disk, and the reset can be repeated.

    Raises:
        UsageError: a campaign is running, and ``force`` is not set; nothing was changed.
        LabError: there is no baseline, or a component does not respond.
    """
    before = baseline.load(Path(state.folder) / FILE)
    if before is None:
        raise LabError(
            f"lab {state.name!r} cannot be reset: it has no baseline",
            fix="scenario-kit lab down, then scenario-kit lab up",
        )
    etcd = Etcd(state.ports["etcd"], locate_pki(state))
    try:
        if not force:
            _refuse_while_busy(state, etcd.under(_OURS))
        state = msgspec.structs.replace(state, resetting=True)
        state.save()
        _end(state, [state.part(name) for name in _FORGETFUL])
        removed = sweep(etcd, before, thorough=True)
        for left in _LEFT:
            _remove(Path(state.folder) / left)
        # No samples are left, so virtual time may start as late as in a new lab: a lab does not wear out.
        state = msgspec.structs.replace(state, epoch=process_specs.choose_epoch(time.time()))
        state.save()
        for name in _FORGETFUL:
            part = state.part(name)
            assert part is not None, name
            supervisor.await_free(part)
        state = start(state, *_FORGETFUL)
        removed += _sweep_until_clean(etcd, before)
        supervisor.HealthProbe(state).wait(state.list_started(), _WORK_SECONDS)
        removed += _sweep_until_clean(etcd, before)
    finally:
        etcd.close()
    state = msgspec.structs.replace(state, resetting=False)
    state.save()
    say(f"{removed} objects removed")
    return state


def sweep(etcd: Etcd, before: baseline.StoreBaseline, *, thorough: bool = False) -> int:
    """Delete extra keys and restore missing or (``thorough``) modified ones; return the number of deletions."""
    found = etcd.revisions()
    newer = [key for key, revision in found.items() if revision > before.revision and key in before.values]
    desired = baseline.plan_restoration(before.values, found, etcd.values(newer) if thorough else {})
    if desired:
        etcd.write(desired.delete, {key: before.values[key] for key in desired.restore})
    return desired.extra


def list_busy(objects: Mapping[bytes, bytes]) -> list[str]:
    """List the unfinished campaigns among the objects of our API group; live scenarios do not count."""
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
            f"lab {state.name!r} is busy: {', '.join(campaigns)}",
            fix="wait until they have ended, or use --force: their trials are lost, and repeated by a running command",
        )


def _sweep_until_clean(etcd: Etcd, before: baseline.StoreBaseline) -> int:
    """Sweep until nothing reappears; return the number of deletions."""
    deadline, removed = time.monotonic() + _SWEEPS_SECONDS, 0
    while found := sweep(etcd, before):
        removed += found
        if time.monotonic() > deadline:
            raise LabError("objects reappear as fast as they are removed", fix="scenario-kit lab down, then lab up")
        time.sleep(_QUIET_SECONDS)
    return removed


def _end(state: LabState, parts: list[ProcessState | None]) -> None:
    """Kill processes: their state is to be discarded."""
    ending = [part.pid for part in parts if part is not None and part.pid and state.alive(part)]
    for pid in ending:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _END_SECONDS
    while not all(procfs.has_ended(pid) for pid in ending):
        if time.monotonic() > deadline:
            raise LabError(f"processes {ending} of lab {state.name!r} do not exit")
        for pid in ending:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(_POLL_SECONDS)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
