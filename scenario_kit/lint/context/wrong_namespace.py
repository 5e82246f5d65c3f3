"""Detect references to the app's objects in a wrong namespace."""

from __future__ import annotations

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.model import Reference


def find_intended(case: LintContext, ref: Reference) -> Reference | None:
    """Return the app's object that is meant; None if the reference is right, or unknown here.

    Objects in other namespaces count as existing, since only a cluster can tell. But an object of the app in a
    namespace that is not its own does not exist.
    """
    known = [r.groupless for r in case.known if (r.kind, r.name) == (ref.kind, ref.name)]
    if not known or ref.namespace in [r.namespace for r in known]:
        return None
    return known[0]
