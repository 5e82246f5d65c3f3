"""What clients have done to a store since its start: rights, locks, connections. It goes with the store's process."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Holdings:
    """Mutable state of one store. ``most`` is how many connections it takes, 0 for any number.

    ``barred`` are users who may not log in, with their passwords. ``refused`` are users, tables and privileges, an
    empty table or privilege standing for all of them. ``locked`` and ``held`` are of sessions that last; ``connected``
    are the connections of everybody else.
    """

    most: int = 0
    barred: dict[str, str] = field(default_factory=dict)
    refused: set[tuple[str, str, str]] = field(default_factory=set)
    locked: set[str] = field(default_factory=set)
    held: float = 0.0
    connected: int = 0

    @property
    def full(self) -> bool:
        """Whether it takes no more connections because sessions hold so many."""
        return self.held > 0 and self.most > 0 and self.held + self.connected >= self.most

    def refuses(self, user: str, table: str, privilege: str) -> bool:
        """Check whether a user may not use a table in the way that needs this privilege."""
        return any(u == user and t in ("", table) and p in ("", privilege) for u, t, p in self.refused)

    def locks(self, table: str) -> bool:
        """Check whether statements on a table wait."""
        return bool(table) and table in self.locked
