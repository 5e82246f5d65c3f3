"""Object references: ``[namespace/]Kind[.group]/name``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self, final

#: The API group of this project, and the prefix of its labels and annotations.
GROUP: Final = "scenariokit.io"
#: The symbolic namespace of the app, resolved when its real name is known.
APP_NAMESPACE = "app"
#: The namespace of this project's own objects, which solvers cannot read.
MANAGEMENT_NAMESPACE = "scenario-kit"

#: Kinds that create pods from a template and roll them out.
WORKLOADS: Final = ("Deployment", "StatefulSet", "DaemonSet")
#: Short names of kinds in kubectl, except those that are English words.
SHORT_KINDS: Final[Mapping[str, str]] = {
    "Service": "svc", "Deployment": "deploy", "StatefulSet": "sts", "DaemonSet": "ds", "ConfigMap": "cm", "Pod": "po",
    "NetworkPolicy": "netpol", "PersistentVolumeClaim": "pvc", "HorizontalPodAutoscaler": "hpa", "CronJob": "cj",
    "ServiceAccount": "sa", "Ingress": "ing",
}  # fmt: skip

_NONE: Final[Mapping[str, str]] = {}
_PATTERN = re.compile(
    r"^(?:(?P<namespace>[a-z0-9]([-a-z0-9]*[a-z0-9])?)/)?"
    r"(?P<kind>[A-Z][A-Za-z0-9]*)(?:\.(?P<group>[a-z0-9][-a-z0-9.]*))?"
    r"/(?P<name>[A-Za-z0-9][-A-Za-z0-9._:]*)$"
)


@final
class Reference(str):
    """A reference to an object: its text, and the parts of it. ``group`` may be empty for kinds that are unambiguous.

    Files, the API and templates carry references as text; as this is that text, it is compared, sorted and printed as
    it stands there, but parsed only once, where the file is loaded. The app's namespace is left out of the text.
    """

    __slots__ = ("group", "kind", "name", "namespace")

    kind: str
    name: str
    namespace: str
    group: str

    def __new__(cls, kind: str, name: str, namespace: str = APP_NAMESPACE, group: str = "") -> Self:
        """Build a reference from its parts."""
        home = "" if namespace == APP_NAMESPACE else f"{namespace}/"
        self = super().__new__(cls, f"{home}{kind}.{group}/{name}" if group else f"{home}{kind}/{name}")
        self.kind, self.name, self.namespace, self.group = kind, name, namespace, group
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str, str]]:
        return type(self), (self.kind, self.name, self.namespace, self.group)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``[namespace/]Kind[.group]/name``; the default namespace is the app's.

        Raises:
            ValueError: the text is malformed; the message contains the expected form.
        """
        if isinstance(text, cls):
            return text
        match = _PATTERN.match(text)
        if not match:
            raise ValueError(
                f"'{text}' is not a reference; expected [namespace/]Kind[.group]/name, e.g. Deployment/cart"
            )
        parts = match.groupdict()
        return cls(parts["kind"], parts["name"], parts["namespace"] or APP_NAMESPACE, parts["group"] or "")

    from_json = parse

    def to_json(self) -> str:
        """Return the plain text."""
        return str(self)

    @property
    def groupless(self) -> Reference:
        """The same reference without its group."""
        return Reference(self.kind, self.name, self.namespace) if self.group else self

    def is_same(self, other: Reference) -> bool:
        """Return whether both name the same object, with or without their groups."""
        return self.groupless == other.groupless

    @property
    def bare(self) -> tuple[str, str]:
        """Kind and name, which are unique across an app's namespaces."""
        return self.kind, self.name

    def within(self, namespace: str, others: Mapping[str, str] = _NONE) -> Reference:
        """Return this reference with its symbolic namespace resolved.

        Args:
            namespace: the app's real namespace.
            others: real names of additional namespaces, by symbolic name.
        """
        real = namespace if self.namespace == APP_NAMESPACE else others.get(self.namespace, self.namespace)
        return self.move(real)

    def move(self, namespace: str) -> Reference:
        """Return the reference in another namespace."""
        return self if namespace == self.namespace else Reference(self.kind, self.name, namespace, self.group)


def resolve_homes(namespace: str, symbols: Iterable[str]) -> frozenset[str]:
    """Return the real names of an app's namespaces, given their symbols."""
    return frozenset(resolve_namespace(namespace, symbol) for symbol in (APP_NAMESPACE, *symbols))


def resolve_namespace(namespace: str, symbol: str) -> str:
    """Return the real name of an app's namespace, given that of the app's default one."""
    return namespace if symbol == APP_NAMESPACE else f"{namespace}-{symbol}"


def symbolise_namespace(real: str, namespace: str) -> str:
    """Return the symbol of a namespace, given the app's default one; other namespaces are unchanged."""
    if real == namespace:
        return APP_NAMESPACE
    return real.removeprefix(f"{namespace}-") if namespace else real


def identify_object(obj: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the kind, namespace and name of an object; the namespace is empty where the object names none."""
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def read_group(obj: Mapping[str, Any]) -> str:
    """Return the API group of an object or of a reference to one; empty for the core group, or if there is none."""
    return str(obj.get("apiVersion", "")).rpartition("/")[0]


def find_named(objects: Iterable[dict[str, Any]], kind: str, name: str) -> dict[str, Any] | None:
    """Find the object of a kind and name, in whichever namespace, if there is one."""
    return next((obj for obj in objects if (obj["kind"], obj["metadata"]["name"]) == (kind, name)), None)


def make_object_reference(obj: Mapping[str, Any], namespace: str = "") -> Reference:
    """Return an object's reference with its real namespace, by default ``namespace``."""
    group = read_group(obj)
    return Reference(obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace", namespace), group)


def make_reference(obj: Mapping[str, Any], namespace: str) -> Reference:
    """Return an object's reference with its symbolic namespace; ``namespace`` is the app's default one."""
    group, metadata = read_group(obj), obj["metadata"]
    real = metadata.get("namespace", namespace)
    own = symbolise_namespace(real, namespace) if real else APP_NAMESPACE
    return Reference(obj["kind"], metadata["name"], own or APP_NAMESPACE, group)
