"""The pods to run on the real and the simulated node, each covering a different behavior."""

from __future__ import annotations

from typing import Any

from scenario_kit.model.base import Object, Value
from tools.reality.program import FILE, PATH, PORT, Program

IMAGE = "docker.io/reality/tools:1"
#: In no registry; its host name does not resolve.
ABSENT = "registry.invalid/shop/cart:9"
#: Programs of the image that cases use.
HAS = frozenset({"sh", "tail", "sleep", "test"})
_OFTEN = {"periodSeconds": 2, "timeoutSeconds": 1}


class Case(Value, frozen=True, kw_only=True):
    """One pod, watched for ``seconds``.

    All times count from when the pod had volumes and network and its first container was handled; or, if ``begins`` is
    false because it never gets so far, from its creation.

    Attributes:
        programs: the programs of its containers, by name.
        objects: objects that exist before the pod.
        later: objects created at ``later_at``.
        delete_at: when the pod is deleted, with ``grace`` seconds if set.
    """

    name: str
    seconds: float
    spec: Object
    programs: dict[str, Program] = {}
    objects: tuple[Object, ...] = ()
    later: tuple[Object, ...] = ()
    later_at: float = 0.0
    delete_at: float | None = None
    grace: int | None = None
    begins: bool = True


def _build_container(name: str, program: Program, **more: Any) -> Object:
    return {"name": name, "image": IMAGE, "command": program.command(), **more}


def _build_case(name: str, seconds: float, program: Program | None = None, **more: Any) -> Case:
    """Return a pod with the container ``main``; pod fields go into the pod's spec, others into the container."""
    program = program or Program()
    own = {k: more.pop(k) for k in ("objects", "later", "later_at", "delete_at", "grace", "begins") if k in more}
    inits: dict[str, Program] = more.pop("inits", {})
    pod = {k: more.pop(k) for k in _POD if k in more}
    spec: Object = {
        **({"initContainers": [_build_container(n, p) for n, p in inits.items()]} if inits else {}),
        **pod,
        "containers": [{**_build_container("main", program), **more}],
    }
    return Case(name=name, seconds=seconds, spec=spec, programs={**inits, "main": program}, **own)


_POD = ("restartPolicy", "volumes", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
_CONFIG: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}}
_LATE: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}, "data": {"a": "1"}}
_SECRET: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"a": "1"}}


def _build_env(kind: str, name: str, key: str) -> list[Object]:
    return [{"name": "A", "valueFrom": {f"{kind}KeyRef": {"name": name, "key": key}}}]


def _build_volume(source: Object) -> dict[str, Any]:
    return {"volumes": [{"name": "data", **source}], "volumeMounts": [{"name": "data", "mountPath": "/data"}]}


