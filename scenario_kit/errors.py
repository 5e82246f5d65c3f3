"""The exceptions of this project.

::

    ScenarioKitError
    ├── UsageError               invalid command line                              exit 3
    ├── AuthoringError           invalid scenario, fault or app; carries findings  exit 1
    ├── InfrastructureError      a dependency failed; the scenario is not at fault exit 2
    │   ├── ToolchainError       a component cannot be resolved, downloaded or built
    │   ├── LabError             the lab is not running, or one of its processes died
    │   ├── MetricsError         Prometheus does not respond, or rejects a query
    │   ├── CapabilityMissing    the environment lacks a required capability; retries are pointless
    │   └── ClusterError         the API server returned an error
    │       ├── Unreachable      no response, timeout, 5xx
    │       ├── NotFound         404
    │       ├── AlreadyExists    409 on create
    │       ├── Conflict         409 on update, precondition failed
    │       ├── Forbidden        401, 403
    │       ├── EvictionRefused  429: a PodDisruptionBudget forbids the eviction
    │       └── Rejected         400, 422: the object is invalid for the API server or Chaos Mesh
    ├── GuardRailError           a cluster or namespace that is not ours           exit 3
    └── KitError                 a bug in this project                             exit 3

Exceptions of libraries are translated in ``clients`` and ``lab``; no other layer catches them. A scenario that does not
pass is *not* an error: it is a verdict.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from scenario_kit.model.results.finding import Finding


class ScenarioKitError(Exception):
    """Base class. ``exit_code`` is the exit code of the command line; ``fix`` is what the user can do."""

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageError(ScenarioKitError):
    """Invalid usage: a path that does not exist, an empty folder, contradictory flags."""


class AuthoringError(ScenarioKitError):
    """An invalid scenario, fault or app. ``findings`` holds all errors, not only the first."""

    exit_code = 1

    def __init__(self, message: str, findings: Sequence[Finding] = (), *, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.findings = tuple(findings)

    @property
    def first_message(self) -> str:
        """Return the message of the first finding; without findings, that of the error."""
        return self.findings[0].message if self.findings else self.message


class InfrastructureError(ScenarioKitError):
    """A dependency failed. The verdict is then NotEvaluated, never Fail."""

    exit_code = 2


class ToolchainError(InfrastructureError):
    """A pinned binary is not available. The message has its name, the cause, and the variable that overrides it."""


class LabError(InfrastructureError):
    """The lab is not running, or one of its processes died; the message has the tail of its log."""


class MetricsError(InfrastructureError):
    """Prometheus does not respond, rejects a query, or rejects a write.

    ``evaluation`` is true if the server works but this query fails at this time (many-to-many matching, a duplicate
    label set, a syntax error). ``slow`` is true if the server ended its evaluation because it took too long.
    """

    def __init__(self, message: str, *, evaluation: bool = False, slow: bool = False, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.evaluation, self.slow = evaluation, slow


class CapabilityMissing(InfrastructureError):
    """The environment lacks a required capability: not an authoring error, and retries are pointless."""


class ClusterError(InfrastructureError):
    """The API server did not execute a request. ``status`` is the HTTP status, 0 without a response."""

    def __init__(self, message: str, *, status: int = 0, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.status = status


class Unreachable(ClusterError):
    """No response within the timeout, a refused connection, or a 5xx."""


class NotFound(ClusterError):
    """The object, or its kind, does not exist."""


class AlreadyExists(ClusterError):
    """An object of that name already exists; with derived names this acts as a lock."""


class Conflict(ClusterError):
    """Another client wrote first: read again and retry."""


class Forbidden(ClusterError):
    """Our credentials lack the permission."""


class EvictionRefused(ClusterError):
    """A PodDisruptionBudget forbids the eviction for now: retry later, as ``kubectl drain`` does."""


class Rejected(ClusterError):
    """The API server rejects the object (schema, CEL, admission, quota), or Chaos Mesh does after its creation."""

    def __init__(self, message: str, *, by: str = "the API server", status: int = 0, fix: str = "") -> None:
        super().__init__(message, status=status, fix=fix)
        self.by = by


class GuardRailError(ScenarioKitError):
    """A cluster or namespace that is not ours. Nothing was changed."""


class KitError(ScenarioKitError):
    """A violated invariant of our own code."""


#: Errors of exhausted machine resources.
_EXHAUSTED: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def translate_exhaustion(error: Exception) -> InfrastructureError | None:
    """Return our exception for an error that says that the machine's disk, files or memory are exhausted, or None."""
    if isinstance(error, MemoryError):
        message = "out of memory"
    elif isinstance(error, OSError) and error.errno in _EXHAUSTED:
        message = f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror)
    else:
        return None
    return InfrastructureError(message, fix="free resources, then run the same command again")
