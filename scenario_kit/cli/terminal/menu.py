"""A menu of many choices: grouped, numbered, narrowed down by any part of a word, asked until an answer fits."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import typer

from scenario_kit.errors import AuthoringError, UsageError

_T = TypeVar("_T")


class Choice(NamedTuple):
    """What can be chosen: its name, lines that tell more, and the group that it is listed in."""

    name: str
    more: tuple[str, ...] = ()
    group: str = ""

    @property
    def text(self) -> str:
        """Everything that a part of a word is looked for in."""
        return " ".join((self.name, *self.more, self.group)).lower()


def choose(question: str, choices: Sequence[Choice]) -> int:
    """Choose the index of the choice that somebody makes: by number, by name, or by the only one that holds what is
    typed.
    """
    from scenario_kit.cli.terminal.output import fold_text
    from scenario_kit.load import did_you_mean, suggest

    if not choices:
        raise UsageError(f"{question} There is nothing to choose from", fix="choose something else before")
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
            meant = did_you_mean(text, names) if suggest(text, names) else "try a shorter part of a word"
            typer.echo(fold_text(f"nothing here holds '{text}'; {meant}", "  "))


def ask_again(question: str, understand: Callable[[str], _T], default: str = "", *, show_default: bool = True) -> _T:
    """Return the answer to a question as it is understood; one that is refused is asked again, with the reason."""
    from scenario_kit.cli.terminal.output import show_error

    while True:
        text = typer.prompt(question, default=default, show_default=show_default and bool(default)).strip()
        try:
            return understand(text)
        except (UsageError, AuthoringError) as refused:
            show_error(refused)


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
