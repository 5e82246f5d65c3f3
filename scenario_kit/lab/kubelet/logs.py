"""Container logs as files in CRI format."""

from __future__ import annotations

import shutil
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from scenario_kit.lab.kubelet.pod import times
from scenario_kit.model.base import Object

#: A log is cut to its newer half beyond this size.
LIMIT_BYTES = 1 << 20
_CURRENT, _PREVIOUS = "current.log", "previous.log"
#: Takes namespace, pod, container and lines.
Listener = Callable[[str, str, str, Iterable[tuple[float, str]]], None]


class LogFolder:
    """The logs of a lab: ``<root>/<namespace>_<pod>_<uid>/<container>/{current,previous}.log``. Thread-safe.

    Args:
        root: an absolute path, created if missing.
        limit_bytes: the maximum size of one file.
        listener: called with namespace, pod, container and the lines of each write, in the writing thread.
    """

    def __init__(self, root: Path, limit_bytes: int = LIMIT_BYTES, listener: Listener | None = None) -> None:
        self._root = root.resolve()
        self._limit = limit_bytes
        self._listener = listener
        self._folders: dict[tuple[str, str], Path] = {}
        self._lock = threading.Lock()

    def add(self, pod: Object) -> None:
        """Create a pod's log directory."""
        meta, spec = pod["metadata"], pod["spec"]
        folder = self._locate_folder(pod)
        names = [c["name"] for c in [*(spec.get("initContainers") or ()), *spec["containers"]]]
        with self._lock:
            self._folders[(meta["namespace"], meta["name"])] = folder
            for name in names:
                (folder / name).mkdir(parents=True, exist_ok=True)
                (folder / name / _CURRENT).touch()

    def locate(self, pod: Object, container: str, *, previous: bool = False) -> Path:
        """Locate the log of a container, which may not exist; ``previous`` is that of the instance before."""
        return self._locate_folder(pod) / container / (_PREVIOUS if previous else _CURRENT)

    def begin(self, namespace: str, pod: str, container: str, attempt: int) -> None:
        """Start the log of a container instance; the current log becomes the previous one."""
        with self._lock:
            folder = self._folders.get((namespace, pod))
            if folder is None:
                return
            current = folder / container / _CURRENT
            if attempt > 0 and current.exists():
                current.replace(folder / container / _PREVIOUS)
            current.write_bytes(b"")

    def append(self, namespace: str, pod: str, container: str, lines: Iterable[tuple[float, str]]) -> bool:
        """Append lines (seconds since the epoch, text) to a container's log; False if the pod is gone."""
        with self._lock:
            folder = self._folders.get((namespace, pod))
            if folder is None or not (folder / container).is_dir():
                return False
            parts = [(at, part) for at, text in lines for part in text.split("\n")]
            data = b"".join(f"{times.format_rfc3339_nano(at)} stdout F {part}\n".encode() for at, part in parts)
            file = folder / container / _CURRENT
            with file.open("ab") as stream:
                stream.write(data)
                size = stream.tell()
            if size > self._limit:
                _trim_half(file, self._limit // 2)
        if self._listener is not None:
            self._listener(namespace, pod, container, parts)
        return True

    def remove(self, pod: Object) -> None:
        """Delete the logs of a pod."""
        meta = pod["metadata"]
        folder = self._locate_folder(pod)
        with self._lock:
            if self._folders.get((meta["namespace"], meta["name"])) == folder:
                del self._folders[(meta["namespace"], meta["name"])]
            if folder.exists():
                shutil.rmtree(folder)

    def prune(self, uids: Collection[str]) -> None:
        """Delete the logs of all other pods."""
        with self._lock:
            for folder in sorted(self._root.glob("*_*_*")):
                if folder.name.rsplit("_", 1)[1] not in uids:
                    shutil.rmtree(folder)
            self._folders = {key: folder for key, folder in self._folders.items() if folder.exists()}

    def _locate_folder(self, pod: Object) -> Path:
        meta = pod["metadata"]
        return self._root / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"


def _trim_half(file: Path, keep: int) -> None:
    """Keep the last whole lines that fit; open readers keep the old file."""
    lines: deque[bytes] = deque()
    size = 0
    for line in reversed(file.read_bytes().splitlines(keepends=True)):
        size += len(line)
        if size > keep:
            break
        lines.appendleft(line)
    shorter = file.with_suffix(".new")
    shorter.write_bytes(b"".join(lines))
    shorter.replace(file)
