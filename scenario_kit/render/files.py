"""Which files a container works with, and where volumes are mounted in it: what faults in file systems can bite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_kit.model import App, Object
from scenario_kit.model.image import like

#: Volumes of these kinds hold configuration: programs read them once, when they start.
_FIXED = ("configMap", "secret", "projected", "downwardAPI")


def files(app: App, component: str, workload: Object, container: Object) -> dict[str, Any]:
    """``mounts`` of the container, ``mount`` at which it has the files it works with (or an empty text), and what of
    that its requests notice: that files are slow (``slow``), that they fail (``fails``), that other bytes are read
    (``reads``) or that they cannot be opened (``opens``). Where none of them is ``used`` by a request itself, failures
    show only when the program next saves what it holds, so that a fresh one serves for a while.

    An image may declare volumes, at which containerd mounts a directory of the container's own. What a program does
    with files is known from the app's twin; of an app without one, everything may be so.
    """
    pod = workload["spec"]["template"]["spec"]
    fixed = {v["name"] for v in pod.get("volumes") or () if any(kind in v for kind in _FIXED)}
    own = [m for m in container.get("volumeMounts") or () if "subPath" not in m]
    mounts = [str(m["mountPath"]) for m in own]
    if app.twin is None:
        free = [str(m["mountPath"]) for m in own if m["name"] not in fixed and not m.get("readOnly")]
        told = dict.fromkeys(("slow", "fails", "reads", "opens", "used"), True)
        return {"mounts": mounts, "mount": free[0] if free else "", **told}
    model: Mapping[str, Any] = (app.twin.get("components") or {}).get(component) or {}
    if not like(str(container.get("image")), str(model.get("image"))):
        model = {}
    disk: Mapping[str, Any] = model.get("disk") or {}
    mounts += [path for path in disk.get("volumes") or () if path not in mounts]
    directory = str(disk.get("directory") or "")
    around = [path for path in mounts if directory == path or directory.startswith(path.rstrip("/") + "/")]
    used = list(_accesses(model))
    waited = [access for access in used if access.get("waits", True)]
    return {
        "mounts": mounts,
        "mount": max(around, key=len, default=""),
        "slow": bool(waited),
        "fails": bool(used) or "snapshots" in disk,
        "reads": any(access.get("wrong") for access in waited),
        "opens": any("open" in access["methods"] for access in waited),
        "used": bool(used),
    }


def _accesses(model: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for operation in (model.get("operations") or {}).values():
        yield from operation.get("files") or ()
