"""File use and mounts of a container, for faults of file systems."""

from __future__ import annotations

from typing import Any

from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.image import matches_image
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.twin.store import DiskModel

#: Volume types with configuration, which programs read once at startup.
_FIXED = ("configMap", "secret", "projected", "downwardAPI")


def describe_files(app: App, component: str, workload: Object, container: Object) -> dict[str, Any]:
    """Describe the mounts of a container and how its requests depend on files.

    ``mounts`` lists mount paths, ``mount`` the one that holds the program's data (may be empty). Requests are affected
    by slow files (``slow``), failing file operations (``fails``), corrupt reads (``reads``) or failing opens
    (``opens``). Unless requests access files directly (``used``), failures only show at the next periodic save.

    Volumes declared by the image count as mounts. The app's twin describes file use; without a twin, all effects are
    assumed possible.
    """
    pod = read_pod_spec(workload)
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
