"""Which copies are tried where trying takes time: the same ones each time, spread over the apps."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tests.defects.kind import Defect, DoesNotApply, Kind
from tests.defects.subject import Subject


def chosen(kind: Kind, good: Sequence[Subject], most: int) -> list[tuple[Subject, list[Defect]]]:
    """At most so many scenarios to which the kind applies, of different apps as long as there are any."""
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
