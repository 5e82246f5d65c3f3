"""Roles, the rules in them, and their bindings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

RBAC_GROUP: Final = "rbac.authorization.k8s.io"


class Grant(NamedTuple):
    """A rule of a role, and its purpose."""

    group: str
    resources: str
    verbs: tuple[str, ...]
    purpose: str = ""
    names: tuple[str, ...] = ()

    def build_rule(self) -> dict[str, Any]:
        """Build the rule of RBAC."""
        named = {"resourceNames": list(self.names)} if self.names else {}
        return {"apiGroups": [self.group], "resources": self.resources.split(), **named, "verbs": list(self.verbs)}


def build_role(kind: str, metadata: dict[str, Any], grants: Iterable[Grant]) -> dict[str, Any]:
    """Build a Role or a ClusterRole."""
    rules = [grant.build_rule() for grant in grants]
    return {"apiVersion": f"{RBAC_GROUP}/v1", "kind": kind, "metadata": metadata, "rules": rules}


def build_binding(
    kind: str, role_kind: str, role: str, metadata: dict[str, Any], subject: dict[str, str]
) -> dict[str, Any]:
    """Build the binding of a role to one subject."""
    return {
        "apiVersion": f"{RBAC_GROUP}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC_GROUP, "kind": role_kind, "name": role},
        "subjects": [subject],
    }


def make_account_subject(name: str, namespace: str) -> dict[str, str]:
    """Return a ServiceAccount as the subject of a binding."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}
