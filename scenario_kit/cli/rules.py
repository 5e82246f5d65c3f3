"""``rules`` and ``explain``: documentation of codes and fields."""

from __future__ import annotations

import re
from typing import Annotated, Final, NoReturn

import typer

from scenario_kit.cli.terminal.options import Format
from scenario_kit.cli.terminal.output import fold_text, show_json, show_table
from scenario_kit.cli.terminal.shell_completion import complete_names, list_explained
from scenario_kit.errors import UsageError

#: Text that is meant as a code, even if misspelled.
_CODE: Final = re.compile(r"(?i)^(sk?\w{2,4}|\d+|nothing)$")


def rules(format: Format = "text") -> None:
    """List every code that lint and trials can report.

    Example: scenario-kit rules
    """
    from scenario_kit.lint import RULES
    from scenario_kit.lint.framework.rule_docs import describe_origin

    entries = [RULES[code] for code in sorted(RULES)]
    if format == "json":
        fields = ("code", "title", "severity", "why", "bad", "good", "fix", "repair")
        show_json([{name: getattr(e, name) for name in fields} | {"foundBy": describe_origin(e)} for e in entries])
    else:
        show_table(
            ("code", "severity", "by", "title"), [(e.code, e.severity, describe_origin(e), e.title) for e in entries]
        )


def explain(
    what: Annotated[
        str,
        typer.Argument(
            help="A code such as SK405, or a field such as spec.expect.alerts.",
            autocompletion=complete_names(list_explained),
        ),
    ],
) -> None:
    """Explain a code (reason, examples, fix) or a field (meaning, fields below it).

    Fields are those of scenario.yaml; for other files, write Fault.effect, App.loads, Plan or Pack.

    Example: scenario-kit explain spec.expect.alerts
    """
    from scenario_kit.lint import RULES, render_rule_page

    code_name = f"SK{what}" if what.isdecimal() else what.upper()
    if code_name in RULES:
        typer.echo("\n".join(fold_text(line) for line in render_rule_page(RULES[code_name]).split("\n")))
    elif _CODE.match(what):
        _reject_code(what, code_name)
    else:
        _explain_field(what)


def _reject_code(code: str, code_name: str) -> NoReturn:
    from scenario_kit.lint import RULES
    from scenario_kit.model.spelling import did_you_mean

    fix = did_you_mean(code_name, RULES, default="list all codes with scenario-kit rules")
    raise UsageError(f"there is no rule '{code}'", fix=fix)


def _explain_field(path: str) -> None:
    from scenario_kit.model.spelling import ask_which, did_you_mean, suggest
    from scenario_kit.schema.fields import (
        FORMATS,
        NoField,
        find_field,
        find_fields,
        list_rows_below,
        render_field_page,
        split_path,
    )

    field = find_field(path)
    if isinstance(field, NoField):
        parts = split_path(path)
        if len(parts) == 1 and (elsewhere := find_fields(parts[0])):
            found = find_field(elsewhere[0])
            assert not isinstance(found, NoField)
            field = found
            if len(elsewhere) > 1:
                typer.echo(fold_text(f"also: {', '.join(elsewhere[1:6])}"), err=True)
        else:
            where = f"`{field.path}`" if field.path else FORMATS[field.format]
            near = suggest(field.name, field.known)
            whole = [f"{field.path}.{name}".lstrip(".") for name in near]
            fix = ask_which(whole) or did_you_mean(field.name, field.known)
            if not field.path and not near:
                fix = "pass a field such as spec.expect.alerts, or a code listed by `scenario-kit rules`"
            raise UsageError(f"{where} has no field '{field.name}'", fix=fix)
    typer.echo("\n".join(fold_text(line) for line in render_field_page(field).split("\n")))
    show_table(("field", "type", "meaning"), list_rows_below(field))
    if any(name.endswith("*") for name, *_ in list_rows_below(field)):
        typer.echo("\n* required")
