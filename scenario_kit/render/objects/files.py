"""Which files a container works with, and where volumes are mounted in it: what faults in file systems can bite."""

from __future__ import annotations

from typing import Any

from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.image import matches_image
from scenario_kit.model.twin.store import DiskModel

#: Volumes of these kinds hold configuration: programs read them once, when they start.
_FIXED = ("configMap", "secret", "projected", "downwardAPI")


def describe_files(app: App, component: str, workload: Object, container: Object) -> dict[str, Any]:
    """Describe ``mounts`` of the container, ``mount`` at which it has the files it works with (or an empty text), and
    what of that its requests notice: that files are slow (``slow``), that they fail (``fails``), that other bytes are
    read (``reads``) or that they cannot be opened (``opens``). Where none of them is ``used`` by a request itself,
    failures show only when the program next saves what it holds, so that a fresh one serves for a while.

    An image may declare volumes, at which containerd mounts a directory of the container's own. What a program does
    with files is known from the app's twin; of an app without one, everything may be so.
    """
    pod = workload["spec"]["template"]["spec"]
    fixed = {v["name"] for v in pod.get("volumes") or () if any(kind in v for kind in _FIXED)}
    own = [m for m in container.get("volumeMounts") or () if "subPath" not in m]
    mounts = [str(m["mountPath"]) for m in own]
    if app.twin is None:
        free = [str(m["mountPath"]) for m in own if m["name"] not in fixed and not m.get("readOnly")]
        reported = dict.fromkeys(("slow", "fails", "reads", "opens", "used"), True)
        return {"mounts": mounts, "mount": free[0] if free else "", **reported}
    model = app.twin.components.get(component)
    if model is not None and not matches_image(str(container.get("image")), model.image):
        model = None
    disk = model.disk if model is not None else DiskModel()
    mounts += [path for path in disk.volumes if path not in mounts]
    directory = disk.directory
    around = [path for path in mounts if directory == path or directory.startswith(path.rstrip("/") + "/")]
    used = [access for operation in (model.operations.values() if model else ()) for access in operation.files]
    waited = [access for access in used if access.blocking]
    return {
        "mounts": mounts,
        "mount": max(around, key=len, default=""),
        "slow": bool(waited),
        "fails": bool(used) or disk.snapshots is not None,
        "reads": any(access.corrupt_response for access in waited),
        "opens": any("open" in access.methods for access in waited),
        "used": bool(used),
    }
