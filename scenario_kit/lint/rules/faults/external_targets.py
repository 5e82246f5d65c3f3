"""SK151: names in `externalTargets` of a NetworkChaos that the manager of Chaos Mesh cannot resolve."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.context.source_location import find_site
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.simulation.stages import Simulation
from scenario_kit.model import App
from scenario_kit.model.chaos.fields import is_external, list_targets
from scenario_kit.model.chaos.reach import is_chaos
from scenario_kit.model.kubernetes.reference import resolve_homes

#: Namespace of the manager, which determines its search domains.
_HOME: Final = "chaos-mesh"
_ZONE: Final = ("svc", "cluster", "local")
_NAME: Final = re.compile(r"[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*\.?", re.IGNORECASE)
_POD: Final = re.compile(r"\d{1,3}(-\d{1,3}){3}")
#: Services of every cluster.
_EVERYWHERE: Final = frozenset({("kubernetes", "default"), ("kube-dns", "kube-system")})


@register_check("SK151", "Scenario", "Fault")
@report_once("place", "observed")
def check_unresolved(case: LintContext | FaultCase) -> Iterator[Problem]:
    for one in case.written:
        for i, target in enumerate(list_targets(one.object) if is_chaos(one.object) else ()):
            problem = "" if "{{" in target else _find_problem(target, one.stage.app, one.stage)
            if not problem:
                continue
            site = find_site(case, one.stage, ("spec", "externalTargets", i), target)
            place, position = (site.place, site.position) if site else (one.stage.place, None)
            yield Problem(place, problem, target, "a name that the cluster's DNS has", position=position)


def _find_problem(target: str, app: App, stage: Simulation) -> str:
    """Explain why a target does not resolve; empty if it does, or only a cluster can tell."""
    host = target.rpartition(":")[0] if target.count(":") == 1 else target
    address = _classify_address(host)
    if address:
        return "" if address == "IPv4" else "Chaos Mesh does not accept IPv6 addresses as external targets"
    if not _NAME.fullmatch(host):
        return f"'{host}' is neither an address nor a name"
    labels = host.rstrip(".").lower().split(".")
    if len(labels) == 1:
        return f"'{host}' is resolved in the namespace '{_HOME}' of Chaos Mesh, and does not exist there"
    *names, last = _strip_domain(labels)
    if last == "pod":
        return "" if _POD.fullmatch(names[0]) else f"no pod is called '{host}'"
    name, namespace = (names[-1], last) if names else (last, "")
    if labels == _strip_domain(labels) and is_external(host, resolve_homes(app.namespace, app.namespaces)):
        return ""  # a public name; another rule reports that the lab cannot resolve it
    if (name, namespace) in _EVERYWHERE:
        return ""
    services = {
        (o["metadata"]["name"], o["metadata"].get("namespace", app.namespace))
        for o in stage.after
        if o["kind"] == "Service"
    }
    return "" if (name, namespace) in services else f"the app has no Service '{name}' in namespace '{namespace}'"


def _strip_domain(labels: list[str]) -> list[str]:
    """Strip the cluster domain, or any leading part of it, from a name."""
    for length in range(len(_ZONE), 0, -1):
        if len(labels) > length + 1 and tuple(labels[-length:]) == _ZONE[:length]:
            return labels[:-length]
    if len(labels) == 5 and tuple(labels[-3:]) == ("pod", "cluster", "local"):
        return labels[:3]
    return labels


def _classify_address(host: str) -> str:
    """Return ``IPv4`` or ``IPv6`` for an address or a network; empty for anything else."""
    for read in (ip_address, lambda text: ip_network(text, strict=False)):
        try:
            return "IPv6" if isinstance(read(host), IPv6Address | IPv6Network) else "IPv4"
        except ValueError:
            continue
    return ""
