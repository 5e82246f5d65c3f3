"""Texts that go out, searched for what is held out. Pure."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding
from scenario_kit.model.authored.scenario import Decoy, Solution
from scenario_kit.publication.entry import CatalogueEntry

#: From so many words on, a text is one that nobody writes twice by chance.
_SENTENCE: Final = 4
_PLACES: Final = 3


class Secret(NamedTuple):
    """A text of a held-out scenario. One that is ``shared`` may stand in files about others, which say the same."""

    text: str
    what: str
    hashed: str
    shared: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression: the whole words, however they are spaced, and not as a part of a longer name."""
        words = r"\s+".join(re.escape(word) for word in self.text.lower().split())
        return rf"(?<![\w-]){words}(?![\w-])"


def refuse_secrets(files: Mapping[str, str], entries: Iterable[CatalogueEntry]) -> None:
    """Refuse to publish files that would tell of what is held out.

    Raises:
        AuthoringError: they would; with one finding for each text.
    """
    if leaks := find_published_secrets(files, entries):
        raise AuthoringError(f"{len(leaks)} texts of held-out scenarios would be published", leaks)


def find_published_secrets(files: Mapping[str, str], entries: Iterable[CatalogueEntry]) -> list[Finding]:
    """Find what files would say of held-out scenarios: one finding for each text, with the files that have it.

    Its name, title and description may stand in no file. Objects, faults, repairs and explanations may not stand in
    the files of the scenario itself; elsewhere they belong to others as well.
    """
    secrets = [secret for entry in entries if entry.held_out for secret in list_secrets(entry)]
    if not secrets:
        return []
    texts = {name: f"{name} {_read_text(name, text)}".lower() for name, text in files.items()}
    found = []
    for secret in secrets:
        pattern = re.compile(secret.pattern)
        places = [
            name for name, text in texts.items()
            if (not secret.shared or secret.hashed in name) and pattern.search(text)
        ]  # fmt: skip
        if places:
            found.append(_build_finding(secret, places))
    return found


def list_secrets(entry: CatalogueEntry) -> Iterator[Secret]:
    """List the texts of a held-out scenario that may not go out."""
    spec, hashed = entry.scenario.spec, entry.hashed
    repairs: list[Solution | Decoy] = [*spec.solutions, *spec.decoys]
    if entry.scenario.name != hashed:
        yield Secret(entry.scenario.name, "the name", hashed)
    sentences = [
        ("the title", spec.title, False), ("the description", spec.description, False),
        *(("the explanation of an edge", edge.because, True) for edge in entry.truth.propagation),
        *((f"what '{each.name}' does", each.description, True) for each in repairs),
    ]  # fmt: skip
    for what, text, shared in sentences:
        if len(text.split()) >= _SENTENCE:
            yield Secret(text, what, hashed, shared)
    for cause in entry.truth.root_causes:
        for entity in (cause.entity, *cause.aliases):
            if entity:
                yield Secret(entity, "a root cause", hashed, shared=True)
    for use in spec.faults:
        yield from (Secret(text, "a fault", hashed, shared=True) for text in (use.name, use.type) if "-" in text)
    for each in repairs:
        if "-" in each.name:
            yield Secret(each.name, "a repair", hashed, shared=True)


def _read_text(name: str, text: str) -> str:
    """Read a file as people and programs do, without what its format writes differently."""
    if name.endswith(".html"):
        return html.unescape(text)
    return "\n".join(_list_texts(json.loads(text))) if name.endswith(".json") else text


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _list_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _list_texts(item)


def _build_finding(secret: Secret, places: Sequence[str]) -> Finding:
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    return build_finding(
        "SK441",
        message=f"the published files would say {secret.what} of {secret.hashed}: '{' '.join(secret.text.split())}'",
        observed=", ".join(places[:_PLACES]) + more,
        expected="nothing of a held-out scenario but its hash, its brief and the names of its alerts",
        why="who knows a name, a title or a cause has no incident left to solve",
        fix="reword the brief of the scenario, or the public text that says it",
    )
