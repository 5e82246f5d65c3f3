"""Capabilities: what a cluster provides beyond a plain API server, and how to detect it."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value


class FieldCondition(Value, frozen=True, kw_only=True):
    """A condition on a field of an object. Exactly one comparison is set; ``matches`` is a regular expression."""

    path: str
    matches: str | None = None
    not_equals: str | None = None
    at_least: int | None = None
    absent: bool | None = None


class Find(Value, frozen=True, kw_only=True):
    """Objects that must exist: a number of a kind that match one of the names (globs) and all conditions, in one
    namespace or in any."""

    kind: str
    group: str = ""
    namespace: str = ""
    names: tuple[str, ...] = ()
    where: tuple[FieldCondition, ...] = ()
    at_least: str = "1"


class ServedKinds(Value, frozen=True, kw_only=True):
    """Kinds that the API server must all serve."""

    group: str
    kinds: tuple[str, ...]


class Canary(Value, frozen=True, kw_only=True):
    """The probe of a capability; exactly one field is set.

    ``declared``: not detectable, so the operator is configured with it. ``clock``: trials on the wall clock have it.
    ``app``: scenarios of that app have it.
    """

    find: Find | None = None
    served: ServedKinds | None = None
    clock: Literal["Wall"] | None = None
    app: str | None = None
    declared: bool | None = None


class Capability(Value, frozen=True, kw_only=True):
    """A capability of the vocabulary. ``lab`` says whether the lab provides it, ``because`` why not."""

    name: str
    meaning: str
    where: str
    canary: Canary
    lab: bool
    because: str = ""

    @property
    def parametric(self) -> bool:
        """Whether the name takes an argument: ``nodes>=2``, ``operator:tidbclusters.pingcap.com``."""
        return self.name.endswith((">=", ":"))

    def argument(self, need: str) -> str | None:
        """Return the argument in ``need``; empty if this takes none, None if ``need`` is another capability."""
        if not self.parametric:
            return "" if need == self.name else None
        rest = need.removeprefix(self.name)
        return rest if rest and rest != need else None


class UnmetNeed(Value, frozen=True, kw_only=True):
    """A missing capability: who needs it, what it means, and where it is available."""

    need: str
    who: str
    meaning: str
    where: str
    because: str = ""
