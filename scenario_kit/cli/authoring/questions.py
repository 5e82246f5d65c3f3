"""The questions of ``new``. Only what fits can be chosen; without a terminal a missing answer is an error."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import typer
import yaml

from scenario_kit.cli.terminal.menu import Choice, ask_again, choose
from scenario_kit.cli.terminal.output import fold_text
from scenario_kit.errors import UsageError
from scenario_kit.load import did_you_mean

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.draft import Answers
    from scenario_kit.model import App, FaultType
    from scenario_kit.render.faults.applicability import Offer


#: Targets or values that a message names, and alerts that a menu names.
_SHOWN: Final = 12
_RAISED: Final = 2
#: Users that a scenario may ask for.
_MOST_USERS: Final = 1000


class LoadOptions(NamedTuple):
    """What flags say about the load and the alert packs; empty where they do not."""

    users: str = ""
    profile: str = ""
    packs: tuple[str, ...] = ()


def complete(
    given: Mapping[str, str], parameters: Sequence[str], author: str, catalog: Catalog, *, ask: bool
) -> Answers:
    """Complete all answers: those that were given, checked, and the others asked for.

    Args:
        given: app, version, target, fault, name, outcome; empty means not given. Without an incident and without a
            fault nobody is asked what breaks.
        parameters: ``NAME=VALUE`` each.
        author: who writes it, as far as known.
        ask: whether somebody is there to answer.

    Raises:
        UsageError: an answer that does not fit, or one that is missing while nobody can be asked.
    """
    from scenario_kit.draft import Answers

    app_name = _choose_answer("app", given["app"], catalog.apps(), "--app", ask=ask, only=True)
    versions = catalog.versions(app_name)
    version = given["version"] or (versions[0] if not ask or len(versions) == 1 else "")
    version = _choose_answer("version", version, versions, "--version", ask=ask)
    app = catalog.app(app_name, version)
    if given["fault"] and given["fault"] not in catalog.faults():
        fix = did_you_mean(given["fault"], catalog.faults()) or "`scenario-kit catalog faults` lists them"
        raise UsageError(f"there is no fault type '{given['fault']}'", fix=fix)
    outcome = _parse_outcome(given.get("outcome", ""))
    if outcome == "NoIncident" and not (given["target"] or given["fault"] or parameters):
        return Answers(app_name, version, "", "", {}, given["name"], author, outcome=outcome)
    values = _parse_pairs(parameters, catalog.fault(given["fault"])) if given["fault"] else {}
    offer = _offer(given, values, app, catalog, ask=ask)
    values = _choose_parameters(offer, parameters, app, catalog, ask=ask)
    answers = Answers(app_name, version, offer.target, offer.fault.type, values, given["name"], author, outcome=outcome)
    return _ask_name(answers) if ask else answers


def _ask_name(answers: Answers) -> Answers:
    """Ask for name and author where they are not known."""
    from scenario_kit.draft import check_name, name_for

    name, author = answers.name, answers.author
    if not name:
        name = ask_again("Name", lambda text: check_name(replace(answers, name=text)), name_for(answers))
    return replace(answers, name=name, author=author or typer.prompt("Author"))


def ask_setting(answers: Answers, load: LoadOptions, catalog: Catalog, *, ask: bool) -> Answers:
    """Ask for the load and the alert packs; an empty line takes the usual ones.

    Raises:
        UsageError: the app has no such profile, there is no such pack, or the users are no sensible number.
    """
    app = catalog.app(answers.app, answers.version)
    profiles, packs = tuple(app.loads), catalog.alert_packs()

    def profile(text: str) -> str:
        return _choose_one("load profile", text, profiles) if text else ""

    def number(text: str) -> int:
        if text and not (text.isdigit() and 1 <= int(text) <= _MOST_USERS):
            raise UsageError(f"'{text}' is no number of users", fix=f"write a number from 1 to {_MOST_USERS}")
        return int(text or 0)

    def chosen(text: str) -> tuple[str, ...]:
        return tuple(_choose_one("alert pack", name, packs) for name in text.replace(",", " ").split())

    found = replace(
        answers, profile=profile(load.profile), users=number(load.users), packs=chosen(" ".join(load.packs))
    )
    if not ask:
        return found
    if not found.profile and len(profiles) > 1:
        listed = f"Load profile ({', '.join(profiles)})"
        found = replace(found, profile=ask_again(f"{listed}; empty for the usual one", profile))
    if not found.users:
        found = replace(found, users=ask_again(f"Users (1 to {_MOST_USERS}); empty for 50", number))
    if not found.packs and len(packs) > 1:
        found = replace(found, packs=ask_again(f"Alert packs ({', '.join(packs)}); empty for default", chosen))
    return found


def ask_others(answers: Answers, also: Sequence[str], catalog: Catalog, *, ask: bool) -> list[Answers]:
    """Ask for further faults of the same scenario: ``FAULT@TARGET``, with ``,NAME=VALUE`` behind it.

    Raises:
        UsageError: one that does not fit.
    """
    app = catalog.app(answers.app, answers.version)
    found: list[Answers] = []

    def add(given: Mapping[str, str], parameters: Sequence[str], *, asked: bool) -> None:
        values = _parse_pairs(parameters, catalog.fault(given["fault"])) if given["fault"] else {}
        offer = _offer(given, values, app, catalog, ask=asked)
        values = _choose_parameters(offer, parameters, app, catalog, ask=asked)
        made = replace(answers, target=offer.target, fault=offer.fault.type, parameters=values, use="")
        found.append(replace(made, use=_make_unique_name(made, [answers, *found])))

    for text in also:
        fault, _, rest = text.partition("@")
        target, *parameters = rest.split(",")
        _choose_one("fault type", fault, catalog.faults())
        add({"fault": fault, "target": target}, parameters, asked=False)
    while ask and not also and typer.confirm("Another fault in the same incident?", default=False):
        add({"fault": "", "target": ""}, (), asked=True)
    return found


def _make_unique_name(made: Answers, before: Sequence[Answers]) -> str:
    """Make a name for the fault that no other one of the scenario has; empty where its own will do."""
    from scenario_kit.draft.document import derive_fault_name

    taken, own = {derive_fault_name(other) for other in before}, derive_fault_name(made)
    return "" if own not in taken else next(n for i in range(2, 99) if (n := f"{own}-{i}") not in taken)


def _choose_one(what: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        fix = did_you_mean(name, known) or f"one of: {', '.join(known)}"
        raise UsageError(f"there is no {what} '{name}'", fix=fix)
    return name


def _parse_outcome(text: str) -> Any:
    from scenario_kit.model.authored.scenario import Outcome

    known = get_args(Outcome)
    if text and text not in known:
        fix = did_you_mean(text, known) or f"one of: {', '.join(known)}"
        raise UsageError(f"there is no outcome '{text}'", fix=fix)
    return text


def _offer(given: Mapping[str, str], values: Mapping[str, Any], app: App, catalog: Catalog, *, ask: bool) -> Offer:
    """Offer what breaks, and how."""
    from scenario_kit.draft import list_entities
    from scenario_kit.render import render_app
    from scenario_kit.render.faults.golden import render_objects_for

    fault, target = given["fault"], given["target"]
    if fault:  # with what it wants of the app: an autoscaler is there only where one is asked for
        objects = render_objects_for(catalog.fault(fault), app, catalog)
    else:
        objects = render_app(app, {}, 50, app.namespace, templates=catalog.templates(app.name))
    things = list_entities(app, objects)
    listed = [e.name for e in things]
    known = [*listed, *(o for e in things for o in e.objects)]
    if fault and not (target or ask):
        return _offer_anywhere(fault, app, catalog)
    entity = _choose_answer("what breaks", target, listed, "--target", ask=ask, also=known)
    return _offer_at(entity, fault, values, app, catalog) if fault else _choose_offer(entity, app, catalog, ask=ask)


def _offer_anywhere(fault: str, app: App, catalog: Catalog) -> Offer:
    """Offer the fault at the first target that fits it: for those who want to see it, wherever."""
    from scenario_kit.render.faults.golden import find_first_offer

    found = find_first_offer(catalog.fault(fault), app, catalog)
    if found is None:
        raise UsageError(f"{fault} does not fit {app.name}", fix="choose another app, or a fault that fits it")
    return found


def _offer_at(entity: str, fault: str, values: Mapping[str, Any], app: App, catalog: Catalog) -> Offer:
    """Offer the chosen fault with the given values, or without them where only these are wrong, as others tell."""
    from scenario_kit.draft import aim_fault

    found = aim_fault(fault, entity, app, catalog, values)
    offers = found.offers or (aim_fault(fault, entity, app, catalog).offers if values else ())
    if offers:
        return offers[0]
    reported = found.why
    if not reported.startswith(fault):
        reported = f"{fault} does not fit {entity}" + (f": {reported}" if reported else "")
    fix = f"{found.fix or 'choose another target'} ({fault} fits {_list_fitting(fault, app, catalog)})"
    others = f"scenario-kit new --app {app.name} --target {entity}"
    raise UsageError(reported, fix=f"{fix}, or break {entity} in another way: `{others}` lists them")


def _list_fitting(fault: str, app: App, catalog: Catalog) -> str:
    """List what the fault can be aimed at, with its defaults."""
    from scenario_kit.render.faults.applicability import find_offers
    from scenario_kit.render.faults.golden import render_objects_for

    fault_type = catalog.fault(fault)
    fitting = [o.target for o in find_offers(fault_type, app, render_objects_for(fault_type, app, catalog))]
    more = f" and {len(fitting) - _SHOWN} more" if len(fitting) > _SHOWN else ""
    return (", ".join(fitting[:_SHOWN]) or f"nothing of {app.name}") + more


def _choose_offer(entity: str, app: App, catalog: Catalog, *, ask: bool) -> Offer:
    """Choose the fault that somebody chooses among those that fit."""
    from scenario_kit.draft import find_faults

    offered = list(find_faults(entity, app, catalog))
    if not ask:
        there = _choose_type(offered, app, catalog)
        raise UsageError(f"which fault? for {entity} there is: {there}", fix="--fault NAME")
    offered.sort(key=lambda o: (catalog.fault(o.fault.type).family, o.fault.type))
    return offered[choose("How does it break?", [_build_choice(o, app, catalog) for o in offered])]


def _choose_type(offered: Iterable[Offer], app: App, catalog: Catalog) -> str:
    """Choose the types of faults, last those that the lab cannot judge, each with what it lacks for that."""
    lacks = {o.fault.type: _lacks(o, app, catalog) for o in offered}
    here = ", ".join(name for name, lack in lacks.items() if not lack) or "none"
    beyond = ", ".join(f"{name} (needs {lack})" for name, lack in lacks.items() if lack)
    return f"{here}; and what the lab cannot judge: {beyond}" if beyond else here


def _build_choice(offered: Offer, app: App, catalog: Catalog) -> Choice:
    """Build a fault as the menu shows it: what it does, where, and what came of it when it was tried there."""
    from scenario_kit.draft.matrix_alerts import find_row

    fault_type, fault = catalog.fault(offered.fault.type), offered.fault.type
    row, lack = find_row(catalog.matrix(app, fault), fault, offered.target), _lacks(offered, app, catalog)
    raised = [alert.name + _format_target(alert.entity) for alert in row.alerts] if row else []
    if lack:
        comes = f"not in the lab: needs {lack}"
    elif row is None:
        comes = "not tried here yet"
    elif row.outcome == "NoEffect":
        comes = "had no effect here when it was tried"
    else:
        more = f" and {len(raised) - _RAISED} more" if len(raised) > _RAISED else ""
        comes = f"raises {', '.join(raised[:_RAISED])}{more}" if raised else "raised no alert here when it was tried"
    return Choice(fault, (fault_type.title, f"{offered.target}: {comes}"), _split_family(fault_type.family))


def _format_target(reference: str) -> str:
    return f" on {reference.rpartition('/')[2]}" if reference else ""


def _split_family(family: str) -> str:
    """Split the name of a family as words: ``WorkloadSpec`` is `Workload spec`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", family).capitalize()


