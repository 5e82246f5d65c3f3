"""Read the input of an import: a file, or the files below a folder with certain name suffixes.

Files are read, never executed, with limits on their number and size. Links to folders are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.folders import list_below
from scenario_kit.load.yaml.document import Positions, parse_all, read_text
from scenario_kit.model import Finding

#: Maximum number of files of an import, and bytes of a file.
MAX_FILES: Final = 2_000
MAX_BYTES: Final = 512 * 1024
YAML_ENDINGS: Final = (".yaml", ".yml", ".json")
PYTHON_ENDINGS: Final = (".py",)
#: An expression or statement of a template engine (Helm, Jinja) that is not in quotes.
_TEMPLATE: Final = re.compile(r"^\s*\{[%#]|^[^'\"]*(\{\{|\{%)")
#: Folders without authored files.
_IGNORED_FOLDERS: Final = (".git", ".venv", "__pycache__", "node_modules")


class InputFile(NamedTuple):
    """The text of a file, and the path that positions show. ``error`` is why a file of a folder cannot be read."""

    path: str
    text: str
    error: AuthoringError | None = None


class InputDocument(NamedTuple):
    """One document of a file: its values and their positions."""

    path: str
    data: Any
    positions: Positions


def read_inputs(path: Path, endings: tuple[str, ...]) -> list[InputFile]:
    """Read a file with any name, or every file below a folder whose name has one of the suffixes.

    Raises:
        UsageError: the file does not exist, or the folder holds no such file or too many.
        AuthoringError: the file cannot be read, is not text, or is too large; of a folder, the file holds this error.
    """
    if not path.is_dir():
        return [InputFile(str(path), _read_limited(path))]
    paths = list_below(
        path, lambda folder, name: name.endswith(endings) and not _is_ignored(path, folder), f"unreadable{endings[0]}"
    )
    if not paths:
        raise UsageError(
            f"{path} contains no {' or '.join(endings)} file", fix="name a file, or a folder with such files"
        )
    if len(paths) > MAX_FILES:
        raise UsageError(f"{path} contains more than {MAX_FILES} files", fix="name a subfolder")
    return [_read_or_explain(each) for each in paths]


def parse_documents(file: InputFile) -> list[InputDocument]:
    """Parse the YAML or JSON documents of a file; empty ones are left out.

    Raises:
        AuthoringError: it is not YAML, or exceeds a limit; with a finding for every error.
    """
    if file.error is not None:
        raise file.error
    try:
        documents = parse_all(file.text, file.path)
    except AuthoringError as error:
        if (template := _name_template(file, error.findings)) is None:
            raise
        raise AuthoringError(f"{template.position}: {template.message}", [template], fix=template.fix) from error
    findings = [finding for document in documents for finding in document.findings]
    if findings:
        raise AuthoringError(f"{file.path}: the file cannot be read", findings)
    return [InputDocument(file.path, each.data, each.positions) for each in documents if each.data is not None]


def _name_template(file: InputFile, findings: Sequence[Finding]) -> Finding | None:
    """Report a template as such: what prevents its reading is nothing to correct in it. None if it is none."""
    lines = file.text.splitlines()
    for finding in findings:
        at = finding.position
        if at is not None and at.line <= len(lines) and _TEMPLATE.search(lines[at.line - 1]):
            message = "the file is a template, and not YAML before it is rendered"
            fix = "import what it renders to, such as the output of `helm template`"
            return msgspec.structs.replace(finding, message=message, fix=fix)
    return None


def _read_or_explain(path: Path) -> InputFile:
    """Read a file of a folder; an error does not end the import of the others."""
    try:
        return InputFile(str(path), _read_limited(path))
    except AuthoringError as error:
        return InputFile(str(path), "", error)


def _read_limited(path: Path) -> str:
    """Read a text of at most ``MAX_BYTES``, without a byte order mark."""
    return read_text(path, MAX_BYTES).removeprefix("\ufeff")


def _is_ignored(root: Path, folder: str) -> bool:
    return any(part in _IGNORED_FOLDERS for part in Path(folder).relative_to(root).parts)
