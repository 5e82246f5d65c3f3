"""``catalog``: list apps, faults, alerts and scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenario_kit.cli.terminal.options import Format
from scenario_kit.cli.terminal.output import show_json, show_table
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.model import AlertRule

FAMILIES = ("apps", "faults", "alerts", "scenarios")


def catalog(
    family: Annotated[str, typer.Argument(help=f"One of: {', '.join(FAMILIES)}; all by default.")] = "",
    action: Annotated[str, typer.Argument(metavar="[show]", help="`show`, to print one entry.")] = "",
    name: Annotated[str, typer.Argument(help="Name of the entry.")] = "",
    format: Format = "text",
) -> None:
    """List apps, faults, alert rules and scenarios, or show one entry.

    Example: scenario-kit catalog faults show network-delay
    """
    from scenario_kit.catalog import Catalog

    if family and family not in FAMILIES:
        raise UsageError(f"the catalogue has no '{family}'", fix=f"one of: {', '.join(FAMILIES)}")
    if action and (action != "show" or not name):
        entry = "NAME" if action == "show" else action
        raise UsageError("one entry is shown by `show NAME`", fix=f"scenario-kit catalog {family} show {entry}")
    known = Catalog()
    if action:
        _show(known, family, name, format)
    else:
        _list(known, [family] if family else list(FAMILIES), format)


def _list(catalog: Catalog, families: list[str], format: str) -> None:
    listed = {family: _list_entries(catalog, family) for family in families}
    if format == "json":
        show_json(listed)
        return
    for family, entries in listed.items():
        typer.echo(f"{family}:" if entries else f"{family}: none")
        if entries:
            headers = tuple(entries[0])
            show_table(headers, [tuple(str(entry[h]) for h in headers) for entry in entries])
        typer.echo()


def _list_entries(catalog: Catalog, family: str) -> list[dict[str, str]]:
    from scenario_kit.catalog.evidence import read_evidence
    from scenario_kit.load import load_scenario

    if family == "apps":
        return [{"name": name, "versions": ", ".join(catalog.versions(name))} for name in catalog.apps()]
    if family == "faults":
        faults = [catalog.fault(name) for name in catalog.faults()]
        return [{"name": f.name, "targets": ", ".join(f.targets), "title": f.title} for f in faults]
    if family == "alerts":
        return [
            {
                "name": rule.name,
                "pack": rule.pack,
                "entity": rule.entity.kind if rule.entity else "nothing",
                "after": f"{rule.for_seconds} s",
                "title": rule.annotations.get("description") or rule.annotations.get("summary", ""),
            }
            for rule in _list_rules(catalog)
        ]
    listed = [(load_scenario(path).scenario, read_evidence(path)) for path in catalog.scenarios()]
    return [
        {
            "name": s.name,
            "app": f"{s.spec.app.name} {s.spec.app.version}",
            "tier": found.tier if found else "none",
            "title": s.spec.title,
        }
        for s, found in listed
    ]


def _list_rules(catalog: Catalog) -> list[AlertRule]:
    return [rule for pack in catalog.alert_packs() for rule in catalog.alert_pack(pack)]


def _show(catalog: Catalog, family: str, name: str, format: str) -> None:
    from scenario_kit.model.spelling import did_you_mean

    names = [entry["name"] for entry in _list_entries(catalog, family)]
    if name not in names:
        raise UsageError(f"no '{name}' among the {family}", fix=did_you_mean(name, names))
    document = _document(catalog, family, name)
    if format == "json":
        show_json(document)
        return
    import yaml

    typer.echo(yaml.safe_dump(document, sort_keys=False, width=120, allow_unicode=True))


def _document(catalog: Catalog, family: str, name: str) -> dict[str, Any]:
    from scenario_kit.load import load_scenario

    if family == "apps":
        return {version: catalog.app(name, version).to_json() for version in catalog.versions(name)}
    if family == "faults":
        return catalog.fault(name).to_json() | {"tried": _read_tried(catalog, name)}
    if family == "alerts":  # names of rules are not unique, even within a pack
        found = [rule for rule in _list_rules(catalog) if rule.name == name]
        return {pack: [r.to_json() for r in found if r.pack == pack] for pack in dict.fromkeys(r.pack for r in found)}
    path = next(p for p in catalog.scenarios() if p.parent.name == name)
    return load_scenario(path).scenario.to_json()


def _read_tried(catalog: Catalog, fault: str) -> dict[str, dict[str, Any]]:
    """Return the measured onsets of a fault with default parameters, in seconds by app, target and alert."""
    found: dict[str, dict[str, Any]] = {}
    for name in catalog.apps():
        app = catalog.app(name, catalog.versions(name)[0])
        for row in catalog.matrix(app, fault):
            if row.outcome in ("Ran", "NoEffect"):
                fired = {str(alert): int(alert.seconds) for alert in row.alerts}
                result = "no effect" if row.outcome == "NoEffect" else fired or "no alert"
                found.setdefault(f"{app.name} {app.version}", {})[str(row.target)] = result
    return found
