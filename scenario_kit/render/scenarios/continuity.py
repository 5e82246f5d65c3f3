"""Whether evidence of one version of a scenario holds for another: nothing that the lab acts on may differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from scenario_kit.model import App, Object, Runbook, ScenarioSpec
from scenario_kit.render.faults.modelled.registry import register
from scenario_kit.render.scenarios.runbook import digest_app
from scenario_kit.render.scenarios.version import compute_version_key

#: The part of the key that is a sum over all of the app's objects.
_OF_APP: Final = "appDigest"


class ScenarioVersion(NamedTuple):
    """A scenario as one version of the catalogue has it. ``objects`` are the app's, ``as_written``."""

    spec: ScenarioSpec
    app: App
    runbook: Runbook
    objects: Sequence[Object]


def explain_difference(before: ScenarioVersion, after: ScenarioVersion) -> str:
    """Explain what differs so that evidence of the one is none of the other; empty where a simulation cannot differ.

    Objects may differ in what no part of the lab acts on, such as the configuration of a program that is not simulated:
    the register (``render.faults.modelled``) says which fields those are. Everything else has to be the same.
    """
    past, present = (compute_version_key(each.spec, each.runbook, each.objects).to_json() for each in (before, after))
    differing = sorted(k for k in {*past, *present} - {_OF_APP} if past.get(k) != present.get(k))
    if differing:
        return f"{', '.join(differing)} differ"
    if digest_app(before.app, ()) != digest_app(after.app, ()):
        return "the definition of the app differs"
    acted_on = [register(each.objects, each.app, each.app.namespace) for each in (before, after)]
    places = sorted(p for p in {*acted_on[0], *acted_on[1]} if acted_on[0].get(p) != acted_on[1].get(p))
    if places:
        return "the lab acts on what differs in " + ", ".join("/".join(place) for place in places)
    return ""
