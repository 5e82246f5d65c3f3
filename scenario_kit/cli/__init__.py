"""The command line. Commands are functions of the modules in ``COMMANDS``; heavy imports wait until a command runs.

User errors print one message and set the exit code (docs/command-line.md). Only bugs have a traceback, which is written
to a file.
"""

from __future__ import annotations

import errno
import gc
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Final

import typer

from scenario_kit import __version__
from scenario_kit.cli.terminal.output import show_error
from scenario_kit.errors import KitError, ScenarioKitError, UsageError, translate_exhaustion

#: Modules of this package: the panel of the help, and the commands in it. A command is the function of its name, with
#: underscores; ``register(app, panel)`` of a module adds a group of commands.
COMMANDS: Final = {
    "validation.demo": ("Run it", "demo"),
    "authoring.new": ("Write it", "new"),
    "authoring.imports": ("Write it", "import"),
    "authoring.lint": ("Write it", "lint"),
    "rules": ("Write it", "rules", "explain"),
    "authoring.pack_tests": ("Write it", "alerts"),
    "authoring.render": ("Write it", "render"),
    "catalog": ("Write it", "catalog"),
    "validation.validate": ("Prove it", "try", "verify"),
    "validation.validate_pr": ("Prove it", "validate-pr"),
    "validation.report": ("Prove it", "report"),
    "validation.runs": ("Prove it", "runs"),
    "validation.shards": ("Prove it", "shards"),
    "validation.snapshot": ("Score it", "snapshot"),
    "solving.commands": ("Solve it", "solve", "mcp"),
    "scoring.commands": ("Score it", "score"),
    "scoring.leaderboard": ("Score it", "leaderboard"),
    "exporting": ("Score it", "export", "gates"),
    "scoring.split": ("Publish it", "split"),
    "scoring.site": ("Publish it", "site"),
    "lab.commands": ("Run it", "lab"),
    "operator": ("Run it", "operator"),
    "doctor.commands": ("Run it", "doctor"),
}

#: Errors of a path that the user passed or owns.
_INVALID_PATH = (errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
#: Allocations before a garbage collection: importing a command and reading a catalogue make almost no cycles.
_GC_THRESHOLD: Final = 100_000
USAGE = 3
INTERRUPTED = 130


def build(arguments: Sequence[str] = ()) -> typer.Typer:
    """Build the command line; if the first argument is a command, only the module of that command is loaded."""
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
    selected = [name for name, (_, *commands) in COMMANDS.items() if arguments and arguments[0] in commands]
    for name in selected or COMMANDS:
        panel, *commands = COMMANDS[name]
        module = import_module(f"scenario_kit.cli.{name}")
        if hasattr(module, "register"):
            module.register(app, panel)
            continue
        for command in commands:
            function = command.replace("-", "_")
            app.command(command, rich_help_panel=panel)(getattr(module, function + "_" * iskeyword(function)))
    return app


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"scenario-kit {__version__}")
        raise typer.Exit


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; never raises."""
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        result = build(words)(words, standalone_mode=False, prog_name="scenario-kit")
        if result == INTERRUPTED:  # typer's result after Ctrl-C
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
        sys.stderr.close()  # the reader of our output is gone; Python would report it at exit
        return 0
    except Exception as error:  # noqa: BLE001 - top-level handler: anything else is a bug
        if callable(show := getattr(error, "show", None)) and hasattr(error, "exit_code"):
            show()  # a usage error of typer, which has no public base class
            return USAGE
        if (exhausted := translate_exhaustion(error)) is not None:
            show_error(exhausted)
            return exhausted.exit_code
        if isinstance(error, OSError) and error.errno in _INVALID_PATH and error.filename:
            show_error(
                UsageError(
                    f"{error.filename}: {error.strerror}", fix="check its type and permissions, or pass another path"
                )
            )
            return USAGE
        saved = _save_traceback(error)
        show_error(
            KitError(
                f"this is a bug in scenario-kit: {type(error).__name__}: {error}",
                fix=f"report it with the traceback in {saved}",
            )
        )
        return KitError.exit_code


def main() -> None:
    """Run the ``scenario-kit`` command."""
    gc.set_threshold(_GC_THRESHOLD)
    code = run()
    gc.freeze()  # the process ends: there is no need to search all that it holds for cycles first
    sys.exit(code)


def _save_traceback(error: BaseException) -> Path:
    with tempfile.NamedTemporaryFile("w", prefix="scenario-kit-", suffix=".traceback", delete=False) as file:
        file.write("".join(traceback.format_exception(error)))
    return Path(file.name)
