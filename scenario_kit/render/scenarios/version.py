"""The version key of a scenario: digests of all inputs of its evidence (docs/evidence.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.model import Object, Runbook, ScenarioSpec
from scenario_kit.model.authored.scenario import API_VERSION
from scenario_kit.model.results.evidence import FaultVersion, VersionKey
from scenario_kit.render.faults.fault import digest_of
from scenario_kit.render.scenarios.runbook import digest_app, select_causal

#: Bump the number when a change of the kit itself, not of the catalogue, invalidates older evidence.
_CONTRACT: Final = f"{API_VERSION}/1"


def compute_version_key(
    spec: ScenarioSpec, runbook: Runbook, objects: Sequence[Object], kubernetes: str = "", engine: str = ""
) -> VersionKey:
    """Compute the version key of a resolved scenario.

    Args:
        spec: the scenario's spec, as loaded.
        runbook: the resolved scenario; namespace and load have no influence.
        objects: the app's objects, from ``render_as_written``.
        kubernetes: the server's version, e.g. ``v1.34.2``; only major and minor count.
        engine: name and version of the chaos engine.
    """
    app = runbook.app
    return VersionKey(
        scenario=digest_of(select_causal(spec)),
        app=f"{app.name} {app.version}",
        app_digest=digest_app(app, objects),
        images=digest_of(sorted(_list_images(objects))),
        faults=tuple(
            FaultVersion(name=f.name, type=f.type, version=f.version, digest=f.digest) for f in runbook.faults
        ),
        alerts=digest_of([r.to_json() for r in runbook.rules]),
        kubernetes=".".join(kubernetes.lstrip("v").split(".")[:2]),
        engine=engine,
        contract=_CONTRACT,
    )


def _list_images(objects: Sequence[Object]) -> set[str]:
    """List every container image in the rendered objects, at any depth."""
    found: set[str] = set()
    left: list[object] = list(objects)
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if isinstance(image := part.get("image"), str):
                found.add(image)
            left.extend(part.values())
        elif isinstance(part, list):
            left.extend(part)
    return found
