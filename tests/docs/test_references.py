"""Pages that comments and docstrings refer to: each is a page of this repository."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.docs.pages import ROOT

_PAGE = re.compile(r"(?<![\w/.-])docs/[\w-]+\.md\b")
_FOLDERS = ("scenario_kit", "ci", "tests")
_SECTION = re.compile(r"\bdesign §\d|\.md §\d")


def _list_sources(folder: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / folder).rglob("*")):
        if path.is_file() and path.suffix in (".py", ""):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", ["scenario_kit", "ci"])
def test_pages_in_sources_exist(folder: str) -> None:
    named = {(name, page) for name, text in _list_sources(folder) for page in _PAGE.findall(text)}
    missing = {(name, page) for name, page in named if not (ROOT / page).exists()}
    assert not missing


@pytest.mark.parametrize("folder", _FOLDERS)
def test_no_reference_to_external_document_sections(folder: str) -> None:
    found = [name for name, text in _list_sources(folder) if _SECTION.search(text)]
    assert found == []
