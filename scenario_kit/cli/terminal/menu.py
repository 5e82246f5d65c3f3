"""Interactive menu: grouped and numbered choices, filtered by partial words."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import typer

from scenario_kit.errors import AuthoringError, UsageError

_T = TypeVar("_T")


class Choice(NamedTuple):
    """A choice: its name, lines of description, and the group under which it is listed."""

    name: str
    more: tuple[str, ...] = ()
    group: str = ""

    @property
    def text(self) -> str:
        """Return the searchable text."""
        return " ".join((self.name, *self.more, self.group)).lower()


def choose(question: str, choices: Sequence[Choice]) -> int:
    """Prompt for a choice by number, name or unique partial match, and return its index."""
    from scenario_kit.cli.terminal.output import fold_text
    from scenario_kit.model.spelling import did_you_mean

    if not choices:
        raise UsageError(f"{question} There is nothing to choose from", fix="change an earlier answer")
    typer.echo(f"\n{question}")
    _list(choices, range(len(choices)))
    what = "Number, name or part of a word" if len(choices) > 1 else "Number or name"
    while True:
        text = typer.prompt(what).strip()
        if text.isdigit() and 1 <= int(text) <= len(choices):
            return int(text) - 1
        exact = [i for i, choice in enumerate(choices) if choice.name == text] or [
            i for i, choice in enumerate(choices) if text and choice.name.startswith(text)
        ]
        fitting = (
            exact
            if len(exact) == 1
            else [i for i, c in enumerate(choices) if all(w in c.text for w in text.lower().split())]
        )
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            _list(choices, fitting)
        else:
            names = [choice.name for choice in choices]
            meant = did_you_mean(text, names, default="try fewer letters")
            typer.echo(fold_text(f"no choice contains '{text}'; {meant}", "  "))


def ask_again(question: str, parse: Callable[[str], _T], default: str = "") -> _T:
    """Prompt until the answer can be parsed, printing the error of each invalid one."""
    from scenario_kit.cli.terminal.output import show_error

    while True:
        text = typer.prompt(question, default=default, show_default=bool(default)).strip()
        try:
            return parse(text)
        except (UsageError, AuthoringError) as error:
            show_error(error)


def _list(choices: Sequence[Choice], indices: Sequence[int]) -> None:
    group = ""
    for i in indices:
        choice = choices[i]
        if choice.group != group:
            group = choice.group
            typer.echo(f"\n  {group}")
        typer.echo(f"  {i + 1:>3}  {choice.name}")
        for line in _fold_lines(choice.more):
            typer.echo(line)


def _fold_lines(more: Sequence[str]) -> Iterator[str]:
    width = max(shutil.get_terminal_size().columns, 40)
    for line in more:
        yield from textwrap.wrap(
            line,
            width,
            initial_indent=" " * 7,
            subsequent_indent=" " * 9,
            break_long_words=False,
            break_on_hyphens=False,
        )
