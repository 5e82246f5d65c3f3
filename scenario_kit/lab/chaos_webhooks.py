"""The admission webhooks of Chaos Mesh, as registered by its chart: the manager defaults and validates objects.

The API server calls the manager on loopback. ``validate-auth`` is omitted, as ``SECURITY_MODE`` is off.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from scenario_kit.lab.control_plane.kubeconfigs import MANAGER
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import GROUP

#: Kinds with webhooks, in lower case, with irregular plurals (``webhook.CRDS`` of the chart).
_KINDS: Final = {
    **{
        kind: kind
        for kind in (
            "podchaos", "iochaos", "timechaos", "networkchaos", "kernelchaos", "stresschaos", "awschaos", "azurechaos",
            "gcpchaos", "dnschaos", "jvmchaos", "httpchaos", "blockchaos", "physicalmachinechaos",
        )
    },
    "schedule": "schedules",
    "workflow": "workflows",
    "physicalmachine": "physicalmachines",
    "statuscheck": "statuschecks",
}  # fmt: skip
#: The lab server's webhook that resolves names for the manager (``server.external_targets``).
TARGETS_PATH: Final = "/external-targets"
_VERSION: Final = "v1alpha1"
_SECONDS: Final = 5


def build_objects(manager: tuple[int, Path], targets: tuple[int, Path]) -> list[Object]:
    """Build the webhook configurations for the manager, and for the lab server's name resolution.

    Args:
        manager: the port of the manager's webhooks, and the CA of their certificate.
        targets: the same of the lab server's webhook.
    """
    bundle, own = (base64.b64encode(authority.read_bytes()).decode() for _, authority in (manager, targets))
    resolving = _build_webhook(
        "external-targets.kb.io", f"{_build_address(targets[0])}{TARGETS_PATH}", "networkchaos", "schedules"
    )
    return [
        _build_configuration("Mutating", "chaos-mesh-mutation", _build_webhooks("mutate", manager[0]), bundle),
        _build_configuration("Mutating", "cluster-names", [resolving], own),
        _build_configuration("Validating", "chaos-mesh-validation", _build_webhooks("validate", manager[0]), bundle),
    ]


def _build_configuration(kind: str, name: str, webhooks: Iterable[Object], bundle: str) -> Object:
    signed = [{**each, "clientConfig": {**each["clientConfig"], "caBundle": bundle}} for each in webhooks]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "chaos-mesh"}},
        "webhooks": signed,
    }


def _build_webhooks(verb: str, port: int) -> Iterator[Object]:
    path = f"{verb}-{GROUP.replace('.', '-')}-{_VERSION}"
    for kind, plural in _KINDS.items():
        # An experiment's spec is immutable, so it is defaulted once. The chart defaults updates, too: with CRDs that
        # lack a field set by the manager, each of its own updates would then count as a change.
        once = verb == "mutate" and kind.endswith("chaos")
        webhook = _build_webhook(
            f"{verb[0]}{kind}.kb.io", f"{_build_address(port)}/{path}-{kind}", plural, update=not once
        )
        # The manager's writes may differ in fields that the CRDs lack; it never intends to change an experiment.
        condition = {"name": "others", "expression": f"request.userInfo.username != '{MANAGER}'"}
        yield {**webhook, "matchConditions": [condition]} if verb == "validate" else webhook


def _build_webhook(name: str, url: str, *plurals: str, update: bool = False) -> Object:
    operations = ["CREATE", "UPDATE"] if update else ["CREATE"]
    return {
        "name": name,
        "clientConfig": {"url": url},
        "rules": [
            {"apiGroups": [GROUP], "apiVersions": [_VERSION], "operations": operations, "resources": list(plurals)}
        ],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": _SECONDS,
        "admissionReviewVersions": ["v1"],
    }


def _build_address(port: int) -> str:
    return f"https://{LOOPBACK}:{port}"
