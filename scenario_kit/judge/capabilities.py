"""What a scenario needs, against what its environment offers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import App, Fault, Finding
from scenario_kit.model.authored.capability import Capability, Lack

#: Answers whether a capability is there; the second argument is what stands behind its name.
Offers = Callable[[Capability, str], bool]
_NONE: Final[Mapping[str, Sequence[str]]] = {}


def find_lacks(
    faults: Iterable[Fault],
    app: App,
    known: Sequence[Capability],
    offers: Offers,
    options: Mapping[str, Sequence[str]] = _NONE,
) -> list[Lack]:
    """Find every need of the faults, of the app and of its options that is not met, once per need and who has it.

    An app without a model of its traffic (``twin: none``) needs a real data plane. ``options`` are the needs of those
    that a runbook has.
    """
    needs = [(f"fault '{f.name}' ({f.type})", need) for f in faults for need in f.requires]
    needs += [(f"option '{option}' of app '{app.name}'", need) for option, group in options.items() for need in group]
    if app.twin is None:
        needs.append((f"app '{app.name}'", "real-data-plane"))
    found = (_find_lack(who, need, app, known, offers) for who, need in needs)
    return [lack for lack in found if lack is not None]


def _find_lack(who: str, need: str, app: App, known: Sequence[Capability], offers: Offers) -> Lack | None:
    for capability in known:
        argument = capability.argument(need)
        if argument is None:
            continue
        own = capability.canary.app
        there = app.name == argument if own is not None else offers(capability, argument)
        if there:
            return None
        return Lack(need=need, who=who, meaning=capability.meaning, where=capability.where, because=capability.because)
    return Lack(need=need, who=who, meaning="a word that the vocabulary of capabilities does not have", where="nowhere")


def report_lacks(lacks: Iterable[Lack], environment: str) -> list[Finding]:
    """Report SK911 for each; ``environment`` is where the capability is missed, such as ``the lab``."""
    return [
        build_finding(
            "SK911",
            message=f"{lack.who} needs {lack.need}, which {environment} does not have",
            observed=f"{environment}: {lack.because}" if lack.because else "",
            expected=f"{lack.need}: {lack.meaning[0].lower()}{lack.meaning[1:]}",
            why="this environment cannot run the scenario; the scenario is not at fault",
            fix=f"run it in {lack.where}",
        )
        for lack in lacks
    ]
