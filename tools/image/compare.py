"""Compare two archives of one image to find what is not reproducible."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.image.layer import read_layer


def describe_differences(first: Path, second: Path) -> Iterator[str]:
    """Describe each file that is missing or different in one archive, by layer."""
    for number, (one, other) in enumerate(zip(_read_layers(first), _read_layers(second), strict=True), 1):
        for path in sorted(one.keys() | other.keys()):
            if one.get(path) != other.get(path):
                kind = "differs" if path in one and path in other else "is only in one"
                yield f"layer {number}: {path} {kind}"


def _read_layers(archive: Path) -> Iterator[dict[str, tuple[Any, ...]]]:
    with tarfile.open(archive, "r:") as tar:
        listed = tar.extractfile("manifest.json")
        assert listed is not None
        for path in json.load(listed)[0]["Layers"]:
            blob = tar.extractfile(path)
            assert blob is not None
            yield {
                info.name: (info.mode, info.mtime, info.linkname, hashlib.sha256(content).hexdigest())
                for info, content in read_layer(blob)  # type: ignore[arg-type]
            }
