"""Capabilities: what a cluster offers beyond an ordinary API server, and by what it is recognised."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value


class FieldCondition(Value, frozen=True, kw_only=True):
    """What a field of an object must be like. Exactly one comparison is set; ``matches`` is a regular expression."""

    path: str
    matches: str | None = None
    not_equals: str | None = None
    at_least: int | None = None
    absent: bool | None = None


class Find(Value, frozen=True, kw_only=True):
    """Objects that must be there: so many of a kind, of one of these names (``*`` stands for anything), in any
    namespace or in this one, for which every condition holds."""

    kind: str
    group: str = ""
    namespace: str = ""
    names: tuple[str, ...] = ()
    where: tuple[FieldCondition, ...] = ()
    at_least: str = "1"


class ServedKinds(Value, frozen=True, kw_only=True):
    """Kinds that the API server must serve, all of them."""

    group: str
    kinds: tuple[str, ...]


class Canary(Value, frozen=True, kw_only=True):
    """The one check of a capability; exactly one field is set.

    ``declared``: nothing in the API tells, so whoever runs the operator says it. ``clock``: trials by the wall clock
    have it. ``app``: scenarios of that app have it.
    """

    find: Find | None = None
    served: ServedKinds | None = None
    clock: Literal["Wall"] | None = None
    app: str | None = None
    declared: bool | None = None


class Capability(Value, frozen=True, kw_only=True):
    """One word of the vocabulary. ``lab`` says whether the embedded lab offers it, ``because`` why not."""

    name: str
    meaning: str
    where: str
    canary: Canary
    lab: bool
    because: str = ""

    @property
    def parametric(self) -> bool:
        """Whether the name is followed by an argument: ``nodes>=2``, ``operator:tidbclusters.pingcap.com``."""
        return self.name.endswith((">=", ":"))

    def argument(self, need: str) -> str | None:
        """Return what follows the name in ``need``; empty where nothing may follow, None where ``need`` is another
        word.
        """
        if not self.parametric:
            return "" if need == self.name else None
        rest = need.removeprefix(self.name)
        return rest if rest and rest != need else None


class UnmetNeed(Value, frozen=True, kw_only=True):
    """A capability that something needs and that is not there: who needs it, what it means, and where it is."""

    need: str
    who: str
    meaning: str
    where: str
    because: str = ""
