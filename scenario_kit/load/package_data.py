"""YAML data of the package, each file beside the module that uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from scenario_kit.load.disk_cache import cache_json

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_package_data(module: str) -> Any:
    """Load the YAML file beside a module, given by its ``__file__``."""
    file = Path(module).with_suffix(".yaml")
    return cache_json(file.stem, [file], [], lambda: yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER))
