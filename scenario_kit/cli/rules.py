"""``rules`` and ``explain``: what the codes mean."""

from __future__ import annotations

from typing import Annotated

import typer

from scenario_kit.cli.options import Format
from scenario_kit.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the commands."""

    @app.command(rich_help_panel="Write it")
    def rules(format: Format = "text") -> None:
        """List every code that lint and trials can report.

        Example: scenario-kit rules
        """
        from scenario_kit.cli.output import show_json, show_table
        from scenario_kit.lint import RULES
        from scenario_kit.lint.page import applied

        entries = [RULES[code] for code in sorted(RULES)]
        if format == "json":
            fields = ("code", "title", "severity", "why", "bad", "good", "fix", "repair")
            show_json([{name: getattr(e, name) for name in fields} | {"foundBy": applied(e)} for e in entries])
        else:
            show_table(
                ("code", "severity", "by", "title"), [(e.code, e.severity, applied(e), e.title) for e in entries]
            )

    @app.command(rich_help_panel="Write it")
    def explain(code: Annotated[str, typer.Argument(help="A code, for example SK405.")]) -> None:
        """Explain a code: why it matters, a bad and a good example, how to fix it.

        Example: scenario-kit explain SK405
        """
        from scenario_kit.lint import RULES, rule_page
        from scenario_kit.load import did_you_mean, suggest

        wanted = f"SK{code}" if code.isdecimal() else code.upper()
        if wanted not in RULES:
            fix = did_you_mean(wanted, RULES) if suggest(wanted, RULES) else "scenario-kit rules lists all codes"
            raise UsageError(f"there is no rule '{code}'", fix=fix)
        typer.echo(rule_page(RULES[wanted]))
