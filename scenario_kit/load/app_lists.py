"""Find entries of an app's lists that mean nothing: images without a valid name, repeated calls, calls of oneself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenario_kit.load.yaml.document import Positions
from scenario_kit.model import Finding, Object, Severity
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.image import is_reference


def find_list_mistakes(data: Object, positions: Positions) -> list[Finding]:
    """Return the mistakes in the lists of a valid ``app.yaml``, of all versions."""
    found = list(_find_invalid_images(data, positions))
    for version, body in data["versions"].items():
        found += _find_void_calls(body.get("calls") or (), positions, ("versions", version, "calls"))
    return found


def _find_invalid_images(data: Object, positions: Positions) -> Iterator[Finding]:
    for i, image in enumerate(data.get("images") or ()):
        if not is_reference(image):
            message = f"'{image}' is not the name of an image, so no container can have it"
            fix = "write it as the manifests do, such as 'registry.example/shop/cart:1.4.0'"
            yield _build_error(positions, ("images", i), message, fix, image)


def _find_void_calls(calls: Sequence[Object], positions: Positions, at: Place) -> Iterator[Finding]:
    """Yield calls of the caller itself, and those that repeat an earlier one.

    Calls that differ in how failures are handled, or in where the address is read, are different ones.
    """
    seen: dict[tuple[str, ...], int] = {}
    for i, call in enumerate(calls):
        edge = f"{call['caller']} to {call['callee']}"
        key = (
            call["caller"],
            call["callee"],
            *(call.get(k, d) for k, d in (("mode", "Sync"), ("via", ""), ("config", ""))),
        )
        if call["caller"] == call["callee"]:
            message = f"{call['caller']} calls itself, but all pods of a component are one in the call graph"
            yield _build_error(positions, (*at, i, "callee"), message, "remove it, or name the other component", edge)
        elif (first := seen.setdefault(key, i)) != i:
            message = f"the call from {edge} is declared already, as entry {first}"
            yield _build_error(positions, (*at, i), message, "keep one, with all variables in its `env`", edge)


def _build_error(positions: Positions, place: Place, message: str, fix: str, observed: str) -> Finding:
    return Finding(
        code="SK104",
        severity=Severity.ERROR,
        message=message,
        position=positions.key(*place),
        observed=observed,
        fix=fix,
    )
