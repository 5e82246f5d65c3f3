"""Compare the capabilities that a scenario needs with those of an environment. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from scenario_kit.load.rules import build_finding
from scenario_kit.model import App, Fault, Finding
from scenario_kit.model.authored.capability import Capability, UnmetNeed

#: Return whether a capability is available; the second argument is the part after its name.
Offers = Callable[[Capability, str], bool]
_NONE: Final[Mapping[str, Sequence[str]]] = {}


def find_unmet_needs(
    faults: Iterable[Fault],
    app: App,
    known: Sequence[Capability],
    offers: Offers,
    options: Mapping[str, Sequence[str]] = _NONE,
) -> list[UnmetNeed]:
    """List the unmet needs of faults, app and app options, once per need and subject.

    An app without a traffic model (``twin: none``) needs a real data plane. ``options`` are the needs of the options
    that a runbook sets.
    """
    needs = [(f"fault '{f.name}' ({f.type})", need) for f in faults for need in f.requires]
    needs += [(f"option '{option}' of app '{app.name}'", need) for option, group in options.items() for need in group]
    if app.twin is None:
        needs.append((f"app '{app.name}'", "real-data-plane"))
    found = (_find_lack(who, need, app, known, offers) for who, need in needs)
    return [lack for lack in found if lack is not None]


def _find_lack(who: str, need: str, app: App, known: Sequence[Capability], offers: Offers) -> UnmetNeed | None:
    for capability in known:
        argument = capability.argument(need)
        if argument is None:
            continue
        own = capability.canary.app
        available = app.name == argument if own is not None else offers(capability, argument)
        if available:
            return None
        return UnmetNeed(
            need=need, who=who, meaning=capability.meaning, where=capability.where, because=capability.because
        )
    return UnmetNeed(need=need, who=who, meaning="a capability that the vocabulary does not define", where="nowhere")


def report_unmet_needs(lacks: Iterable[UnmetNeed], environment: str) -> list[Finding]:
    """Report SK911 for each; ``environment`` names where the capability is missing, such as ``the lab``."""
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
