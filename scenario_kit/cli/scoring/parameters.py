"""NTAM parameters from the command line: ``gamma=0.5``, ``length.calls=2``."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
from typing import Any, Final

from scenario_kit.errors import UsageError
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.scoring.graph.ntam import NtamParameters

#: Maximum of each parameter; the minimum is 0. A weight that grows with distance would reward distance.
_MAXIMA: Final = {"gamma": inf, "omega": 1.0, "tau": 1.0, "beta": inf}
_LENGTH: Final = "length."


def parse_parameters(texts: Iterable[str]) -> NtamParameters:
    """Parse parameters; the last value of a repeated parameter counts.

    Raises:
        UsageError: an unknown parameter or an invalid value.
    """
    values: dict[str, Any] = {}
    lengths: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name.startswith(_LENGTH):
            lengths[name.removeprefix(_LENGTH)] = _parse_number(text, number, inf)
        elif name in _MAXIMA:
            values[name] = _parse_number(text, number, _MAXIMA[name])
        else:
            raise UsageError(f"--ntam has no parameter '{name}'", fix=did_you_mean(name, [*_MAXIMA, f"{_LENGTH}calls"]))
    return NtamParameters(**values, lengths=lengths)


def _parse_number(text: str, number: str, most: float) -> float:
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not isfinite(value) or not 0 <= value <= most:
        limits = "of at least 0" if most == inf else f"from 0 to {most:g}"
        raise UsageError(
            f"--ntam {text}: invalid value", fix=f"pass a number {limits}, such as {text.partition('=')[0]}=0.5"
        )
    return value
