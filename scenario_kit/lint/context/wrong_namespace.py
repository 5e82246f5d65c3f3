"""References that name an object of the app in a namespace in which the app does not have it."""

from __future__ import annotations

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.model import Reference


def find_meant(case: LintContext, text: str) -> str:
    """Find the app's object that is meant; empty where the reference is right, or names something that nobody here
    knows.

    Objects of other namespaces are trusted, since only a cluster has them. But whoever names an object of the app with
    another namespace before it names nothing.
    """
    ref = Reference.parse(text)
    known = [r.groupless for r in case.known if (r.kind, r.name) == (ref.kind, ref.name)]
    if not known or ref.namespace in [r.namespace for r in known]:
        return ""
    return str(known[0])
