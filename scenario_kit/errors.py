"""Every error that leaves a module of this project.

::

    ScenarioKitError
    ├── UsageError               the command line is wrong                         exit 3
    ├── AuthoringError           scenario, fault or app is wrong; carries findings exit 1
    ├── InfrastructureError      something below us failed; nobody's scenario      exit 2
    │   ├── ToolchainError       a part cannot be resolved, fetched or built
    │   ├── LabError             the lab is not there, or a part of it died
    │   ├── MetricsError         Prometheus does not answer, or refuses a query
    │   ├── CapabilityMissing    what is asked for cannot happen here, however often it is tried
    │   └── ClusterError         the API server
    │       ├── Unreachable      no answer, time-out, 5xx
    │       ├── NotFound         404
    │       ├── AlreadyExists    409 on create
    │       ├── Conflict         409 on update, precondition failed
    │       ├── Forbidden        401, 403
    │       ├── EvictionRefused  429: a disruption budget does not let the pod go
    │       └── Rejected         400, 422: the API server calls the object invalid, or Chaos Mesh does
    ├── GuardRailError           a cluster or namespace that is not ours           exit 3
    └── KitError                 our own bug                                       exit 3

Errors of libraries are translated where they enter (``clients``, ``lab``); nothing above catches a library's
exception. A misbehaving scenario is *not* an error: it is a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from scenario_kit.model.results.finding import Finding


class ScenarioKitError(Exception):
    """Base of the tree. ``exit_code`` is what the command line ends with; ``fix`` is what to do."""

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageError(ScenarioKitError):
    """No such path, an empty folder, contradictory flags."""


class AuthoringError(ScenarioKitError):
    """A scenario, fault or app that cannot be used. ``findings`` holds every mistake, not only the first."""

    exit_code = 1

    def __init__(self, message: str, findings: Sequence[Finding] = (), *, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.findings = tuple(findings)


class InfrastructureError(ScenarioKitError):
    """Something below us failed. A verdict reached through it is NotEvaluated, never Fail."""

    exit_code = 2


class ToolchainError(InfrastructureError):
    """A pinned binary cannot be had. The message names the part, the cause and the variable that supplies it."""


class LabError(InfrastructureError):
    """The lab is not running, or one of its parts died; the message carries the tail of the part's log."""


class MetricsError(InfrastructureError):
    """Prometheus does not answer, refuses a query, or did not accept a write.

    ``evaluation`` is true where the server is well and this query fails at this time (many-to-many matching, a
    duplicate label set, a syntax error).
    """

    def __init__(self, message: str, *, evaluation: bool = False, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.evaluation = evaluation


class CapabilityMissing(InfrastructureError):
    """What is asked for cannot happen in this environment: nobody's mistake, and no reason to try again."""


class ClusterError(InfrastructureError):
    """The API server did not do what was asked. ``status`` is the HTTP status, 0 where there was none."""

    def __init__(self, message: str, *, status: int = 0, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.status = status


class Unreachable(ClusterError):
    """No answer within the deadline, a refused connection, or a 5xx."""


class NotFound(ClusterError):
    """The object, or its kind, does not exist."""


class AlreadyExists(ClusterError):
    """An object of that name is there already; for derived names this acts as a lock."""


class Conflict(ClusterError):
    """Somebody else wrote first: read again, decide again."""


class Forbidden(ClusterError):
    """Our credentials do not allow it."""


class EvictionRefused(ClusterError):
    """A disruption budget does not let the pod go now: ask again later, as ``kubectl drain`` does."""


class Rejected(ClusterError):
    """The API server calls the object invalid: schema, CEL, admission, quota. Or Chaos Mesh does, once it is there."""

    def __init__(self, message: str, *, by: str = "the API server", status: int = 0, fix: str = "") -> None:
        super().__init__(message, status=status, fix=fix)
        self.by = by


class GuardRailError(ScenarioKitError):
    """A cluster or namespace that is not ours. Nothing was changed."""


class KitError(ScenarioKitError):
    """A state that our own code promised could not happen."""
