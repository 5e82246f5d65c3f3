"""Check many files in several processes: files are independent until they are compared."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.lint.context.discovery import add_own_root
from scenario_kit.lint.evaluation.runner import Judged, judge_file

#: With fewer files, starting processes takes longer than it saves.
_MIN_PARALLEL: Final = 48
_CHUNK: Final = 12
#: Allocations before garbage collection; a file makes some thousands.
_GC_THRESHOLD: Final = 50_000
_TYPE: Final = re.compile(rb"\btype: *([a-z0-9-]+)")
_catalog: list[Catalog] = []
_NO_CATALOG: Final = Catalog(())


class _Result(NamedTuple):
    """The result for a file; ``own_catalog`` if it was checked with fault types or a collection of its own."""

    judged: Judged
    own_catalog: bool = False


def judge_each(paths: Sequence[Path], catalog: Catalog) -> list[Judged]:
    """Apply the rules about single files, and return the results in order.

    Processes are forked, so that they share what the catalogue has read; only Linux does that safely.

    Raises:
        UsageError: there is no such file.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if len(paths) < _MIN_PARALLEL or cores < 2:
        return [judge_file(path, None, catalog) for path in paths]
    import multiprocessing  # few files are not worth it
    from concurrent.futures import ProcessPoolExecutor

    if multiprocessing.current_process().daemon:
        return [judge_file(path, None, catalog) for path in paths]
    for path in paths[:1]:
        judge_file(path, None, catalog)  # load shared data before forking
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(cores, mp_context=fork, initializer=_init_worker, initargs=(catalog,))
    order = sorted(range(len(paths)), key=lambda i: _list_fault_types(paths[i]))
    try:
        found = dict(zip(order, pool.map(_judge_one, [paths[i] for i in order], chunksize=_CHUNK), strict=True))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [_attach(found[i], catalog) for i in range(len(paths))]


def _list_fault_types(path: Path) -> list[bytes]:
    """Return the fault types that a file seems to use; files that share them go to one process, which compiles each
    once.
    """
    try:
        return _TYPE.findall(path.read_bytes())
    except OSError:
        return []  # reported when the file is checked


def _init_worker(catalog: Catalog) -> None:
    # What the catalogue has read stays until the end: collecting it again and again takes a tenth of the time, and
    # copies shared memory.
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles interrupts
    _catalog.append(catalog)


def _judge_one(path: Path) -> _Result:
    """Check one file; a catalogue is not passed between processes, as that takes as long as the check."""
    judged, shared = judge_file(path, None, _catalog[-1]), _catalog[-1]
    if judged.case is None:
        return _Result(judged)
    own = judged.case.catalog is not shared
    return _Result(judged._replace(case=replace(judged.case, catalog=_NO_CATALOG)), own)


def _attach(result: _Result, catalog: Catalog) -> Judged:
    """Give a result the catalogue that was removed for passing it on."""
    case = result.judged.case
    if case is None:
        return result.judged
    if result.own_catalog:
        catalog = add_own_root(case.path, catalog).extend(case.scenario.spec.fault_types)
    return result.judged._replace(case=replace(case, catalog=catalog))
