"""Reading what is imported: a file, or the files below a folder that may hold what is looked for.

Files are read, never executed, within bounds on their number and size. Links to folders are not followed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.folders import list_below
from scenario_kit.load.yaml.document import Positions, parse_all, read_text

#: Files of one import, and bytes of one file.
MOST_FILES: Final = 2_000
MOST_BYTES: Final = 512 * 1024
YAML_ENDINGS: Final = (".yaml", ".yml", ".json")
PYTHON_ENDINGS: Final = (".py",)
#: Folders that hold nothing of an author's.
_PASSED_OVER: Final = (".git", ".venv", "__pycache__", "node_modules")


class InputFile(NamedTuple):
    """The text of a file, by the path that positions show."""

    path: str
    text: str


class InputDocument(NamedTuple):
    """One document of a file: its plain values, and where they stand."""

    path: str
    data: Any
    positions: Positions


def read_inputs(path: Path, endings: tuple[str, ...]) -> list[InputFile]:
    """Read a file, whatever it is called, or every file below a folder whose name has one of the endings.

    Raises:
        UsageError: there is no such file, the folder holds none, or too many.
        AuthoringError: a file cannot be read, is no text, or too large.
    """
    if not path.is_dir():
        return [InputFile(str(path), _read(path))]
    paths = list_below(
        path,
        lambda folder, name: name.endswith(endings) and not _is_passed_over(path, folder),
        f"unreadable{endings[0]}",
    )
    if not paths:
        raise UsageError(
            f"{path} holds no file of this form", fix=f"name a file, or a folder with {' or '.join(endings)}"
        )
    if len(paths) > MOST_FILES:
        raise UsageError(f"{path} holds more than {MOST_FILES} files", fix="name a folder below it")
    return [InputFile(str(each), _read(each)) for each in paths]


def parse_documents(file: InputFile) -> list[InputDocument]:
    """Parse the YAML or JSON documents of a file; empty ones are left out.

    Raises:
        AuthoringError: it is not YAML, or beyond the bounds of what is read; with every mistake and its place.
    """
    documents = parse_all(file.text, file.path)
    findings = [finding for document in documents for finding in document.findings]
    if findings:
        raise AuthoringError(f"{file.path}: the file cannot be read", findings)
    return [InputDocument(file.path, each.data, each.positions) for each in documents if each.data is not None]


def _read(path: Path) -> str:
    return read_text(path, MOST_BYTES).removeprefix("\ufeff")


def _is_passed_over(root: Path, folder: str) -> bool:
    return any(part in _PASSED_OVER for part in Path(folder).relative_to(root).parts)
