"""The prompts of ``new``. Only valid answers can be chosen; without a terminal, a missing answer is an error."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, get_args

import typer
import yaml

from scenario_kit.catalog import Catalog, suggest_entry
from scenario_kit.cli.authoring.missing_capabilities import find_missing, find_missing_for
from scenario_kit.cli.terminal.menu import Choice, ask_again, choose
from scenario_kit.cli.terminal.output import fold_text
from scenario_kit.draft import (
    Answers,
    aim_fault,
    check_name,
    find_faults,
    list_entities,
    list_names,
    list_settings_with,
    name_for,
)
from scenario_kit.draft.compose import derive_fault_name
from scenario_kit.draft.matrix_alerts import find_row
from scenario_kit.errors import UsageError
from scenario_kit.model import App, FaultType, Reference
from scenario_kit.model.authored.scenario import Outcome
from scenario_kit.model.shortening import shorten_list
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render import render_catalog_app
from scenario_kit.render.faults.applicability import Offer, find_offers
from scenario_kit.render.faults.first_offer import find_first_offer, render_objects_for

#: Maximum number of targets or values in a message, and of alerts in a menu.
_SHOWN: Final = 12
_RAISED: Final = 2
#: What the catalogue has.
_ENTRIES: Final = ("alert pack", "app", "fault type")
#: Maximum number of simulated users of a scenario.
_MAX_USERS: Final = 1000


class LoadOptions(NamedTuple):
    """Load and alert packs from flags; empty if not given."""

    users: str = ""
    profile: str = ""
    packs: tuple[str, ...] = ()


def complete(
    given: Mapping[str, str], parameters: Sequence[str], author: str, catalog: Catalog, *, ask: bool
) -> Answers:
    """Validate the given answers and prompt for missing ones.

    Args:
        given: app, version, target, fault, name, outcome; empty if not given. For NoIncident without a fault, there are
            no prompts for target and fault.
        parameters: ``NAME=VALUE`` each.
        author: the author, if known.
        ask: whether prompts are possible.

    Raises:
        UsageError: an invalid answer, or a missing one without prompts.
    """
    app_name = _choose_answer("app", given["app"], catalog.apps(), "--app", ask=ask, only=True)
    versions = catalog.versions(app_name)
    version = given["version"] or (versions[0] if not ask or len(versions) == 1 else "")
    version = _choose_answer("version", version, versions, "--version", ask=ask)
    app = catalog.app(app_name, version)
    if given["fault"]:
        _require_known("fault type", given["fault"], catalog.faults())
    outcome: Any = given.get("outcome", "")
    if outcome:
        _require_known("outcome", outcome, get_args(Outcome))
    if outcome == "NoIncident" and not (given["target"] or given["fault"] or parameters):
        return Answers(app_name, version, None, "", {}, given["name"], author, outcome=outcome)
    values = _parse_pairs(parameters, catalog.fault(given["fault"])) if given["fault"] else {}
    offer = _offer(given, values, app, catalog, ask=ask)
    values = _choose_parameters(offer, parameters, app, catalog, ask=ask)
    answers = Answers(app_name, version, offer.target, offer.fault.type, values, given["name"], author, outcome=outcome)
    return _ask_name(answers) if ask else answers


def _ask_name(answers: Answers) -> Answers:
    """Prompt for missing name and author."""
    name, author = answers.name, answers.author
    if not name:
        name = ask_again("Name", lambda text: check_name(replace(answers, name=text)), name_for(answers))
    return replace(answers, name=name, author=author or typer.prompt("Author"))


def ask_setting(answers: Answers, load: LoadOptions, catalog: Catalog, *, ask: bool) -> Answers:
    """Prompt for load and alert packs; an empty line selects the default.

    Raises:
        UsageError: an unknown profile or pack, or an invalid number of users.
    """
    app = catalog.app(answers.app, answers.version)
    profiles, packs = tuple(app.loads), catalog.alert_packs()

    def parse_profile(text: str) -> str:
        return _require_known("load profile", text, profiles) if text else ""

    def parse_users(text: str) -> int:
        if text and not (text.isdigit() and 1 <= int(text) <= _MAX_USERS):
            raise UsageError(f"'{text}' is not a valid number of users", fix=f"enter a number from 1 to {_MAX_USERS}")
        return int(text or 0)

    def parse_packs(text: str) -> tuple[str, ...]:
        return tuple(_require_known("alert pack", name, packs) for name in text.replace(",", " ").split())

    found = replace(
        answers,
        profile=parse_profile(load.profile),
        users=parse_users(load.users),
        packs=parse_packs(" ".join(load.packs)),
    )
    if not ask:
        return found
    if not found.profile and len(profiles) > 1:
        listed = f"Load profile ({', '.join(profiles)})"
        found = replace(found, profile=ask_again(f"{listed}; empty for the default", parse_profile))
    if not found.users:
        found = replace(found, users=ask_again(f"Users (1 to {_MAX_USERS}); empty for 50", parse_users))
    if not found.packs and len(packs) > 1:
        found = replace(found, packs=ask_again(f"Alert packs ({', '.join(packs)}); empty for default", parse_packs))
    return found


def ask_others(answers: Answers, also: Sequence[str], catalog: Catalog, *, ask: bool) -> list[Answers]:
    """Parse or prompt for additional faults: ``FAULT@TARGET``, optionally followed by ``,NAME=VALUE``.

    Raises:
        UsageError: an invalid fault.
    """
    app = catalog.app(answers.app, answers.version)
    found: list[Answers] = []

    def add(given: Mapping[str, str], parameters: Sequence[str], *, prompt: bool) -> None:
        values = _parse_pairs(parameters, catalog.fault(given["fault"])) if given["fault"] else {}
        offer = _offer(given, values, app, catalog, ask=prompt)
        values = _choose_parameters(offer, parameters, app, catalog, ask=prompt)
        made = replace(answers, target=offer.target, fault=offer.fault.type, parameters=values, use="")
        found.append(replace(made, use=_make_unique_name(made, [answers, *found])))

    for text in also:
        fault, _, rest = text.partition("@")
        target, *parameters = rest.split(",")
        _require_known("fault type", fault, catalog.faults())
        add({"fault": fault, "target": target}, parameters, prompt=False)
    while ask and not also and typer.confirm("Another fault in the same incident?", default=False):
        add({"fault": "", "target": ""}, (), prompt=True)
    return found


def _make_unique_name(made: Answers, before: Sequence[Answers]) -> str:
    """Make a unique name for a fault of the scenario; empty if its default name is unique."""
    taken, own = {derive_fault_name(other) for other in before}, derive_fault_name(made)
    return "" if own not in taken else next(n for i in range(2, 99) if (n := f"{own}-{i}") not in taken)


def _require_known(what: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        describe = suggest_entry if what in _ENTRIES else did_you_mean
        raise UsageError(f"unknown {what} '{name}'", fix=describe(name, known))
    return name


def _offer(given: Mapping[str, str], values: Mapping[str, Any], app: App, catalog: Catalog, *, ask: bool) -> Offer:
    """Choose the target and the fault."""
    fault, target = given["fault"], given["target"]
    # with the app options that the fault requests: autoscalers, for example, are optional
    objects = render_objects_for(catalog.fault(fault), app, catalog) if fault else render_catalog_app(app, catalog)
    if fault and not (target or ask):
        return _offer_anywhere(fault, app, catalog)
    listed, known = [e.name for e in list_entities(app, objects)], list_names(app, objects)
    if target and target not in known and (settings := list_settings_with(target, app, catalog)):
        raise UsageError(
            f"{app.name} has '{target}' only with its {' or '.join(settings)}",
            fix="choose another target, a fault that requests the option, or set it in spec.app of the file",
        )
    entity = _choose_answer("target", target, listed, "--target", ask=ask, also=known)
    return _offer_at(entity, fault, values, app, catalog) if fault else _choose_offer(entity, app, catalog, ask=ask)


def _offer_anywhere(fault: str, app: App, catalog: Catalog) -> Offer:
    """Offer the fault at its first valid target."""
    found = find_first_offer(catalog.fault(fault), app, catalog)
    if found is None:
        raise UsageError(f"{fault} does not apply to {app.name}", fix="choose another app or fault")
    return found


def _offer_at(entity: str, fault: str, values: Mapping[str, Any], app: App, catalog: Catalog) -> Offer:
    """Offer the fault with the given parameters; with defaults if only these are invalid, which is reported later."""
    found = aim_fault(fault, entity, app, catalog, values)
    offers = found.offers or (aim_fault(fault, entity, app, catalog).offers if values else ())
    if offers:
        return offers[0]
    message = found.why
    if not message.startswith(fault):
        message = f"{fault} does not apply to {entity}" + (f": {message}" if message else "")
    fix = f"{found.fix or 'choose another target'} (valid targets: {_list_valid_targets(fault, app, catalog)})"
    others = f"scenario-kit new --app {app.name} --target {entity}"
    raise UsageError(message, fix=f"{fix}, or another fault: `{others}` lists those of {entity}")


def _list_valid_targets(fault: str, app: App, catalog: Catalog) -> str:
    """List the valid targets of a fault with default parameters."""
    fault_type = catalog.fault(fault)
    targets = [str(o.target) for o in find_offers(fault_type, app, render_objects_for(fault_type, app, catalog))]
    return shorten_list(targets, _SHOWN) or f"none in {app.name}"


def _choose_offer(entity: str, app: App, catalog: Catalog, *, ask: bool) -> Offer:
    """Prompt for a fault among those that apply to the entity."""
    offered = list(find_faults(entity, app, catalog))
    if not ask:
        if not offered:
            fix = "choose another target; `--fault NAME` reports why that fault does not apply"
            raise UsageError(f"no fault applies to {entity}", fix=fix)
        types = _list_types(offered, app, catalog)
        raise UsageError(f"no fault given; {entity} supports: {types}", fix="--fault NAME")
    offered.sort(key=lambda o: (catalog.fault(o.fault.type).family, o.fault.type))
    return offered[choose("How does it break?", [_build_choice(o, app, catalog) for o in offered])]


def _list_types(offered: Iterable[Offer], app: App, catalog: Catalog) -> str:
    """List fault types, those that the lab cannot run last, with the capabilities that it lacks."""
    lacks = {o.fault.type: _describe_lacks(o, app, catalog) for o in offered}
    supported = ", ".join(name for name, lack in lacks.items() if not lack) or "none"
    unsupported = ", ".join(f"{name} (requires {lack})" for name, lack in lacks.items() if lack)
    return f"{supported}; not in the lab: {unsupported}" if unsupported else supported


def _build_choice(offered: Offer, app: App, catalog: Catalog) -> Choice:
    """Build the menu entry of a fault: its effect, its target, and its measured alerts."""
    fault_type, fault = catalog.fault(offered.fault.type), offered.fault.type
    row, lack = find_row(catalog.matrix(app, fault), fault, offered.target), _describe_lacks(offered, app, catalog)
    raised = [alert.name + _format_target(alert.entity) for alert in row.alerts] if row else []
    if lack:
        outcome = f"not in the lab: requires {lack}"
    elif row is None:
        outcome = "not measured yet"
    elif row.outcome == "NoEffect":
        outcome = "had no effect when measured"
    else:
        outcome = f"raises {shorten_list(raised, _RAISED)}" if raised else "raised no alert when measured"
    return Choice(fault, (fault_type.title, f"{offered.target}: {outcome}"), _split_family(fault_type.family))


def _format_target(reference: Reference | None) -> str:
    return f" on {reference.name}" if reference else ""


def _split_family(family: str) -> str:
    """Split the name of a family into words: ``WorkloadSpec`` becomes ``Workload spec``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", family).capitalize()