def _lacks(offered: Offer, app: App, catalog: Catalog) -> str:
    """Return what the lab lacks for this fault, beyond what it lacks for the app whatever happens to it."""
    from scenario_kit.cli.authoring.missing_capabilities import find_missing, find_missing_for

    always = {lack.need for lack in find_missing((), app, {}, catalog)}
    return ", ".join(lack.need for lack in find_missing_for(offered, app, catalog) if lack.need not in always)


def _choose_parameters(offer: Offer, given: Sequence[str], app: App, catalog: Catalog, *, ask: bool) -> dict[str, Any]:
    """Choose the chosen values; all others keep their defaults, which the fault derives itself."""
    fault_type = catalog.fault(offer.fault.type)
    if not ask or given or not offer.parameters:
        return _check_allowed(_parse_pairs(given, fault_type), offer)
    typer.echo("\nParameters:")
    for name, value in offer.parameters.items():
        schema = fault_type.parameters.get("properties", {}).get(name, {})
        some = describe_possible(schema, offer.choices.get(name, ()))
        typer.echo(
            fold_text(f"{name} = {json.dumps(value, ensure_ascii=False)}" + (f"   {some}" if some else ""), "  ")
        )
        if described := " ".join(str(schema.get("description", "")).split()):
            typer.echo(fold_text(described, "      "))

    def understand(text: str) -> dict[str, Any]:
        from scenario_kit.draft import aim_fault

        values = _check_allowed(_parse_pairs(_split(text), fault_type), offer)
        found = aim_fault(fault_type.name, offer.target, app, catalog, values) if values else None
        if found is not None and not found.offers:
            raise UsageError(found.why or f"{fault_type.name} does not bite there with these values", fix=found.fix)
        return values

    question = "Change any? NAME=VALUE, several with spaces; empty for none"
    return ask_again(question, understand)


