"""Scan of published texts for held-out content. Pure."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Finding
from scenario_kit.model.authored.scenario import Decoy, Solution
from scenario_kit.model.json_document import list_texts
from scenario_kit.model.shortening import shorten_list
from scenario_kit.publication.entry import CatalogueEntry

#: Minimum number of words from which two equal texts are no coincidence.
_MIN_SENTENCE_WORDS: Final = 4
_MAX_SHOWN_FILES: Final = 3


class Secret(NamedTuple):
    """A text of a held-out scenario. A ``shared`` one, as a fault type, may appear in files of other scenarios."""

    text: str
    what: str
    hashed: str
    shared: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression that matches the whole words with any spacing, but not within a longer name."""
        words = r"\s+".join(re.escape(word) for word in self.text.lower().split())
        return rf"(?<![\w-]){words}(?![\w-])"


def refuse_secrets(files: Mapping[str, str], entries: Iterable[CatalogueEntry]) -> None:
    """Refuse to publish files that leak held-out scenarios.

    Raises:
        AuthoringError: a file does; with one finding per text.
    """
    if leaks := find_published_secrets(files, entries):
        raise AuthoringError(f"{len(leaks)} texts of held-out scenarios would be published", leaks)


def find_published_secrets(files: Mapping[str, str], entries: Iterable[CatalogueEntry]) -> list[Finding]:
    """Find texts of held-out scenarios in files: one finding per text, with the files that contain it.

    A scenario's name, title and description must not appear in any file. Objects, faults, repairs and explanations must
    not appear in the scenario's own files; other scenarios may share them.
    """
    secrets = [secret for entry in entries if entry.held_out for secret in list_secrets(entry)]
    if not secrets:
        return []
    texts = {name: f"{name} {_read_text(name, text)}".lower() for name, text in files.items()}
    found = []
    for secret in secrets:
        pattern = re.compile(secret.pattern)
        paths = [
            name for name, text in texts.items()
            if (not secret.shared or secret.hashed in name) and pattern.search(text)
        ]  # fmt: skip
        if paths:
            found.append(_build_finding(secret, paths))
    return found


def list_secrets(entry: CatalogueEntry) -> Iterator[Secret]:
    """List the texts of a held-out scenario that must not be published."""
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
        if len(text.split()) >= _MIN_SENTENCE_WORDS:
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
    """Decode a file's text, without the escapes of its format."""
    if name.endswith(".html"):
        return html.unescape(text)
    return "\n".join(list_texts(json.loads(text), keys=True)) if name.endswith(".json") else text


def _build_finding(secret: Secret, paths: Sequence[str]) -> Finding:
    return build_finding(
        "SK441",
        message=f"published files would contain {secret.what} of {secret.hashed}: '{' '.join(secret.text.split())}'",
        observed=shorten_list(paths, _MAX_SHOWN_FILES),
        expected="nothing of a held-out scenario but its hash, its brief and the names of its alerts",
        why="a name, a title or a cause gives the answer away",
        fix="reword the brief of the scenario, or the public text that contains it",
    )
