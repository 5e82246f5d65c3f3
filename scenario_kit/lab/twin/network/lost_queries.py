"""Lost DNS queries: how long a name takes, and whether it resolves, by what asks for it (docs/fidelity.md).

A name has two queries, one for each family of addresses; of a cluster, the second one's answer is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, product
from typing import Final, NamedTuple

import numpy as np

from scenario_kit.lab.twin.cluster.dns import list_attempts
from scenario_kit.lab.twin.network.name_queries import ATTEMPT_SECONDS, QueryPath, find_position
from scenario_kit.lab.twin.numeric.arrays import Floats, Ints
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.twin.component import Resolver

#: After how long musl sends unanswered queries again: half of the time that it waits in all.
_MUSL_SECONDS: Final = ATTEMPT_SECONDS / 2.0
#: How glibc sends the two queries: at once, the second after the first answer, and that on a socket of its own.
_AT_ONCE, _IN_TURN, _REOPENED = 0, 1, 2


class NameResolution(NamedTuple):
    """One course of a resolution: how often it is taken, how long it lasts, and how it ends."""

    share: float
    seconds: float
    outcome: ConnectionOutcome


class _Course(NamedTuple):
    """What has come of some names: how long they took, whether they were answered, and how glibc asks from now on."""

    seconds: float = 0.0
    answered: bool = True
    manner: int = _AT_ONCE


#: The courses that are possible, with their probabilities.
_Courses = Mapping[_Course, float]


def list_resolutions(host: str, namespace: str, resolver: Resolver, path: QueryPath) -> tuple[NameResolution, ...]:
    """List the courses that the resolution of a name of the cluster can take, if a share of the queries is lost."""
    names, position = len(list_attempts(host, namespace)), find_position(host, namespace)
    late = position * path.delay
    found: dict[tuple[float, ConnectionOutcome], float] = {}
    resolve = {"go": _resolve_go, "musl": _resolve_musl}.get(resolver, _resolve_glibc)
    for course, outcome, share in resolve(path.loss, position, names):
        key = (course.seconds + (late if outcome == ConnectionOutcome.OK else 0.0), outcome)
        found[key] = found.get(key, 0.0) + share
    ordered = sorted(found.items(), key=lambda item: (item[0][0], item[0][1].value))
    return tuple(NameResolution(share, *key) for key, share in ordered if share > 0.0)


def choose(resolutions: tuple[NameResolution, ...], uniform: Floats) -> Ints:
    """Return the number of the course that each resolution takes, by uniform numbers."""
    bounds = list(accumulate(each.share for each in resolutions))
    return np.minimum(np.searchsorted(np.asarray(bounds), uniform, side="right"), len(bounds) - 1)


def _resolve_go(loss: float, position: int, names: int) -> Iterable[tuple[_Course, ConnectionOutcome, float]]:
    """Go asks for all names until one has an address; an answer without the other is enough."""
    one = {0.0: 1.0 - loss, ATTEMPT_SECONDS: loss * (1.0 - loss), 2.0 * ATTEMPT_SECONDS: loss * loss}
    failed = 2.0 * ATTEMPT_SECONDS
    both: dict[_Course, float] = {}
    meant: dict[_Course, float] = {}
    for (first, p), (second, q) in product(one.items(), one.items()):
        _add(both, _Course(max(first, second), failed not in (first, second)), p * q)
        _add(meant, _Course(max(first, second), first != failed), p * q)
    before = _follow({_Course(): 1.0}, both, position - 1)
    for course, share in _follow(before, meant, 1).items():
        if course.answered:
            yield course, ConnectionOutcome.OK, share
            continue
        searched = max(names - position - 1, 0)  # the name as it is comes last, and its error does not count
        for after, part in _follow(_follow({course: share}, both, searched), both, 0).items():
            answered = searched > 0 and after.answered
            outcome = ConnectionOutcome.NXDOMAIN if answered else ConnectionOutcome.DNS_TIMEOUT
            for last, rest in _follow({after: part}, both, int(names > position)).items():
                yield last, outcome, rest


def _resolve_musl(loss: float, position: int, names: int) -> Iterable[tuple[_Course, ConnectionOutcome, float]]:
    """Musl sends each query twice, and gives the search up with the first name that lacks an answer."""
    del names
    once, twice = (1.0 - loss) ** 2, (1.0 - loss * loss) ** 2
    courses: _Courses = {_Course(): 1.0}
    for number in range(1, position + 1):
        met: dict[_Course, float] = {}
        for course, share in courses.items():
            yield course._replace(seconds=course.seconds + ATTEMPT_SECONDS), _UNANSWERED, share * (1.0 - twice)
            _add(met, course, share * once)
            _add(met, course._replace(seconds=course.seconds + _MUSL_SECONDS), share * (twice - once))
        courses = met
        if number == position:
            yield from ((course, ConnectionOutcome.OK, share) for course, share in courses.items())


def _resolve_glibc(loss: float, position: int, names: int) -> Iterable[tuple[_Course, ConnectionOutcome, float]]:
    """Glibc gives the search up with the first name that lacks an answer, and tries the name as it is."""
    courses: _Courses = {_Course(): 1.0}
    for number in range(1, position + 1):
        met: dict[_Course, float] = {}
        for course, share in courses.items():
            for one, part in _ask_glibc(loss, course.manner).items():
                after = one._replace(seconds=course.seconds + one.seconds)
                if one.answered:
                    _add(met, after, share * part)
                elif names == 1:
                    yield after, _UNANSWERED, share * part
                else:
                    yield from _ask_as_it_is(after, loss, share * part)
        courses = met
        if number == position:
            yield from ((course, ConnectionOutcome.OK, share) for course, share in courses.items())


def _ask_as_it_is(course: _Course, loss: float, share: float) -> Iterable[tuple[_Course, ConnectionOutcome, float]]:
    """Ask for a name of the cluster without a domain: it does not exist."""
    for one, part in _ask_glibc(loss, course.manner).items():
        outcome = ConnectionOutcome.NXDOMAIN if one.answered else _UNANSWERED
        yield one._replace(seconds=course.seconds + one.seconds), outcome, share * part


def _ask_glibc(loss: float, manner: int) -> _Courses:
    """Return what comes of one name. Whoever gets one answer of two asks again, in another manner."""
    passes = 1.0 - loss
    done: dict[_Course, float] = {}
    asking: dict[tuple[int, int, int], float] = {(0, 0, manner): 1.0}  # rounds, attempts, manner
    while asking:
        (rounds, attempts, how), share = asking.popitem()
        if attempts == 2:
            _add(done, _Course(rounds * ATTEMPT_SECONDS, False, how), share)
            continue
        _add(done, _Course(rounds * ATTEMPT_SECONDS, True, how), share * passes * passes)
        half = 2.0 * loss * passes if how == _AT_ONCE else passes * loss
        none = loss * loss if how == _AT_ONCE else loss
        if how == _REOPENED:  # the one answer has to do
            _add(done, _Course((rounds + 1) * ATTEMPT_SECONDS, True, how), share * half)
        else:
            again = (rounds + 1, attempts, how + 1)
            asking[again] = asking.get(again, 0.0) + share * half
        following = (rounds + 1, attempts + 1, how)
        asking[following] = asking.get(following, 0.0) + share * none
    return done


def _follow(courses: _Courses, name: _Courses, times: int) -> _Courses:
    """Let names follow on courses; whether the last one was answered is what counts."""
    for _ in range(times):
        met: dict[_Course, float] = {}
        for course, share in courses.items():
            for one, part in name.items():
                _add(met, one._replace(seconds=course.seconds + one.seconds), share * part)
        courses = met
    return courses


def _add(courses: dict[_Course, float], course: _Course, share: float) -> None:
    courses[course] = courses.get(course, 0.0) + share


_UNANSWERED: Final = ConnectionOutcome.DNS_TIMEOUT
