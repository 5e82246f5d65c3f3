"""Many files are judged by several processes: no file needs another before all of them have been looked at."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from scenario_kit.catalog import Catalog
from scenario_kit.lint.evaluation.runner import Judged, judge_file

#: Fewer files are judged faster than further processes start.
_MANY: Final = 48
_CHUNK: Final = 12
#: Objects that may be made before rubbish is looked for; a file makes some thousands.
_RUBBISH: Final = 50_000
_TYPE: Final = re.compile(rb"\btype: *([a-z0-9-]+)")
_catalog: list[Catalog] = []


def judge_each(paths: Sequence[Path], catalog: Catalog) -> list[Judged]:
    """Return each file after the rules that need no other, in their order.

    Processes are forked, which only Linux does safely, so that they share what the catalogue has read.

    Raises:
        UsageError: there is no such file.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if len(paths) < _MANY or cores < 2:
        return [judge_file(path, None, catalog) for path in paths]
    import multiprocessing  # few files are not worth it
    from concurrent.futures import ProcessPoolExecutor

    if multiprocessing.current_process().daemon:
        return [judge_file(path, None, catalog) for path in paths]
    for path in paths[:1]:
        judge_file(path, None, catalog)  # what all of them need is read before there are several
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(cores, mp_context=fork, initializer=_begin, initargs=(catalog,))
    order = sorted(range(len(paths)), key=lambda i: _breaks(paths[i]))
    try:
        found = dict(zip(order, pool.map(_judge_one, [paths[i] for i in order], chunksize=_CHUNK), strict=True))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [found[i] for i in range(len(paths))]


def _breaks(path: Path) -> list[bytes]:
    """Return the types of fault that a file seems to use: those of the same go to one process, which compiles each
    once.
    """
    try:
        return _TYPE.findall(path.read_bytes())
    except OSError:
        return []  # said where it is judged


def _begin(catalog: Catalog) -> None:
    # What the catalogue has read stays until the end: looking through it for rubbish again and again takes a tenth of
    # the time, and makes copies of memory that is shared.
    gc.freeze()
    gc.set_threshold(_RUBBISH)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is asked to stop is the process that started this one
    _catalog.append(catalog)


def _judge_one(path: Path) -> Judged:
    return judge_file(path, None, _catalog[-1])
