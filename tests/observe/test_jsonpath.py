from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.observe.jsonpath import find

SERVICE = {
    "metadata": {"annotations": {"example.org/a": "x"}, "name": "cart"},
    "spec": {
        "ports": [
            {"name": "grpc", "port": 7070, "targetPort": 8080},
            {"name": "http", "port": 80, "targetPort": "web", "tls": False, "size": "1Gi"},
        ],
        "nothing": None,
        "empty": [],
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", [SERVICE]),
        ("metadata.name", ["cart"]),
        (".metadata.name", ["cart"]),
        ("$.metadata.name", ["cart"]),
        ("{.metadata.name}", ["cart"]),
        (".spec.ports[0].port", [7070]),
        (".spec.ports[-1].port", [80]),
        (".spec.ports[7].port", []),
        (".spec.ports[*].port", [7070, 80]),
        (".spec.ports.*.name", ["grpc", "http"]),
        ('.spec.ports[?(@.name=="http")].targetPort', ["web"]),
        (".spec.ports[?(@.name == 'grpc')].targetPort", [8080]),
        (".spec.ports[?(@.port==80)].name", ["http"]),
        (".spec.ports[?(@.tls==false)].name", ["http"]),
        (".spec.ports[?(@.name!='http')].name", ["grpc"]),
        (".spec.ports[?(@.size=='1024Mi')].name", ["http"]),
        (".metadata.annotations['example.org/a']", ["x"]),
        (r".metadata.annotations.example\.org/a", ["x"]),
        (".spec.nothing", []),
        (".spec.empty", [[]]),
        (".spec.missing.deeper", []),
        (".metadata.name.deeper", []),
        (".metadata[0]", []),
    ],
)
def test_find(path: str, found: list[Any]) -> None:
    assert find(SERVICE, path) == found


@pytest.mark.parametrize("path", [".spec.ports[", ".spec[?(@)]", "..x", ".spec.ports[x]", ".a b"])
def test_invalid_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        find(SERVICE, path)