def _split(text: str) -> list[str]:
    """Split the words of an answer; quotes hold a value with spaces together."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}' cannot be read: {error}", fix="close the quote") from error


def describe_possible(schema: Mapping[str, Any], choices: Iterable[Any] = ()) -> str:
    """Describe which values a parameter may have: a list, or a range with what it is counted in."""
    values = [str(c) for c in choices] or [str(v) for v in schema.get("enum", ())]
    if values:
        more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
        return f"one of: {', '.join(values[:_SHOWN])}{more}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"from {low} to {high}"
    if low is not None or high is not None:
        return f"at least {low}" if low is not None else f"at most {high}"
    return f"at most {schema['maxLength']} characters" if "maxLength" in schema else ""


def _parse_pairs(given: Sequence[str], fault_type: FaultType) -> dict[str, Any]:
    """Parse the values by name; text stays text where the fault type wants text."""
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


def _check_allowed(values: dict[str, Any], offer: Offer) -> dict[str, Any]:
    """Return the values, none of which the fault rules out there. The choices of a list are whole lists, or its
    entries.
    """
    for name, value in values.items():
        allowed = offer.choices.get(name)
        if not allowed or value in allowed:
            continue
        wrong = next((v for v in value if v not in allowed), None) if isinstance(value, list) else value
        if wrong is not None:
            listed = ", ".join(str(a) for a in allowed)
            raise UsageError(f"{name} cannot be '{wrong}' on {offer.target}", fix=f"one of: {listed}")
    return values


def _choose_answer(
    what: str,
    given: str,
    there: Sequence[str],
    flag: str,
    *,
    ask: bool,
    only: bool = False,
    also: Sequence[str] = (),
) -> str:
    """Choose the answer to one question; a single possibility (``only``) needs none."""
    if given:
        if given not in (*there, *also):
            fix = did_you_mean(given, [*there, *also]) or f"one of: {', '.join(there)}"
            raise UsageError(f"{what}: there is no '{given}'", fix=fix)
        return given
    if only and len(there) == 1:
        return there[0]
    if not ask:
        raise UsageError(f"{what}? there is: {', '.join(there)}", fix=f"{flag} NAME")
    return there[choose(f"{what[0].upper()}{what[1:]}?", [Choice(name) for name in there])]