def _describe_lacks(offered: Offer, app: App, catalog: Catalog) -> str:
    """List the capabilities that the lab lacks for this fault, without those that it lacks for the app itself."""
    always = {lack.need for lack in find_missing((), app, {}, catalog)}
    return ", ".join(lack.need for lack in find_missing_for(offered, app, catalog) if lack.need not in always)


def _choose_parameters(offer: Offer, given: Sequence[str], app: App, catalog: Catalog, *, ask: bool) -> dict[str, Any]:
    """Parse or prompt for parameters; the others keep their defaults."""
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
        values = _check_allowed(_parse_pairs(_split(text), fault_type), offer)
        found = aim_fault(fault_type.name, offer.target, app, catalog, values) if values else None
        if found is not None and not found.offers:
            raise UsageError(found.why or f"{fault_type.name} has no effect there with these values", fix=found.fix)
        return values

    question = "Changes as NAME=VALUE, separated by spaces; empty for none"
    return ask_again(question, understand)


def _split(text: str) -> list[str]:
    """Split an answer into words; values with spaces must be quoted."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"cannot parse '{text}': {error}", fix="close the quote") from error


def describe_possible(schema: Mapping[str, Any], choices: Iterable[Any] = ()) -> str:
    """Describe the possible values of a parameter: a list, a range or a maximum length."""
    values = [str(c) for c in choices] or [str(v) for v in schema.get("enum", ())]
    if values:
        return f"one of: {shorten_list(values, _SHOWN)}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"from {low} to {high}"
    if low is not None or high is not None:
        return f"at least {low}" if low is not None else f"at most {high}"
    return f"at most {schema['maxLength']} characters" if "maxLength" in schema else ""


def _parse_pairs(given: Sequence[str], fault_type: FaultType) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` pairs; values are parsed as YAML unless the parameter is a string."""
    known, values = fault_type.parameters.get("properties", {}), {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"'{pair}' is not NAME=VALUE", fix=f"--parameter {name}=VALUE")
        if name not in known:
            fix = did_you_mean(name, known) if known else "remove it: this fault has no parameters"
            raise UsageError(f"{fault_type.name} has no parameter '{name}'", fix=fix)
        values[name] = text if known[name].get("type", "string") == "string" else yaml.safe_load(text)
    return values


def _check_allowed(values: dict[str, Any], offer: Offer) -> dict[str, Any]:
    """Check values against the fault's choices at this target; choices of a list are lists or entries.

    Raises:
        UsageError: a value is not among the choices.
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
    what: str, given: str, known: Sequence[str], flag: str, *, ask: bool, only: bool = False, also: Sequence[str] = ()
) -> str:
    """Validate or prompt for one answer; with ``only``, a single possibility is chosen without a prompt."""
    if given:
        return _require_known(what, given, (*known, *also))
    if only and len(known) == 1:
        return known[0]
    if not ask:
        raise UsageError(f"no {what} given; possible: {', '.join(known)}", fix=f"{flag} NAME")
    return known[choose(f"{what[0].upper()}{what[1:]}?", [Choice(name) for name in known])]
