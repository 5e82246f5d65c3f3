"""The state of a store: privileges, locks, connections. It ends with the store's process."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class StoreState:
    """Mutable state of one store. ``most`` is its maximum number of connections, 0 for no limit.

    ``barred`` are users that may not log in, with their passwords. ``refused`` are users, tables and privileges; an
    empty table or privilege stands for all. ``locked`` and ``held`` are locks and connections of long sessions;
    ``connected`` are all other connections.
    """

    most: int = 0
    barred: dict[str, str] = field(default_factory=dict)
    refused: set[tuple[str, str, str]] = field(default_factory=set)
    locked: set[str] = field(default_factory=set)
    held: float = 0.0
    connected: int = 0

    @property
    def full(self) -> bool:
        """Whether long sessions exhaust its connections."""
        return self.held > 0 and self.most > 0 and self.held + self.connected >= self.most

    def refuses(self, user: str, table: str, privilege: str) -> bool:
        """Return whether a user lacks a privilege on a table."""
        return any(u == user and t in ("", table) and p in ("", privilege) for u, t, p in self.refused)

    def locks(self, table: str) -> bool:
        """Return whether statements on a table block."""
        return bool(table) and table in self.locked
