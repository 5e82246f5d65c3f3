"""Container facts for file system faults: mounts, files, and affected requests."""

from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model import App, Component, Reference
from scenario_kit.model.twin import decode
from scenario_kit.render.objects.files import describe_files

_SLOW = {"file": "log", "methods": ["write"]}
_MOUNTS = [{"name": "data", "mountPath": "/d"}, {"name": "conf", "mountPath": "/etc/x"}]
_PART = {"name": "data", "mountPath": "/part", "subPath": "p"}
_VOLUMES = [{"name": "data", "emptyDir": {}}, {"name": "conf", "configMap": {"name": "x"}}]


def _files(twin: dict[str, Any] | None, *mounts: dict[str, Any], image: str = "example.org/box:1") -> dict[str, Any]:
    app = App(
        name="tiny", version="1", namespace="tiny", entry="box", twin=None if twin is None else decode(twin),
        components=(Component(name="box", workload=Reference("Deployment", "box")),),
    )  # fmt: skip
    container = {"name": "box", "image": image, "volumeMounts": list(mounts)}
    workload = {"spec": {"template": {"spec": {"volumes": _VOLUMES, "containers": [container]}}}}
    return describe_files(app, "box", workload, container)


def _twin(*accesses: dict[str, Any], **disk: Any) -> dict[str, Any]:
    model = {"image": "example.org/box:*", "disk": disk, "operations": {"get": {"files": list(accesses)}}}
    load = {"component": "box", "entry": "box/get", "users": {}, "routes": {}}
    return {"components": {"box": model}, "load": load}


@pytest.mark.parametrize(
    ("disk", "mounts", "all_mounts", "mount"),
    [
        ({"directory": "/d/x"}, _MOUNTS, ["/d", "/etc/x"], "/d"),
        ({"directory": "/d", "volumes": ["/d"]}, _MOUNTS, ["/d", "/etc/x"], "/d"),
        ({"directory": "/v", "volumes": ["/v"]}, [*_MOUNTS, _PART], ["/d", "/etc/x", "/v"], "/v"),
        ({"directory": "/dd"}, _MOUNTS, ["/d", "/etc/x"], ""),
        ({}, _MOUNTS, ["/d", "/etc/x"], ""),
    ],
)
def test_mounts_combine_pod_and_image(
    disk: dict[str, Any], mounts: list[dict[str, Any]], all_mounts: list[str], mount: str
) -> None:
    found = _files(_twin(_SLOW, **disk), *mounts)
    assert (found["mounts"], found["mount"]) == (all_mounts, mount)


@pytest.mark.parametrize(
    ("accesses", "disk", "noticed"),
    [
        ([], {}, set()),
        ([_SLOW], {}, {"slow", "fails", "used"}),
        ([{**_SLOW, "blocking": False}], {}, {"fails", "used"}),
        (
            [{"file": "a", "methods": ["open", "read"], "corruptResponse": "x"}],
            {},
            {"slow", "fails", "used", "reads", "opens"},
        ),
        (
            [],
            {"snapshots": {"file": "dump", "methods": ["write"], "saveAfter": [[60, 1]], "operations": ["get"]}},
            {"fails"},
        ),
    ],
)
def test_file_accesses_decide_visible_effects(
    accesses: list[dict[str, Any]], disk: dict[str, Any], noticed: set[str]
) -> None:
    found = _files(_twin(*accesses, directory="/d", **disk), *_MOUNTS)
    assert {name for name, value in found.items() if value is True} == noticed
    other = _files(_twin(*accesses, directory="/d", **disk), *_MOUNTS, image="example.org/other:1")
    assert not any(value is True for value in other.values())


def test_file_properties_are_assumed_without_twin() -> None:
    found = _files(None, _MOUNTS[1], _PART, _MOUNTS[0])
    assert (found["mount"], found["mounts"]) == ("/d", ["/etc/x", "/d"])
    assert all(found[name] for name in ("slow", "fails", "reads", "opens", "used"))
    assert _files(None, _MOUNTS[1])["mount"] == ""


def test_stores_of_the_apps() -> None:
    catalog = Catalog()
    shop, hotel = catalog.app("otel-demo", "3.0.0"), catalog.app("hotel-reservation", "6ecb097")
    assert shop.twin is not None
    assert hotel.twin is not None
    assert shop.twin.components["astronomy-db"].disk.volumes == ("/var/lib/postgresql",)
    assert hotel.twin.components["mongodb-reservation"].disk.directory == "/data/db"
