"""Message templates by outcome, read from ``words.yaml``."""

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
    """Key templates by outcome; an unknown outcome is an error."""
    return {ConnectionOutcome[name]: text for name, text in words.items()}


_FILE: Final = _read_file()
#: By language. Unlisted languages use Go's messages.
DIALECTS: Final[Mapping[str, Words]] = {name: _key_by_outcome(words) for name, words in _FILE["dialects"].items()}
#: By client library: language and protocol or product.
CLIENTS: Final[Mapping[tuple[str, str], Words]] = {
    (dialect, protocol): _key_by_outcome(words)
    for dialect, protocols in _FILE["clients"].items()
    for protocol, words in protocols.items()
}
#: Errors returned by stores: by protocol and outcome, then by language.
STORES: Final[Mapping[tuple[str, ConnectionOutcome], Mapping[str, str]]] = {
    (protocol, outcome): words
    for protocol, outcomes in _FILE["stores"].items()
    for outcome, words in _key_by_outcome(outcomes).items()
}
#: Of interactive clients, by scheme.
COMMANDS: Final[Mapping[str, Words]] = {name: _key_by_outcome(words) for name, words in _FILE["commands"].items()}
