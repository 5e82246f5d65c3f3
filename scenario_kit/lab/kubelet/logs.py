"""Container logs as files in CRI format, and the KWOK objects that serve them to ``kubectl logs``."""

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
        root: an absolute path, created if missing; KWOK reads the files under it.
        limit_bytes: the maximum size of one file.
        listener: called with namespace, pod, container and the lines of each write, in the writing thread.
    """

    def __init__(self, root: Path, limit_bytes: int = LIMIT_BYTES, listener: Listener | None = None) -> None:
        self._root = root.resolve()
        self._limit = limit_bytes
        self._listener = listener
        self._folders: dict[tuple[str, str], Path] = {}
        self._lock = threading.Lock()

    def add(self, pod: Object) -> Object:
        """Create a pod's log directory; return its ClusterLogs object."""
        meta, spec = pod["metadata"], pod["spec"]
        folder = self._root / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"
        names = [c["name"] for c in [*(spec.get("initContainers") or ()), *spec["containers"]]]
        with self._lock:
            self._folders[(meta["namespace"], meta["name"])] = folder
            for name in names:
                (folder / name).mkdir(parents=True, exist_ok=True)
                (folder / name / _CURRENT).touch()
        return {
            "apiVersion": "kwok.x-k8s.io/v1alpha1",
            "kind": "ClusterLogs",
            "metadata": {"name": make_object_name(meta["uid"])},
            "spec": {
                "selector": {"matchNamespaces": [meta["namespace"]], "matchNames": [meta["name"]]},
                "logs": [
                    {
                        "containers": [name],
                        "logsFile": str(folder / name / _CURRENT),
                        "previousLogsFile": str(folder / name / _PREVIOUS),
                        "follow": True,
                    }
                    for name in names
                ],
            },
        }

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

    def remove(self, pod: Object) -> str:
        """Delete the logs of a pod; return the name of its ClusterLogs object."""
        meta = pod["metadata"]
        folder = self._root / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"
        with self._lock:
            if self._folders.get((meta["namespace"], meta["name"])) == folder:
                del self._folders[(meta["namespace"], meta["name"])]
            if folder.exists():
                shutil.rmtree(folder)
        return make_object_name(meta["uid"])

    def prune(self, uids: Collection[str]) -> list[str]:
        """Delete the logs of all other pods; return the names of their ClusterLogs objects."""
        dropped = []
        with self._lock:
            for folder in sorted(self._root.glob("*_*_*")):
                uid = folder.name.rsplit("_", 1)[1]
                if uid not in uids:
                    shutil.rmtree(folder)
                    dropped.append(make_object_name(uid))
            self._folders = {key: folder for key, folder in self._folders.items() if folder.exists()}
        return dropped


def make_object_name(uid: str) -> str:
    """Make the name of the ClusterLogs object of a pod."""
    return f"pod-{uid}"


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
