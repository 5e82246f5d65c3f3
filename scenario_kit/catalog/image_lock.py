"""Locked digests: ``images.lock.yaml`` next to an app's definition maps each image to its digest.

``ci/lock`` writes it. If it exists, rendered objects name each image with its tag and its digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from scenario_kit.catalog.loader import read_mapping
from scenario_kit.errors import AuthoringError
from scenario_kit.load.atomic_file import replace_file

FILE: Final = "images.lock.yaml"
_NOTE: Final = "# written by ci/lock: the digests that the tags had then; do not edit\n"


def read_locks(definition: Path) -> dict[str, str]:
    """Read the digests of an app's images; empty without a lock file.

    Raises:
        AuthoringError: the file is invalid.
    """
    path = definition.with_name(FILE)
    if not path.is_file():
        return {}
    found = read_mapping(path).get("images")
    if not isinstance(found, dict) or not all(
        isinstance(v, str) and v.startswith("sha256:") and len(v) == 71 for v in found.values()
    ):
        raise AuthoringError(f"{path}: expected images: {{image: sha256:…}}", fix="run ci/lock, or delete the file")
    return {str(image): str(digest) for image, digest in found.items()}


def write(definition: Path, digests: Mapping[str, str]) -> bool:
    """Write the lock file of an app atomically and return whether it changed."""
    path = definition.with_name(FILE)
    text = _NOTE + yaml.safe_dump({"images": dict(sorted(digests.items()))}, width=1000)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    replace_file(path, text.encode())
    return True
