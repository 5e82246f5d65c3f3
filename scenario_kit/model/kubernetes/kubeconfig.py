"""Kubeconfigs (https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/)."""

from __future__ import annotations

from scenario_kit.model.base import Object


def build_kubeconfig(context: str, cluster: Object, user: tuple[str, Object], namespace: str) -> Object:
    """Build a kubeconfig with one context, whose cluster has its name, and a user with a name and credentials."""
    name, credentials = user
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": context, "cluster": cluster}],
        "users": [{"name": name, "user": credentials}],
        "contexts": [{"name": context, "context": {"cluster": context, "user": name, "namespace": namespace}}],
    }
