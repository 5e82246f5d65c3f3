"""The admission webhooks of Chaos Mesh, registered as its chart does: its manager defaults and validates its objects.

The API server asks the manager on loopback. ``validate-auth`` is left out, as ``SECURITY_MODE`` is off.
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

#: Kinds that have webhooks, in lower case, with their plurals where these differ (``webhook.CRDS`` of the chart).
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
#: Where the lab server resolves names for the manager (``server.external_targets``).
TARGETS_PATH: Final = "/external-targets"
_VERSION: Final = "v1alpha1"
_SECONDS: Final = 5


def build_objects(manager: int, targets: int, authority: Path) -> list[Object]:
    """Build the configurations by which the API server asks the manager, and the lab server for the addresses of names.

    Args:
        manager: the port of the manager's webhooks.
        targets: the port at which the lab server resolves names.
        authority: who signed the certificate that both show.
    """
    bundle = base64.b64encode(authority.read_bytes()).decode()
    resolving = _build_webhook(
        "external-targets.kb.io", f"{_build_address(targets)}{TARGETS_PATH}", "networkchaos", "schedules"
    )
    return [
        _build_configuration("Mutating", "chaos-mesh-mutation", _build_webhooks("mutate", manager), bundle),
        _build_configuration("Mutating", "cluster-names", [resolving], bundle),
        _build_configuration("Validating", "chaos-mesh-validation", _build_webhooks("validate", manager), bundle),
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
        # The spec of an experiment never changes, so its defaults are filled once. The chart asks again at each update:
        # with CRDs that lack a field which the manager fills, every update of its own would then count as a change.
        once = verb == "mutate" and kind.endswith("chaos")
        webhook = _build_webhook(
            f"{verb[0]}{kind}.kb.io", f"{_build_address(port)}/{path}-{kind}", plural, update=not once
        )
        # What the manager writes back may differ in fields that the CRDs lack; it never means to change an experiment.
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
