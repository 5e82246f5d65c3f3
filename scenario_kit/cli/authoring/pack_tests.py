"""``alerts test``: run the test cases of alert packs with promtool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.terminal.output import make_printable, show_findings
from scenario_kit.cli.terminal.shell_completion import complete_names, list_packs
from scenario_kit.cli.terminal.terminal import style_text
from scenario_kit.errors import AuthoringError, UsageError

if TYPE_CHECKING:
    from scenario_kit.model import Finding


def register(app: typer.Typer, panel: str) -> None:
    """Add the command to a panel of the help."""
    group = typer.Typer(help="Test alert packs: do rules fire when they should, and only then?", no_args_is_help=True)
    app.add_typer(group, name="alerts", rich_help_panel=panel)

    @group.callback()
    def about() -> None:
        """Test alert packs: do rules fire when they should, and only then?"""

    @group.command("test")
    def test(
        paths: Annotated[
            list[str],
            typer.Argument(help="Alert packs, by file, folder or name.", autocompletion=complete_names(list_packs)),
        ],
    ) -> int:
        """Run the test cases of alert packs with promtool, in the kit's format or in promtool's.

        Requires the lab's toolchain, but no lab and no network. Exit codes: 0 all passed, 1 some failed, or findings
        prevent a pack from being tested, 2 promtool is not installed, 3 no such pack.

        Example: scenario-kit alerts test catalog/alerts/default.yaml
        """
        return max([_test_pack(path) for path in _find_packs(paths)])


def _find_packs(named: list[str]) -> list[Path]:
    """Return the files of the packs that were passed by name or path."""
    from scenario_kit.catalog import Catalog
    from scenario_kit.lint.context.discovery import classify_file, list_lintable

    catalog, found = Catalog(), []
    for name in named:
        if not Path(name).exists() and Path(name).suffix == "" and "/" not in name:
            found.append(catalog.alert_pack_path(name))
            continue
        packs = [path for path in list_lintable([Path(name)]) if classify_file(path) == "Pack"]
        if not packs:
            raise UsageError(f"{name} contains no alert pack", fix="pass a pack's name, or a file of catalog/alerts")
        found += packs
    return list(dict.fromkeys(found))


def _test_pack(path: Path) -> int:
    from scenario_kit.catalog import Catalog
    from scenario_kit.catalog.pack_tests import locate_tests, read_tests
    from scenario_kit.lab.rule_tests import check_rules, run_tests
    from scenario_kit.lint import lint_file
    from scenario_kit.lint.context.catalog_context import PackCase
    from scenario_kit.lint.context.discovery import open_case

    found = lint_file(path)
    show_findings([finding for finding in found if finding.code == "SK315"])
    blocking = [finding for finding in found if _prevents_test(finding)]
    if blocking:
        show_findings(blocking)
        typer.echo(f"{path}: cannot be tested")
        return 1
    case = open_case(path, Catalog())
    assert isinstance(case, PackCase)
    if refused := check_rules(case.document):
        raise AuthoringError(f"{path}: Prometheus rejects it: {refused}", fix="correct the rule")
    outcomes = run_tests(case.document, case.rules, read_tests(locate_tests(path))[0].data)
    for outcome in outcomes:
        if outcome.objection:
            typer.echo(style_text("failed ", fg=typer.colors.RED, bold=True) + make_printable(outcome.name))
            for line in outcome.objection.splitlines():
                typer.echo(f"  {make_printable(line)}")
    failed = sum(bool(outcome.objection) for outcome in outcomes)
    typer.echo(f"{path}: {len(outcomes)} case{'s' if len(outcomes) != 1 else ''}, {failed or 'none'} failed")
    return 1 if failed else 0


def _prevents_test(finding: Finding) -> bool:
    """Return whether a finding prevents tests of a pack: invalid form, expressions or test cases."""
    missing = finding.code == "SK310" and "there is no" in finding.message
    return missing or finding.code.startswith(("SK10", "SK117", "SK314", "SK316", "SK317"))
