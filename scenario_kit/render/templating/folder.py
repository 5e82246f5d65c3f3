"""Template files of one folder, and of nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from jinja2 import BaseLoader, Environment, TemplateNotFound

#: Bytes that one template file may have.
MAX_FILE: Final = 512 * 1024


class Folder(BaseLoader):
    """Loads what stands in a folder; neither ``..`` nor a symbolic link leads out of it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:  # noqa: ARG002
        """Get the text of a template, its path, and whether it is still the same."""
        text = self.text(template)
        path = self._root / template
        time = path.stat().st_mtime_ns
        return text, str(path), lambda: path.is_file() and path.stat().st_mtime_ns == time

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            TemplateNotFound: there is none of this name inside the folder.
            ValueError: it is too large, or not UTF-8.
        """
        if "\0" in name:
            raise TemplateNotFound(name)
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root.resolve()) or not path.is_file():
            raise TemplateNotFound(name)
        if path.stat().st_size > MAX_FILE:
            raise ValueError(f"{name} is larger than {MAX_FILE // 1024} KiB")
        return path.read_text(encoding="utf-8")
