"""Selection of the copies to try in a lab, and of the records that are still current."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from tools.defects.kind import Defect, DoesNotApply, Kind
from tools.defects.record import UNTOUCHED, Caught, get_key
from tools.defects.subject import Subject


def list_current(records: Iterable[Caught], kinds: Iterable[Kind], good: Iterable[Subject]) -> list[Caught]:
    """Return the records of copies that would be made today; others are of past versions."""
    subjects = list(good)
    known = {get_key(*copy) for copy in list_copies(list(kinds), subjects, len(subjects))}
    names = {subject.name for subject in subjects}
    return [r for r in records if r.key in known or (r.kind == UNTOUCHED and r.scenario in names)]


def choose_scenarios(kind: Kind, good: Sequence[Subject], most: int) -> list[tuple[Subject, list[Defect]]]:
    """Return up to ``most`` scenarios to which the kind applies, spread over apps as evenly as possible."""
    fitting: list[tuple[Subject, list[Defect]]] = []
    for subject in sorted(good, key=lambda s: hashlib.sha256(f"{kind.name} {s.name}".encode()).hexdigest()):
        try:
            fitting.append((subject, kind.of(subject)))
        except DoesNotApply:
            continue
    taken: list[tuple[Subject, list[Defect]]] = []
    while fitting and len(taken) < most:
        seen = [subject.spec.app.name for subject, _ in taken]
        rarest = min(fitting, key=lambda pair: seen.count(pair[0].spec.app.name))
        fitting.remove(rarest)
        taken.append(rarest)
    return taken


def list_copies(kinds: Sequence[Kind], good: Sequence[Subject], most: int) -> Iterator[tuple[Kind, Subject, Defect]]:
    """Yield the copies of up to ``most`` scenarios of each kind: first one scenario per kind, then a second."""
    of = [(kind, choose_scenarios(kind, good, most)) for kind in kinds]
    for turn in range(most):
        for kind, fitting in of:
            for subject, defects in fitting[turn : turn + 1]:
                yield from ((kind, subject, defect) for defect in defects)
