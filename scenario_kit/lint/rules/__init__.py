"""The static rules by subject."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages


def import_rules() -> None:
    """Import all modules of this package, each of which registers its checks."""
    for module in walk_packages(__path__, f"{__name__}."):
        import_module(module.name)
