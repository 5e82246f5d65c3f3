"""Every kind of defect by what is false: each module registers its own, and importing this package imports all."""

from importlib import import_module
from pkgutil import walk_packages

from tools.defects.kind import KINDS

__all__ = ["KINDS"]

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
