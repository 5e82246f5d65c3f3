"""Values that a field of a Kubernetes object can have, by kind and path.

Source: the API reference, https://kubernetes.io/docs/reference/kubernetes-api/. Numbers are represented by the ends of
their range, enumerations are complete, and texts are represented by texts of several forms.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from scenario_kit.model import Reference

_SELECTION: Final = re.compile(r"\[(\?.*?\)|\*|-?\d+)\]")
_QUOTED: Final = re.compile(r"""\[(['"])(.*?)\1\]""")
_MOST: Final = 10_000  # pods of a workload, addresses of a Service

_COUNTS: Final = (1, 2, _MOST)
_GENERATIONS: Final = (1, 2, 1_000_000)
_NAMES: Final = ("a", "cart-0", "x7.example")
_WORDS: Final = ("Available", "MinimumReplicasAvailable", "a text, with 2 numbers")


class FieldDomain(NamedTuple):
    """Representative values of a field; ``optional`` if an object may lack it, ``closed`` if there are no others."""

    values: tuple[Any, ...]
    optional: bool = False
    closed: bool = False

    def include(self, compared: Any) -> FieldDomain:
        """Return the domain with a value with which a field is compared, if the field can have it."""
        similar = [value for value in self.values if type(value) is type(compared)]
        if self.closed or not similar or (isinstance(compared, int) and not min(similar) <= compared <= max(similar)):
            return self
        return self._replace(values=(*self.values, compared))


def _enumerate(*values: str) -> FieldDomain:
    """Return the domain of an enumeration."""
    return FieldDomain(values, closed=True)


_DOMAINS: Final[tuple[tuple[re.Pattern[str], FieldDomain], ...]] = tuple(
    (re.compile(pattern), domain)
    for pattern, domain in (
        (r"\w+ (apiVersion|metadata\.(namespace|uid))", FieldDomain(_NAMES)),
        (r"\w+ metadata\.creationTimestamp", FieldDomain(("2026-01-01T00:00:00Z", "2027-12-31T23:59:59Z"))),
        (r"\w+ metadata\.resourceVersion", FieldDomain(("1", "9817364"))),
        (r"\w+ metadata\.managedFields", FieldDomain(([{"manager": "a"}],))),
        (r"\w+ (metadata\.generation|status\.observedGeneration)", FieldDomain(_GENERATIONS)),
        (r"\w+ spec\.replicas", FieldDomain((0, *_COUNTS))),
        (r"\w+ status\.(\w*[rR]eplicas|\w*[nN]umber\w+|collisionCount|active|succeeded|failed)",
         FieldDomain(_COUNTS, optional=True)),
        (r"\w+ status\.conditions\.status", _enumerate("True", "False", "Unknown")),
        (r"\w+ status\.conditions\.(reason|message)", FieldDomain(_WORDS)),
        (r"\w+ status\.conditions\.type", FieldDomain(("Available", "Progressing", "Ready"))),
        (r"\w+ status\.conditions", FieldDomain(tuple([{"type": "A", "status": s}] for s in ("True", "False")))),
        (r"Service spec\.ports\.(port|nodePort)", FieldDomain((1, 8080, 65535))),
        (r"Service spec\.ports\.targetPort", FieldDomain((1, 8080, 65535, "http"))),
        (r"Service spec\.type", _enumerate("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")),
        (r"Service spec\.sessionAffinity", _enumerate("None", "ClientIP")),
        (r"Service spec\.(internal|external)TrafficPolicy", _enumerate("Cluster", "Local")),
        (r"\w+ spec\.(template\.spec\.containers\.)?ports\.protocol", _enumerate("TCP", "UDP", "SCTP")),
        (r"\w+ spec\.(template\.spec\.)?containers\.ports\.containerPort", FieldDomain((1, 8080, 65535))),
        (r"\w+ spec\.(template\.spec\.)?containers\.name", FieldDomain(_NAMES)),
        (r"\w+ spec\.(template\.spec\.)?containers\.image", FieldDomain(("a", "example.org/b/c:1.2@sha256:0f"))),
        (r"\w+ spec\.(template\.spec\.)?containers\.imagePullPolicy", _enumerate("Always", "IfNotPresent", "Never")),
        (r"\w+ spec\.(template\.spec\.)?restartPolicy", _enumerate("Always", "OnFailure", "Never")),
        (r"\w+ spec\.(template\.spec\.)?dnsPolicy",
         _enumerate("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")),
        (r"Pod status\.phase", _enumerate("Pending", "Running", "Succeeded", "Failed", "Unknown")),
        (r"PersistentVolumeClaim status\.phase", _enumerate("Pending", "Bound", "Lost")),
        (r"(Deployment|StatefulSet|DaemonSet) (spec|status|spec\.selector|spec\.template(\.spec(\.containers)?)?)",
         FieldDomain(({"a": 1}, {"a": 1, "b": 2}))),
    )
)  # fmt: skip


def list_names(path: str) -> tuple[str, ...]:
    """Return the field names of a JSONPath, without its filters and indices."""
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip()
    quoted = [name.replace(".", "\0") for _, name in _QUOTED.findall(_SELECTION.sub("", text))]
    names = iter(quoted)
    plain = _QUOTED.sub(lambda _: f".{next(names)}", _SELECTION.sub("", text.removeprefix("$"))).replace("\\.", "\0")
    return tuple(name.replace("\0", ".") for name in plain.split(".") if name)


def find_domain(ref: Reference, path: str) -> FieldDomain | None:
    """Return the values of a field; None if they are not known. What a filter or an index selects may be absent."""
    names = list_names(path)
    if names in (("kind",), ("metadata", "name")):  # an object keeps them
        return _enumerate(ref.kind if names == ("kind",) else ref.name)
    text = f"{ref.kind} {'.'.join(names)}"
    domain = next((known for pattern, known in _DOMAINS if pattern.fullmatch(text)), None)
    selected = domain is not None and _SELECTION.search(path) is not None
    return domain._replace(optional=True) if domain is not None and selected else domain


def build_object(path: str, value: Any) -> dict[str, Any]:
    """Return an object with this value of a field; nothing at the path if the value is None."""
    result: Any = value
    for name in reversed(list_names(path)):
        result = {name: result} if result is not None else {}
    return dict(result or {})
