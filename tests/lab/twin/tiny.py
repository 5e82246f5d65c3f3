"""An application that exists nowhere: users -> gate (HTTP) -> api (gRPC) -> box (a store); pure data."""

from itertools import pairwise
from typing import Any

from scenario_kit.model import App, CallEdge, Component, Reference
from scenario_kit.model.twin import decode
from tests.lab.twin.twin_cluster import TwinCluster

TWIN: dict[str, Any] = {
    "assumptions": {"boxSeconds": {"value": 2, "low": 1, "high": 5}},
    "collector": {"component": "sink"},
    "load": {
        "component": "users",
        "entry": "gate/{route}",
        "users": {"env": "USERS", "default": 20},
        "spawnRate": {"default": 100},
        "thinkSeconds": [1, 3],
        "routes": {"read": {"perIteration": 1.0}},
    },
    "components": {
        "users": {"image": "example.org/users:*", "telemetry": {"text": "sink:4317"}},
        "gate": {
            "image": "example.org/gate:*",
            "dialect": "envoy",
            "ports": [{"number": 80, "protocol": "http", "paths": ["/", "/live"]}],
            "telemetry": {"text": "sink:4317"},
            "operations": {
                "read": {"span": "GET /read", "ownMs": 1, "steps": [{"call": "api/Read", "log": "{cause}"}]},
            },
        },
        "api": {
            "image": "example.org/api:*",
            "ports": [{"env": "PORT", "number": 9000, "protocol": "grpc"}],
            "telemetry": {"text": "sink:4317"},
            "memoryMib": 50,
            "start": {"dependencies": [{"callee": "box", "text": "no box: {cause}", "code": 3}]},
            "operations": {
                "Read": {
                    "span": "Api/Read", "ownMs": 2,
                    "steps": [{"call": "box/get", "span": "GET", "log": "box failed: {cause}"}],
                },
            },
        },
        "box": {
            "image": "example.org/box:*",
            "ports": [{"number": 7000, "protocol": "sql"}],
            "logins": [{"userEnv": "BOX_USER", "passwordEnv": "BOX_PASSWORD"}],
            "operations": {"get": {"ownMs": 1}},
        },
        "sink": {"image": "example.org/sink:*", "ports": [{"number": 4317}]},
    },
    "edges": [
        {"caller": "users", "callee": "gate", "protocol": "http", "address": {"text": "http://gate"}},
        {"caller": "gate", "callee": "api", "protocol": "grpc", "timeoutSeconds": 10, "address": {"env": "API_ADDR"}},
        {
            "caller": "api", "callee": "box", "protocol": "sql", "timeoutSeconds": "$boxSeconds",
            "address": {"env": "BOX_DSN", "defaultPort": 7000},
        },
    ],
}  # fmt: skip

DEFINITION = decode(TWIN)


def app(**twin: Any) -> App:
    names = ("users", "gate", "api", "box", "sink")
    components = tuple(Component(name=n, workload=Reference("Deployment", n), service=n) for n in names)
    images = tuple(f"example.org/{n}:1" for n in names)
    return App(
        name="tiny",
        version="1",
        namespace="tiny",
        entry="gate",
        components=components,
        calls=tuple(CallEdge(caller=a, callee=b) for a, b in pairwise(names[:4])),
        images=images,
        twin=decode({**TWIN, **twin}),
    )


def workload(name: str, port: int, replicas: int = 1, **env: str) -> list[dict[str, Any]]:
    labels = {"app": name}
    container = {
        "name": name,
        "image": f"example.org/{name}:1",
        "ports": [{"name": "main", "containerPort": port}],
        "env": [{"name": k, "value": v} for k, v in env.items()],
    }
    return [
        {
            "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {
                "replicas": replicas,
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
        {
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"selector": labels, "ports": [{"name": "p", "port": port, "targetPort": "main"}]},
        },
    ]


def objects(api_replicas: int = 1) -> list[dict[str, Any]]:
    return [
        *workload("sink", 4317),
        *workload("box", 7000, BOX_USER="me", BOX_PASSWORD="secret"),
        *workload("api", 9000, api_replicas, BOX_DSN="sql://me:secret@box/x"),
        *workload("gate", 80, API_ADDR="api:9000"),
        *workload("users", 1, USERS="20"),
    ]


def start_cluster(warm: float = 120.0, **twin: Any) -> TwinCluster:
    """The application with ``api`` started again, which needs the store; then ``warm`` seconds pass."""
    cluster = TwinCluster(app(**twin), objects())
    cluster.now += 30.0
    cluster.restart("api")
    cluster.run(warm)
    return cluster