_IMAGES = (
    _build_case("image-absent", 100, image=ABSENT),
    _build_case("image-never", 40, image="docker.io/reality/other:1", imagePullPolicy="Never"),
    _build_case("image-name-invalid", 40, image="reality/Tools:1"),
)
_COMMANDS = (
    _build_case("command-not-found", 60, command=["serve-shop"]),
    _build_case("command-path-not-found", 30, command=["/app/serve"], restartPolicy="Never"),
    _build_case("exit-0", 75, Program(ends_after=3)),
    _build_case("exit-1-back-offs", 180, Program(ends_after=1, code=1)),
    _build_case("exit-137", 40, Program(ends_after=2, code=137)),
    _build_case("exit-0-never", 20, Program(ends_after=2), restartPolicy="Never"),
    _build_case("exit-3-never", 20, Program(ends_after=2, code=3), restartPolicy="Never"),
    _build_case("exit-0-on-failure", 20, Program(ends_after=2), restartPolicy="OnFailure"),
    _build_case("exit-3-on-failure", 45, Program(ends_after=2, code=3), restartPolicy="OnFailure"),
    _build_case(
        "out-of-memory",
        60,
        Program(ends_after=1, code=137, fills_memory=True),
        resources={"limits": {"memory": "24Mi", "cpu": "200m"}},
    ),
    Case(
        name="one-of-two-crashes",
        seconds=45,
        spec={
            "containers": [_build_container("main", Program()), _build_container("side", Program(ends_after=3, code=1))]
        },
        programs={"main": Program(), "side": Program(ends_after=3, code=1)},
    ),
)
_HTTP = {"httpGet": {"port": PORT, "path": PATH}, **_OFTEN}
_TCP = {"tcpSocket": {"port": PORT}, **_OFTEN}
_EXEC = {"exec": {"command": ["test", "-e", FILE]}, **_OFTEN}
_PROBES = (
    _build_case("ready-http-late", 30, Program(serves_after=9), readinessProbe=_HTTP),
    _build_case("ready-tcp-late", 30, Program(serves_after=9), readinessProbe=_TCP),
    _build_case("ready-exec-late", 30, Program(file_after=9), readinessProbe=_EXEC),
    _build_case("ready-http-never", 30, Program(), readinessProbe=_HTTP),
    _build_case(
        "ready-http-not-found",
        30,
        Program(serves_after=0),
        readinessProbe={**_HTTP, "httpGet": {"port": PORT, "path": "/absent"}},
    ),
    _build_case("ready-after-delay", 30, Program(serves_after=0), readinessProbe={**_HTTP, "initialDelaySeconds": 8}),
    _build_case("alive-http-never", 33, Program(), livenessProbe={**_HTTP, "failureThreshold": 3}),
    _build_case("alive-exec-never", 45, Program(on_term=0), livenessProbe={**_EXEC, "failureThreshold": 2}),
    _build_case(
        "alive-never-deaf",
        45,
        Program(on_term="ignored"),
        livenessProbe={**_TCP, "failureThreshold": 3},
        terminationGracePeriodSeconds=8,
    ),
    _build_case(
        "started-late",
        40,
        Program(serves_after=12),
        startupProbe={**_HTTP, "failureThreshold": 20},
        readinessProbe=_HTTP,
    ),
    _build_case("started-too-late", 50, Program(serves_after=30), startupProbe={**_HTTP, "failureThreshold": 7}),
)
_INITS = (
    _build_case("init-then-main", 25, inits={"prepare": Program(ends_after=3)}),
    _build_case("init-fails", 60, inits={"prepare": Program(ends_after=2, code=2)}),
    _build_case("init-fails-never", 20, inits={"prepare": Program(ends_after=2, code=2)}, restartPolicy="Never"),
    _build_case("init-hangs", 25, inits={"wait": Program(), "second": Program(ends_after=1)}),
    _build_case("init-two", 25, inits={"first": Program(ends_after=2), "second": Program(ends_after=2)}),
)
_CONFIGURATION = (
    _build_case("config-missing", 45, env=_build_env("configMap", "absent", "a")),
    _build_case("config-key-missing", 45, env=_build_env("configMap", "settings", "absent"), objects=(_CONFIG,)),
    _build_case("config-late", 45, env=_build_env("configMap", "late", "a"), later=(_LATE,), later_at=20),
    _build_case("config-all-missing", 30, envFrom=[{"configMapRef": {"name": "absent"}}]),
    _build_case("secret-missing", 45, env=_build_env("secret", "absent", "a")),
    _build_case("secret-key-missing", 45, env=_build_env("secret", "keys", "absent"), objects=(_SECRET,)),
)
_VOLUMES = (
    _build_case("volume-config-missing", 45, begins=False, **_build_volume({"configMap": {"name": "absent"}})),
    _build_case(
        "volume-key-missing",
        45,
        begins=False,
        **_build_volume({"configMap": {"name": "settings", "items": [{"key": "absent", "path": "a"}]}}),
        objects=(_CONFIG,),
    ),
    _build_case("volume-secret-missing", 45, begins=False, **_build_volume({"secret": {"secretName": "absent"}})),
    _build_case(
        "volume-host-path-missing",
        45,
        begins=False,
        **_build_volume({"hostPath": {"path": "/absent/data", "type": "Directory"}}),
    ),
    _build_case(
        "volume-claim-missing", 30, begins=False, **_build_volume({"persistentVolumeClaim": {"claimName": "absent"}})
    ),
)
_ENDS = (
    _build_case("deleted-obeys", 20, Program(on_term=0), delete_at=8),
    _build_case("deleted-lingers", 30, Program(on_term=0, lingers=6), delete_at=8),
    _build_case("deleted-deaf", 40, Program(on_term="ignored"), delete_at=8, terminationGracePeriodSeconds=10),
    _build_case("deleted-at-once", 20, Program(on_term="ignored"), delete_at=8, grace=0),
    _build_case("deleted-in-back-off", 25, Program(ends_after=1, code=1), delete_at=14),
    _build_case("deleted-without-image", 25, image=ABSENT, delete_at=12),
    _build_case("deadline", 30, activeDeadlineSeconds=8),
    _build_case("requests-too-large", 12, begins=False, resources={"requests": {"cpu": "500"}}),
)
CASES: tuple[Case, ...] = (
    *_IMAGES, *_COMMANDS, *_PROBES, *_INITS, *_CONFIGURATION, *_VOLUMES, *_ENDS,
)  # fmt: skip
