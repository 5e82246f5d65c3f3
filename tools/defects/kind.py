"""Kinds of defects, and their registry.

A kind is a pure function from a good scenario to defective copies of it. It raises ``DoesNotApply`` where a
scenario offers nothing that could be wrong in that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, Literal, NamedTuple

from tools.defects.subject import Document, Subject

#: What has to catch a defect: ``lint``, the trials of the plan ``quick``, or only those of ``standard``.
Stage = Literal["Static", "Trial", "Standard"]


class DoesNotApply(Exception):
    """The scenario cannot have this kind of defect; the message says why."""


@dataclass(frozen=True)
class Defect:
    """A defective copy of a scenario.

    Attributes:
        reported: what was changed.
        document: the document, or its text.
        files: documents next to the scenario, by path.
        folder: a folder name other than the scenario's.
    """

    reported: str
    document: Document | str
    files: Mapping[str, Document] = field(default_factory=dict)
    folder: str = ""


Make = Callable[[Subject], Iterator[Defect]]


class Kind(NamedTuple):
    """A kind of defect.

    Attributes:
        title: what is wrong.
        codes: findings of which any one is a correct catch.
        first: purposes of the trials that should catch it; they run first.
    """

    name: str
    title: str
    codes: frozenset[str]
    stage: Stage
    make: Make
    first: tuple[str, ...] = ()

    def of(self, subject: Subject) -> list[Defect]:
        """Return the defective copies of a scenario.

        Raises:
            DoesNotApply: the scenario offers nothing that could be wrong in this way.
        """
        found = list(self.make(subject))
        if not found:
            raise DoesNotApply("nothing in it could be wrong in this way")
        return found


KINDS: Final[dict[str, Kind]] = {}


def kind(*codes: str, stage: Stage = "Static", first: tuple[str, ...] = ()) -> Callable[[Make], Make]:
    """Register the decorated function as a kind; its docstring is the kind's title."""

    def register(make: Make) -> Make:
        name = make.__name__.replace("_", "-")
        if name in KINDS:
            raise ValueError(f"the kind {name} is registered twice")
        title = (make.__doc__ or "").strip().rstrip(".")
        KINDS[name] = Kind(name, title, frozenset(codes), stage, make, first)
        return make

    return register


Edit = Callable[[Subject, Document], str]


def edit(*codes: str, stage: Stage = "Static", first: tuple[str, ...] = ()) -> Callable[[Edit], Edit]:
    """Register the decorated function as a kind: it edits the spec of a copy, and returns what was changed."""

    def register(change: Edit) -> Edit:
        @wraps(change)
        def make(subject: Subject) -> Iterator[Defect]:
            document, spec = subject.copy()
            yield Defect(change(subject, spec), document)

        kind(*codes, stage=stage, first=first)(make)
        return change

    return register


def of_stage(*stages: Stage) -> list[Kind]:
    """Return the kinds of these stages."""
    return [k for k in KINDS.values() if k.stage in stages]


def needs(value: Any, reason: str) -> Any:
    """Return ``value``.

    Raises:
        DoesNotApply: ``value`` is falsy; ``reason`` says why.
    """
    if not value:
        raise DoesNotApply(reason)
    return value
