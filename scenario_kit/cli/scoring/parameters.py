"""Parameters of NTAM from the command line: ``gamma=0.5``, ``length.calls=2``."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
from typing import Any, Final

from scenario_kit.errors import UsageError
from scenario_kit.load import did_you_mean
from scenario_kit.scoring.graph.ntam import NtamParameters

#: What each parameter may be at most; none is below 0. A weight that grows with distance would reward it.
_MOST: Final = {"gamma": inf, "omega": 1.0, "tau": 1.0, "beta": inf}
_LENGTH: Final = "length."


def parse_parameters(texts: Iterable[str]) -> NtamParameters:
    """Parse parameters; of one that is named twice the last value counts.

    Raises:
        UsageError: there is no such parameter, or it cannot have that value.
    """
    values: dict[str, Any] = {}
    lengths: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name.startswith(_LENGTH):
            lengths[name.removeprefix(_LENGTH)] = _parse_number(text, number, inf)
        elif name in _MOST:
            values[name] = _parse_number(text, number, _MOST[name])
        else:
            raise UsageError(f"--ntam has no parameter '{name}'", fix=did_you_mean(name, [*_MOST, f"{_LENGTH}calls"]))
    return NtamParameters(**values, lengths=lengths)


def _parse_number(text: str, number: str, most: float) -> float:
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not isfinite(value) or not 0 <= value <= most:
        limits = "from 0 on" if most == inf else f"from 0 to {most:g}"
        raise UsageError(
            f"--ntam {text}: no such value", fix=f"write a number {limits}, such as {text.partition('=')[0]}=0.5"
        )
    return value
