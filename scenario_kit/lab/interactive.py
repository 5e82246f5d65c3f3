"""Refusals of `kubectl exec`, `attach`, `port-forward` and `debug` in a lab, whose programs are simulated."""

from __future__ import annotations

from typing import Final

from scenario_kit.model.base import Object
from scenario_kit.schema.policies import bound

#: The name of the policy.
POLICY: Final = "simulated-programs"
_INSTEAD: Final = "kubectl run look --image=busybox:1.37.0 --restart=Never -i --rm -n NAMESPACE -- "
#: The messages by subresource of a pod.
_ANSWERS: Final = {
    "exec": (
        "programs in a lab are simulated, so nothing can be executed or copied in their containers; `kubectl logs` "
        f"shows what they print, and a pod of its own runs a command: {_INSTEAD}nslookup SERVICE"
    ),
    "attach": ("programs in a lab are simulated and read no input; `kubectl logs -f` shows what they print"),
    "portforward": (
        "programs in a lab are simulated, so no port of theirs can be forwarded; a pod of its own sends requests: "
        f"{_INSTEAD}wget -qO- http://SERVICE:PORT/"
    ),
    "ephemeralcontainers": (
        "programs in a lab are simulated, so no debug container can join them; a pod of its own runs a command: "
        f"{_INSTEAD}nslookup SERVICE"
    ),
}


def build_objects() -> list[Object]:
    """Build the admission policy with these messages, and its binding."""
    rules = [
        _select(["pods/exec", "pods/attach", "pods/portforward"], "CONNECT"),
        _select(["pods/ephemeralcontainers"], "UPDATE"),
    ]
    validations = [
        {"expression": f"request.subResource != '{subresource}'", "message": message, "reason": "Forbidden"}
        for subresource, message in _ANSWERS.items()
    ]
    return bound(POLICY, rules, validations)


def _select(resources: list[str], operation: str) -> Object:
    return {"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": resources}
