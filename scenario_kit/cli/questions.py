"""The questions of ``new``. Only what fits can be chosen; without a terminal a missing answer is an error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, get_args

import typer
import yaml

from scenario_kit.errors import UsageError
from scenario_kit.load import did_you_mean

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.draft import Answers
    from scenario_kit.model import App, FaultType
    from scenario_kit.render.offers import Offer


#: Targets that a message names.
_SHOWN: Final = 12


def complete(
    given: Mapping[str, str], parameters: Sequence[str], author: str, catalog: Catalog, *, ask: bool
) -> Answers:
    """All answers: those that were given, checked, and the others asked for.

    Args:
        given: app, version, target, fault, name, outcome; empty means not given. Without an incident and without a
            fault nobody is asked what breaks.
        parameters: ``NAME=VALUE`` each.
        author: who writes it, as far as known.
        ask: whether somebody is there to answer.

    Raises:
        UsageError: an answer that does not fit, or one that is missing while nobody can be asked.
    """
    from scenario_kit.draft import Answers, name_for

    app_name = _chosen("app", given["app"], catalog.apps(), "--app", ask=ask, only=True)
    versions = catalog.versions(app_name)
    version = _chosen("version", given["version"] or versions[0], versions, "--version", ask=ask)
    app = catalog.app(app_name, version)
    if given["fault"] and given["fault"] not in catalog.faults():
        fix = did_you_mean(given["fault"], catalog.faults()) or "`scenario-kit catalog faults` lists them"
        raise UsageError(f"there is no fault type '{given['fault']}'", fix=fix)
    outcome = _outcome(given.get("outcome", ""))
    if outcome == "NoIncident" and not (given["target"] or given["fault"] or parameters):
        return Answers(app_name, version, "", "", {}, given["name"], author, outcome)
    values = _pairs(parameters, catalog.fault(given["fault"])) if given["fault"] else {}
    offer = _offer(given, values, app, catalog, ask=ask)
    values = _parameters(offer, parameters, catalog, ask=ask)
    answers = Answers(app_name, version, offer.target, offer.fault.type, values, given["name"], author, outcome)
    if ask:
        name = given["name"] or typer.prompt("Name", default=name_for(answers))
        who = author or typer.prompt("Author")
        answers = Answers(app_name, version, offer.target, offer.fault.type, values, name, who, outcome)
    return answers


def _outcome(text: str) -> Any:
    from scenario_kit.model.scenario import Outcome

    known = get_args(Outcome)
    if text and text not in known:
        fix = did_you_mean(text, known) or f"one of: {', '.join(known)}"
        raise UsageError(f"there is no outcome '{text}'", fix=fix)
    return text


def _offer(given: Mapping[str, str], values: Mapping[str, Any], app: App, catalog: Catalog, *, ask: bool) -> Offer:
    """What breaks, and how."""
    from scenario_kit.draft import entities
    from scenario_kit.render import app_objects
    from scenario_kit.render.golden import objects_for

    fault, target = given["fault"], given["target"]
    if fault:  # with what it wants of the app: an autoscaler is there only where one is asked for
        objects = objects_for(catalog.fault(fault), app, catalog)
    else:
        objects = app_objects(app, {}, 50, app.namespace, templates=catalog.templates(app.name))
    things = entities(app, objects)
    listed = [e.name for e in things]
    known = [*listed, *(o for e in things for o in e.objects)]
    if fault and not (target or ask):
        return _anywhere(fault, app, catalog)
    entity = _chosen("what breaks", target, listed, "--target", ask=ask, also=known)
    return _at(entity, fault, values, app, catalog) if fault else _one_of_all(entity, app, catalog, ask=ask)


def _anywhere(fault: str, app: App, catalog: Catalog) -> Offer:
    """The fault at the first target that fits it: for those who want to see it, wherever."""
    from scenario_kit.render.golden import first_offer

    found = first_offer(catalog.fault(fault), app, catalog)
    if found is None:
        raise UsageError(f"{fault} does not fit {app.name}", fix="choose another app, or a fault that fits it")
    return found


def _at(entity: str, fault: str, values: Mapping[str, Any], app: App, catalog: Catalog) -> Offer:
    """The chosen fault with the given values, or without them where only these are wrong, as others tell."""
    from scenario_kit.draft import aimed

    found = aimed(fault, entity, app, catalog, values)
    offers = found.offers or (aimed(fault, entity, app, catalog).offers if values else ())
    if offers:
        return offers[0]
    told = found.why
    if not told.startswith(fault):
        told = f"{fault} does not fit {entity}" + (f": {told}" if told else "")
    fix = f"{found.fix or 'choose another target'} ({fault} fits {_fitting(fault, app, catalog)})"
    others = f"scenario-kit new --app {app.name} --target {entity}"
    raise UsageError(told, fix=f"{fix}, or break {entity} in another way: `{others}` lists them")


def _fitting(fault: str, app: App, catalog: Catalog) -> str:
    """What the fault can be aimed at, with its defaults."""
    from scenario_kit.render.golden import objects_for
    from scenario_kit.render.offers import offers

    fault_type = catalog.fault(fault)
    fitting = [o.target for o in offers(fault_type, app, objects_for(fault_type, app, catalog))]
    more = f" and {len(fitting) - _SHOWN} more" if len(fitting) > _SHOWN else ""
    return (", ".join(fitting[:_SHOWN]) or f"nothing of {app.name}") + more


def _one_of_all(entity: str, app: App, catalog: Catalog, *, ask: bool) -> Offer:
    """The fault that somebody chooses among those that fit."""
    from scenario_kit.draft import faults_for

    offered = list(faults_for(entity, app, catalog))
    if not ask:
        there = _types(offered, app, catalog)
        raise UsageError(f"which fault? for {entity} there is: {there}", fix="--fault NAME")
    labels = [_label(o, app, catalog) for o in offered]
    return offered[labels.index(_menu("How does it break?", labels))]


def _types(offered: Iterable[Offer], app: App, catalog: Catalog) -> str:
    """The types of faults, last those that the lab cannot judge, each with what it lacks for that."""
    lacks = {o.fault.type: _lacks(o, app, catalog) for o in offered}
    here = ", ".join(name for name, lack in lacks.items() if not lack) or "none"
    beyond = ", ".join(f"{name} (needs {lack})" for name, lack in lacks.items() if lack)
    return f"{here}; and what the lab cannot judge: {beyond}" if beyond else here


def _label(offered: Offer, app: App, catalog: Catalog) -> str:
    lack = _lacks(offered, app, catalog)
    return f"{offered.fault.type}  ({offered.target})" + (f"  not in the lab: needs {lack}" if lack else "")


def _lacks(offered: Offer, app: App, catalog: Catalog) -> str:
    """What the lab lacks for this fault, beyond what it lacks for the app whatever happens to it."""
    from scenario_kit.cli.needs import missing, missing_for

    always = {lack.need for lack in missing((), app, {}, catalog)}
    return ", ".join(lack.need for lack in missing_for(offered, app, catalog) if lack.need not in always)


def _parameters(offer: Offer, given: Sequence[str], catalog: Catalog, *, ask: bool) -> dict[str, Any]:
    """The chosen values; all others keep their defaults, which the fault derives itself."""
    fault_type = catalog.fault(offer.fault.type)
    chosen = _allowed(_pairs(given, fault_type), offer)
    if ask and offer.parameters and not given:
        typer.echo("\nParameters:")
        for name, value in offer.parameters.items():
            some = ", ".join(str(c) for c in offer.choices.get(name, [])[:12])
            typer.echo(f"  {name} = {json.dumps(value, ensure_ascii=False)}" + (f"   one of: {some}" if some else ""))
        text = typer.prompt("Change any? NAME=VALUE, several with spaces", default="", show_default=False)
        chosen = _allowed(_pairs(text.split(), fault_type), offer)
    return chosen


def _pairs(given: Sequence[str], fault_type: FaultType) -> dict[str, Any]:
    """The values by name; text stays text where the fault type wants text."""
    known, values = fault_type.parameters.get("properties", {}), {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"'{pair}' is not NAME=VALUE", fix=f"--parameter {name}=VALUE")
        if name not in known:
            fix = did_you_mean(name, known) or ", ".join(known) or "it has none"
            raise UsageError(f"{fault_type.name} has no parameter '{name}'", fix=fix)
        values[name] = text if known[name].get("type", "string") == "string" else yaml.safe_load(text)
    return values


def _allowed(values: dict[str, Any], offer: Offer) -> dict[str, Any]:
    """The values, none of which the fault rules out there. The choices of a list are whole lists, or its entries."""
    for name, value in values.items():
        allowed = offer.choices.get(name)
        if not allowed or value in allowed:
            continue
        wrong = next((v for v in value if v not in allowed), None) if isinstance(value, list) else value
        if wrong is not None:
            listed = ", ".join(str(a) for a in allowed)
            raise UsageError(f"{name} cannot be '{wrong}' on {offer.target}", fix=f"one of: {listed}")
    return values


def _chosen(
    what: str,
    given: str,
    there: Sequence[str],
    flag: str,
    *,
    ask: bool,
    only: bool = False,
    also: Sequence[str] = (),
) -> str:
    """The answer to one question; a single possibility (``only``) needs none."""
    if given:
        if given not in (*there, *also):
            fix = did_you_mean(given, [*there, *also]) or f"one of: {', '.join(there)}"
            raise UsageError(f"{what}: there is no '{given}'", fix=fix)
        return given
    if only and len(there) == 1:
        return there[0]
    if not ask:
        raise UsageError(f"{what}? there is: {', '.join(there)}", fix=f"{flag} NAME")
    return _menu(f"{what[0].upper()}{what[1:]}?", there)


def _menu(question: str, there: Sequence[str]) -> str:
    """A numbered list; a number or a name is an answer."""
    if not there:
        raise UsageError(f"{question} There is nothing to choose from", fix="choose something else before")
    typer.echo(f"\n{question}")
    for number, entry in enumerate(there, 1):
        typer.echo(f"  {number:>3}  {entry}")
    while True:
        text = typer.prompt("Number or name").strip()
        if text.isdigit() and 1 <= int(text) <= len(there):
            return there[int(text) - 1]
        fitting = [t for t in there if t == text or t.split()[0] == text]
        if len(fitting) == 1:
            return fitting[0]
        typer.echo(f"  {did_you_mean(text, there) or 'one of the numbers above'}")
