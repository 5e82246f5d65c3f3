"""Template loader that is confined to one folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from jinja2 import BaseLoader, Environment, TemplateNotFound

#: Maximum size of a template file in bytes.
MAX_FILE: Final = 512 * 1024


class Folder(BaseLoader):
    """Loads templates from a folder; neither ``..`` nor symbolic links can leave it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:  # noqa: ARG002
        """Return a template's text, its path, and a function that returns whether it is up to date."""
        text = self.text(template)
        path = self._root / template
        time = path.stat().st_mtime_ns
        return text, str(path), lambda: path.is_file() and path.stat().st_mtime_ns == time

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            TemplateNotFound: the folder has no such file.
            ValueError: the file is too large or not UTF-8.
        """
        if "\0" in name:
            raise TemplateNotFound(name)
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root.resolve()) or not path.is_file():
            raise TemplateNotFound(name)
        if path.stat().st_size > MAX_FILE:
            raise ValueError(f"{name} is larger than {MAX_FILE // 1024} KiB")
        return path.read_text(encoding="utf-8")
