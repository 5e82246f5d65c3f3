"""Fields of chaos objects by which Chaos Mesh finds nothing, or leaves to chance whether it does anything.

The manager accepts them all, and reports the fault as injected, or tries for ever.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import get_experiment
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.duration import parse_seconds

#: Blocks of NetworkChaos that concern a share of the packets, with the field of the share.
_SHARES: Final = ("loss", "corrupt", "duplicate")
#: Below this share, in percent, hardly a packet is concerned.
_HARDLY: Final = 1.0
_LETTERS_OF_NAMES: Final = re.compile(r"[!-~]+")
_CLASS: Final = re.compile(r"\^?[\w$.]+")
#: A method as Byteman names it: with its parameters if there are several, and its type before it.
_METHOD: Final = re.compile(r"(?:[\w$.\[\]]+\s+)?[\w$<>]+\s*(?:\([^()]*\))?")
_WILDCARDS: Final = re.compile(r"[*?\[]")


class IneffectiveField(NamedTuple):
    """A field without an effect: its keys in the spec, why it has none, and what would have one."""

    keys: Place
    value: str
    reason: str
    expected: str


def find_ineffective_fields(obj: Object) -> Iterator[IneffectiveField]:
    """Yield the fields of a chaos object, or of the one that a Schedule starts, that have no certain effect."""
    kind, spec, _ = get_experiment(obj)
    judge = {"DNSChaos": _judge_names, "HTTPChaos": _judge_http, "IOChaos": _judge_files, "JVMChaos": _judge_method,
             "NetworkChaos": _judge_packets}.get(kind)  # fmt: skip
    if judge is not None:
        yield from judge(spec)


def _judge_names(spec: Mapping[str, Any]) -> Iterator[IneffectiveField]:
    patterns = [p for p in spec.get("patterns") or () if isinstance(p, str)]
    # The server adds a name without star a second time, with the dot at its end.
    known = Counter(word for p in patterns for word in ({p, f"{p}."} if "*" not in p else {p}))
    for i, pattern in enumerate(patterns):
        keys = ("patterns", i)
        if "*" in pattern[:-1]:
            yield IneffectiveField(keys, pattern, "the star is not its last letter", "a star at the end only")
        elif not _LETTERS_OF_NAMES.fullmatch(pattern):
            yield IneffectiveField(keys, pattern, "no name has such letters", "a name, or how names begin and a star")
        elif known[pattern] > 1 and any(other.rstrip(".") == pattern.rstrip(".") for other in patterns[:i]):
            yield IneffectiveField(keys, pattern, "it is there already", "each name once")


def _judge_http(spec: Mapping[str, Any]) -> Iterator[IneffectiveField]:
    path = spec.get("path")
    if not isinstance(path, str) or not path:
        return
    if path[0] not in "/*?":
        yield IneffectiveField(("path",), path, "paths of requests begin with /", "a pattern such as /api/*")
    elif re.search(r"[\s\x00-\x1f]", path):
        yield IneffectiveField(("path",), path, "no path has white space", "a pattern such as /api/*")


def _judge_files(spec: Mapping[str, Any]) -> Iterator[IneffectiveField]:
    path, volume = spec.get("path"), str(spec.get("volumePath", "")).rstrip("/")
    if not isinstance(path, str) or not path:
        return
    beginning = _WILDCARDS.split(path, maxsplit=1)[0]
    inside = f"{volume}/"
    if not (beginning.startswith(inside) if beginning == path else _agree(beginning, inside)):
        reason = f"no file of the volume at {volume or '/'} has such a path"
        yield IneffectiveField(("path",), path, reason, f"a pattern such as {volume}/**/*")


def _agree(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _judge_method(spec: Mapping[str, Any]) -> Iterator[IneffectiveField]:
    for field, form, example in (("class", _CLASS, "com.example.Cart"), ("method", _METHOD, "addItem")):
        name = spec.get(field)
        if isinstance(name, str) and name and form.fullmatch(name) is None:
            yield IneffectiveField((field,), name, f"Java has no {field} of such a name", f"a name such as {example}")


def _judge_packets(spec: Mapping[str, Any]) -> Iterator[IneffectiveField]:
    yield from _judge_delay(spec.get("delay"))
    for block in _SHARES:
        part = spec.get(block)
        if not isinstance(part, Mapping):
            continue
        percent, correlation = _read_number(part.get(block)), _read_number(part.get("correlation"))
        keys = (block, "correlation")
        if correlation >= 100 and 0 < percent < 100:
            reason = "the kernel draws once, so chance decides whether all packets are hit or none"
            yield IneffectiveField(keys, str(part["correlation"]), reason, "less than 100")
        elif percent >= _HARDLY and (left := estimate_share(percent, correlation)) < _HARDLY:
            reason = f"of the {percent:g} % it leaves {left:.1f} %, as the kernel then draws numbers near the middle"
            yield IneffectiveField(keys, str(part["correlation"]), reason, "a lower correlation, or a share above 50")


def _judge_delay(delay: Any) -> Iterator[IneffectiveField]:
    if not isinstance(delay, Mapping):
        return
    if _is_positive(delay.get("jitter")) and _read_number(delay.get("correlation")) >= 100:
        reason = "the kernel draws once, so chance decides how late all packets are"
        yield IneffectiveField(("delay", "correlation"), str(delay["correlation"]), reason, "less than 100")
    reorder = delay.get("reorder")
    if not isinstance(reorder, Mapping) or not 0 < _read_number(reorder.get("reorder")) < 100:
        return
    if _read_number(reorder.get("correlation")) >= 100:
        reason = "the kernel draws once, so chance decides whether all packets overtake or none"
        yield IneffectiveField(
            ("delay", "reorder", "correlation"), str(reorder["correlation"]), reason, "less than 100"
        )


def estimate_share(percent: float, correlation: float) -> float:
    """Estimate how many percent of the packets netem hits, with a correlation in percent.

    Its random numbers are then sums of uniform ones, which are nearly normal around the middle, the narrower the higher
    the correlation is. It is some percent off where the correlation is low, and right where hardly a packet is hit.
    """
    rho = min(max(correlation, 0.0), 99.9) / 100.0
    if rho == 0.0 or percent in (0.0, 100.0):
        return percent
    deviation = math.sqrt((1.0 - rho) / (1.0 + rho) / 12.0)
    return 50.0 * math.erfc((0.5 - percent / 100.0) / deviation / math.sqrt(2.0))


def _is_positive(duration: Any) -> bool:
    try:
        return parse_seconds(str(duration or "0")) > 0.0
    except ValueError:
        return False


def _read_number(text: Any) -> float:
    try:
        return float(text or 0)
    except (TypeError, ValueError):
        return 0.0
