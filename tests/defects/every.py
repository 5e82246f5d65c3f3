"""Every kind of defect: whoever imports this has them registered."""

from tests.defects import alerts, faults, forms, labels, procedures, texts  # noqa: F401 - each registers its kinds
from tests.defects.kind import KINDS

__all__ = ["KINDS"]
