"""How clients put a failed connection into words, read from ``words.yaml``: templates by outcome."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from scenario_kit.lab.twin.outcome import ConnectionOutcome

#: Templates by outcome.
Words = Mapping[ConnectionOutcome, str]


def _read_file() -> Any:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"), Loader=loader)


def _key_by_outcome(words: Mapping[str, Any]) -> dict[ConnectionOutcome, Any]:
    """Return words by outcome; one that does not exist is an error."""
    return {ConnectionOutcome[name]: text for name, text in words.items()}


_FILE: Final = _read_file()
#: By language. One that is not listed speaks like Go.
DIALECTS: Final[Mapping[str, Words]] = {name: _key_by_outcome(words) for name, words in _FILE["dialects"].items()}
#: Of client libraries, by language and protocol or product.
CLIENTS: Final[Mapping[tuple[str, str], Words]] = {
    (dialect, protocol): _key_by_outcome(words)
    for dialect, protocols in _FILE["clients"].items()
    for protocol, words in protocols.items()
}
#: What a program reads from its store, by protocol and outcome, then by language.
STORES: Final[Mapping[tuple[str, ConnectionOutcome], Mapping[str, str]]] = {
    (protocol, outcome): words
    for protocol, outcomes in _FILE["stores"].items()
    for outcome, words in _key_by_outcome(outcomes).items()
}
#: Of the clients that people type commands for, by scheme.
COMMANDS: Final[Mapping[str, Words]] = {name: _key_by_outcome(words) for name, words in _FILE["commands"].items()}
