"""The HTML templates of ``templates``: how they are rendered, and how a page may allow its own style and script."""

from __future__ import annotations

import base64
import hashlib

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from scenario_kit.catalog.loader import find_data_root


def open_page_templates(*folders: str) -> Environment:
    """Open folders of ``templates``: all text is escaped, and a variable without a value is an error."""
    loader = FileSystemLoader([find_data_root() / "templates" / folder for folder in folders])
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def hash_source(text: str) -> str:
    """Return the source expression that allows exactly this text (Content Security Policy Level 3)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
