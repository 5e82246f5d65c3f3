"""Decide whether evidence for one version of a scenario remains valid for another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from scenario_kit.model import App, Object, Runbook, ScenarioSpec
from scenario_kit.render.faults.modelled_fields.registry import project_objects
from scenario_kit.render.scenarios.runbook import digest_app
from scenario_kit.render.scenarios.version import compute_version_key

#: The field of the key that digests all objects of the app.
_OF_APP: Final = "appDigest"


class ScenarioVersion(NamedTuple):
    """A scenario at one revision of the catalogue. ``objects`` are the app's, from ``render_as_written``."""

    spec: ScenarioSpec
    app: App
    runbook: Runbook
    objects: Sequence[Object]


def explain_difference(before: ScenarioVersion, after: ScenarioVersion) -> str:
    """Describe the difference that invalidates evidence; empty if both versions simulate identically.

    Objects may differ in fields that no part of the lab reads (``render.faults.modelled``), such as the configuration
    of a program that is not simulated. Everything else must be equal.
    """
    past, present = (compute_version_key(each.spec, each.runbook, each.objects).to_json() for each in (before, after))
    differing = sorted(k for k in {*past, *present} - {_OF_APP} if past.get(k) != present.get(k))
    if differing:
        return f"{', '.join(differing)} differ"
    if digest_app(before.app, ()) != digest_app(after.app, ()):
        return "the definition of the app differs"
    acted_on = [project_objects(each.objects, each.app, each.app.namespace) for each in (before, after)]
    places = sorted(p for p in {*acted_on[0], *acted_on[1]} if acted_on[0].get(p) != acted_on[1].get(p))
    if places:
        return "fields that the lab reads differ in " + ", ".join("/".join(place) for place in places)
    return ""
