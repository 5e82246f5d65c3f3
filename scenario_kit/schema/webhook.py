"""The validating webhook of the operator: its configuration, and its Service."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.schema.api_group import GROUP, VERSION

#: Of the configuration in the API server, and of the Service and the Secret in the operator's namespace.
WEBHOOK_NAME: Final = "scenario-kit-admission"
PATH: Final = "/review"
WEBHOOK_PORT: Final = 9443
#: Seconds that the API server waits. What takes longer is admitted, and judged by the operator.
TIMEOUT_SECONDS: Final = 5
_HTTPS: Final = 443


def build_webhook_configuration(client: dict[str, Any], operator: str) -> dict[str, Any]:
    """Build the webhook configuration for Scenarios and Validations.

    It never stands in the way: what the webhook does not answer is admitted. Asked are only requests that change what
    an object says, and none of the operator's own.

    Args:
        client: how the API server reaches it: a ``service``, or a ``url``; and the ``caBundle`` where it is known.
        operator: the user that the operator is.
    """
    conditions = {
        "others": f"request.userInfo.username != '{operator}'",
        "staying": "!has(object.metadata.deletionTimestamp)",
        "changed": "oldObject == null || object.spec != oldObject.spec",
    }
    rule = {
        "apiGroups": [GROUP],
        "apiVersions": [VERSION],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["scenarios", "validations"],
        "scope": "Namespaced",
    }
    webhook = {
        "name": f"admission.{GROUP}",
        "clientConfig": client,
        "rules": [rule],
        "matchConditions": [{"name": name, "expression": text} for name, text in conditions.items()],
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": WEBHOOK_NAME},
        "webhooks": [webhook],
    }


def build_webhook_service(namespace: str, selector: dict[str, str]) -> dict[str, Any]:
    """Build the Service by which the API server reaches the operator's pods, also those that wait for the Lease."""
    ports = [{"name": "webhook", "port": _HTTPS, "targetPort": WEBHOOK_PORT}]
    metadata = {"name": WEBHOOK_NAME, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": selector, "ports": ports}}


def build_service_client(namespace: str) -> dict[str, Any]:
    """Build how the API server reaches the Service; the operator adds its CA."""
    return {"service": {"namespace": namespace, "name": WEBHOOK_NAME, "path": PATH, "port": _HTTPS}}
