"""The one spelling of object references: ``[namespace/]Kind[.group]/name``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self, final

#: The API group of our own kinds, and the prefix of our labels and annotations.
GROUP: Final = "scenariokit.io"
#: The symbolic namespace of the app under test; resolved when a trial knows its real name.
APP_NAMESPACE = "app"
#: Where our own objects live, and what is hidden from solvers: they cannot read it.
MANAGEMENT_NAMESPACE = "scenario-kit"

#: Kinds that own pods by a template, and roll them out.
WORKLOADS: Final = ("Deployment", "StatefulSet", "DaemonSet")
#: The short names of kinds that kubectl takes, but for those that are English words.
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
class Reference:
    """Names one object. ``group`` is empty for kinds that are unambiguous without one (core, apps, batch …).

    In JSON, and so wherever a value has one as a field, it is the text that ``parse`` reads.
    """

    __slots__ = ("group", "kind", "name", "namespace")

    def __init__(self, kind: str, name: str, namespace: str = APP_NAMESPACE, group: str = "") -> None:
        self.kind: Final = kind
        self.name: Final = name
        self.namespace: Final = namespace
        self.group: Final = group

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``[namespace/]Kind[.group]/name``; no namespace means the app's.

        Raises:
            ValueError: the text has another form; the message says which form is expected.
        """
        match = _PATTERN.match(text)
        if not match:
            raise ValueError(
                f"'{text}' is not a reference; expected [namespace/]Kind[.group]/name, e.g. Deployment/cart"
            )
        parts = match.groupdict()
        return cls(parts["kind"], parts["name"], parts["namespace"] or APP_NAMESPACE, parts["group"] or "")

    from_json = parse

    def to_json(self) -> str:
        """Return the text."""
        return str(self)

    def _key(self) -> tuple[str, ...]:
        return self.kind, self.name, self.namespace, self.group

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._key() == other._key()

    def __lt__(self, other: Reference) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Reference{self._key()}"

    def __str__(self) -> str:
        namespace = "" if self.namespace == APP_NAMESPACE else f"{self.namespace}/"
        group = f".{self.group}" if self.group else ""
        return f"{namespace}{self.kind}{group}/{self.name}"

    @property
    def groupless(self) -> Reference:
        """As references usually spell it: the same object without its group."""
        return Reference(self.kind, self.name, self.namespace) if self.group else self

    def within(self, namespace: str, others: Mapping[str, str] = _NONE) -> Reference:
        """Return this reference with a symbolic namespace replaced by a real one.

        Args:
            namespace: what stands for the app's.
            others: the real names of further namespaces of the app, by the symbolic ones.
        """
        real = namespace if self.namespace == APP_NAMESPACE else others.get(self.namespace, self.namespace)
        return self.move(real)

    def move(self, namespace: str) -> Reference:
        """Return the reference of the same name in another namespace."""
        return self if namespace == self.namespace else Reference(self.kind, self.name, namespace, self.group)


def strip_group(text: str) -> str:
    """Return a reference as they are usually spelled, so that one written with its group names no other object.

    Raises:
        ValueError: the text is no reference.
    """
    return str(Reference.parse(text).groupless)


def strip_reference(text: str) -> tuple[str, str]:
    """Return kind and name of a reference: what is left of it where a name is unique over all namespaces of an app."""
    ref = Reference.parse(text)
    return ref.kind, ref.name


def resolve_homes(namespace: str, symbols: Iterable[str]) -> frozenset[str]:
    """Resolve an app's own namespace and its further ones, by their symbols, to real names."""
    return frozenset(resolve_namespace(namespace, symbol) for symbol in (APP_NAMESPACE, *symbols))


def resolve_namespace(namespace: str, symbol: str) -> str:
    """Return the real name of a namespace that an app declares, where the app itself is in ``namespace``."""
    return namespace if symbol == APP_NAMESPACE else f"{namespace}-{symbol}"


def symbolise_namespace(real: str, namespace: str) -> str:
    """Return how references spell a namespace, where the app is in ``namespace``; others stay as they are."""
    if real == namespace:
        return APP_NAMESPACE
    return real.removeprefix(f"{namespace}-") if namespace else real


def make_object_reference(obj: Mapping[str, Any], namespace: str = "") -> Reference:
    """Make the reference of an object, by real names; one that names no namespace is in ``namespace``."""
    group = str(obj.get("apiVersion", "")).rpartition("/")[0]
    return Reference(obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace", namespace), group)


def make_reference(obj: Mapping[str, Any], namespace: str) -> Reference:
    """Make the reference of an object, as files spell it; ``namespace`` is the one that is spelled ``app``."""
    ref = make_object_reference(obj, namespace)
    own = symbolise_namespace(ref.namespace, namespace) if ref.namespace else APP_NAMESPACE
    return ref.move(own or APP_NAMESPACE)
