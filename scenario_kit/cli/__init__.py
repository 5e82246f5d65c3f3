"""The command line. The modules named in ``COMMANDS`` register their commands; heavy imports wait until one runs.

A user's mistake ends in one clear message and an exit code (docs/command-line.md). Only bugs of the program itself have
a traceback, and that goes to a file.
"""

from __future__ import annotations

import errno
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from scenario_kit import __version__
from scenario_kit.cli.terminal.output import show_error
from scenario_kit.errors import InfrastructureError, KitError, ScenarioKitError, UsageError

#: Modules of this package that have ``register(app)``, each with the commands that it adds.
COMMANDS: Final = {
    "validation.demo": ("demo",),
    "authoring.new": ("new",),
    "authoring.imports": ("import",),
    "authoring.lint": ("lint",),
    "rules": ("rules", "explain"),
    "authoring.pack_tests": ("alerts",),
    "authoring.render": ("render",),
    "catalog": ("catalog",),
    "validation.validate": ("try", "verify"),
    "validation.validate_pr": ("validate-pr",),
    "validation.report": ("report",),
    "validation.runs": ("runs",),
    "validation.snapshot": ("snapshot",),
    "solving.commands": ("solve", "mcp"),
    "scoring.commands": ("score",),
    "scoring.leaderboard": ("leaderboard",),
    "exporting.commands": ("export", "gates"),
    "scoring.split": ("split",),
    "scoring.site": ("site",),
    "lab.commands": ("lab",),
    "operator": ("operator",),
    "doctor.commands": ("doctor",),
}

#: Errors of a machine that has too little of something.
_SCARCE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
#: Errors of a path that somebody named, or of a folder that is theirs.
_REFUSED = (errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
USAGE = 3
INTERRUPTED = 130


def build(arguments: Sequence[str] = ()) -> typer.Typer:
    """Build the command line with all its commands; where the first argument is one of them, with what its
    module adds.
    """
    app = typer.Typer(
        name="scenario-kit",
        help="Write an incident as one YAML file, make it happen, and prove that it does. First: scenario-kit demo",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def root(
        version: Annotated[
            bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
        ] = False,
    ) -> None:
        pass

    # Reading the signatures of all commands takes as long as linting a file.
    asked = [name for name, commands in COMMANDS.items() if arguments and arguments[0] in commands]
    for name in asked or COMMANDS:
        import_module(f"scenario_kit.cli.{name}").register(app)
    return app


def _show_version(desired: bool) -> None:
    if desired:
        typer.echo(f"scenario-kit {__version__}")
        raise typer.Exit


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; nothing is raised."""
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        result = build(words)(words, standalone_mode=False, prog_name="scenario-kit")
        if result == INTERRUPTED:  # what typer makes of Ctrl-C
            typer.echo("interrupted", err=True)
        return result if isinstance(result, int) else 0
    except ScenarioKitError as error:
        if isinstance(error, KitError):
            _save_traceback(error)
        show_error(error)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort) as stop:
        typer.echo(str(stop) or "interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; Python would complain about it at exit
        return 0
    except Exception as error:  # noqa: BLE001 - the last line of defence: whatever gets here is our bug
        if callable(show := getattr(error, "show", None)) and hasattr(error, "exit_code"):
            show()  # a usage error of typer, which has no public base class
            return USAGE
        if isinstance(error, OSError) and error.errno in _SCARCE:
            where = f": {error.filename}" if error.filename else ""
            show_error(
                InfrastructureError(f"{error.strerror}{where}", fix="make room, then give the same command again")
            )
            return InfrastructureError.exit_code
        if isinstance(error, OSError) and error.errno in _REFUSED and error.filename:
            show_error(
                UsageError(f"{error.filename}: {error.strerror}", fix="check its type and permissions, or name another")
            )
            return USAGE
        saved = _save_traceback(error)
        show_error(
            KitError(
                f"this is a bug of scenario-kit: {type(error).__name__}: {error}",
                fix=f"report it with the traceback in {saved}",
            )
        )
        return KitError.exit_code


def main() -> None:
    """Run the ``scenario-kit`` command."""
    sys.exit(run())


def _save_traceback(error: BaseException) -> Path:
    with tempfile.NamedTemporaryFile("w", prefix="scenario-kit-", suffix=".traceback", delete=False) as file:
        file.write("".join(traceback.format_exception(error)))
    return Path(file.name)
