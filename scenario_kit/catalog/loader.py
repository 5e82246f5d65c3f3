"""Locate catalogue data and convert files into values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from scenario_kit.catalog.collection import find_collection
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Object
from scenario_kit.model.base import convert
from scenario_kit.model.spelling import ask_which, did_you_mean, suggest

_T = TypeVar("_T")
#: Environment variable with folders of collections, each with ``catalog/`` and, for apps, ``templates/``.
VARIABLE: Final = "SCENARIO_KIT_CATALOG"


class UnknownEntry(AuthoringError, LookupError):
    """Unknown entry. ``what`` is the kind of entry; the fix contains the closest known names."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.what, self.name, self.known = what, name, tuple(sorted(known))
        super().__init__(f"there is no {what} '{name}'", fix=suggest_entry(name, self.known))


def suggest_entry(name: str, known: Iterable[str]) -> str:
    """Return a fix for an unknown entry: the closest names, or the known ones and where others are read from."""
    names = tuple(known)
    question = ask_which(suggest(name, names))
    return question or f"{did_you_mean(name, names)}, or add the folder with its `catalog` to {VARIABLE}"


def find_data_root() -> Path:
    """Find the folder with ``catalog/`` and ``templates/``: the checkout, or the data inside the installed package.

    Raises:
        LookupError: neither exists; the installation is incomplete.
    """
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "_data", package.parent):
        if (candidate / "catalog").is_dir() and (candidate / "templates").is_dir():
            return candidate
    raise LookupError(f"no catalog and templates next to {package} nor in {package / '_data'}; reinstall scenario-kit")


def list_named_collections() -> list[Path]:
    """List the folders that ``SCENARIO_KIT_CATALOG`` names, as absolute paths, whether they exist or not."""
    return [Path(name).absolute() for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]


def find_collections(paths: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Find the roots: those of ``SCENARIO_KIT_CATALOG``, of these files, of the working directory, and the kit's.

    Raises:
        UsageError: a folder of the variable has no ``catalog/``.
    """
    own = list_named_collections()
    for folder in own:
        if not (folder / "catalog").is_dir():
            raise UsageError(
                f"{VARIABLE} contains {folder}, which has no folder `catalog`",
                fix="set it to folders with catalog/ and templates/, separated by colons",
            )
    around = [root for path in (*paths, Path.cwd()) if (root := find_collection(path))]
    return tuple(dict.fromkeys((*own, *around, find_data_root())))


def list_folders(parent: Path, file: str) -> set[str]:
    """List the names of the subfolders of ``parent`` that contain such a file."""
    return {path.parent.name for path in parent.glob(f"*/{file}")}


def read_mapping(path: Path) -> Object:
    """Read a YAML file that contains a mapping, as strictly as a scenario.

    Raises:
        UsageError: no such file.
        AuthoringError: not valid YAML, or not a mapping.
    """
    document = read_document(path)
    if document.findings:
        first = document.findings[0]
        raise AuthoringError(f"{first.position}: {first.message}", document.findings)
    if not isinstance(document.data, dict):
        raise AuthoringError(f"{path}: expected a mapping, observed {type(document.data).__name__}")
    return document.data


def convert_value(document: Object, to: type[_T], path: Path, name: str) -> _T:
    """Convert a document into a value.

    Raises:
        AuthoringError: its name differs from its folder's, or it is invalid.
    """
    if document.get("name") != name:
        raise AuthoringError(
            f"{path}: name is '{document.get('name')}', expected '{name}', the name of its folder",
            fix=f"set name: {name}, or rename the folder",
        )
    try:
        return convert(document, to)
    except msgspec.ValidationError as error:
        raise AuthoringError(f"{path}: {error}") from error
