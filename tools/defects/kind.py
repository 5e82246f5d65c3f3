"""What a kind of defect is, and the register of all of them.

A kind is a pure function from a good scenario to defective copies of it. It yields nothing but raises
``DoesNotApply`` where a scenario has nothing that could be wrong in that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from tools.defects.subject import Document, Subject

#: Where a defect is to be caught: by ``lint``, by the trials of the plan ``quick``, or only by those of ``standard``.
Stage = Literal["Static", "Trial", "Standard"]


class DoesNotApply(Exception):
    """Why a scenario cannot be wrong in this way."""


@dataclass(frozen=True)
class Defect:
    """A defective copy: what was done to it, and its text or its document.

    ``files`` lie beside the scenario, by path; ``folder`` is another folder than that of its name.
    """

    reported: str
    document: Document | str
    files: Mapping[str, Document] = field(default_factory=dict)
    folder: str = ""


Make = Callable[[Subject], Iterator[Defect]]


class Kind(NamedTuple):
    """``codes`` are the findings that count as the right catch.

    ``first`` names the purposes of the trials that should see it: they are run before the others.
    """

    name: str
    title: str
    codes: frozenset[str]
    stage: Stage
    make: Make
    first: tuple[str, ...] = ()

    def of(self, subject: Subject) -> list[Defect]:
        """The defective copies.

        Raises:
            DoesNotApply: there are none.
        """
        found = list(self.make(subject))
        if not found:
            raise DoesNotApply("nothing in it could be wrong in this way")
        return found


KINDS: Final[dict[str, Kind]] = {}


def kind(*codes: str, stage: Stage = "Static", first: tuple[str, ...] = ()) -> Callable[[Make], Make]:
    """Register the decorated function; its docstring says what is wrong."""

    def register(make: Make) -> Make:
        name = make.__name__.replace("_", "-")
        if name in KINDS:
            raise ValueError(f"the kind {name} is registered twice")
        title = (make.__doc__ or "").strip().rstrip(".")
        KINDS[name] = Kind(name, title, frozenset(codes), stage, make, first)
        return make

    return register


def of_stage(*stages: Stage) -> list[Kind]:
    """The kinds that are to be caught there."""
    return [k for k in KINDS.values() if k.stage in stages]


def needs(value: Any, reason: str) -> Any:
    """``value``, where there is one.

    Raises:
        DoesNotApply: for ``reason``.
    """
    if not value:
        raise DoesNotApply(reason)
    return value
