"""Every kind of defect; importing this module registers them."""

from tools.defects import (  # noqa: F401 - each registers its kinds
    alerts,
    briefs,
    chaos,
    claims,
    copies,
    damage,
    exceptions,
    faults,
    fields,
    forms,
    hints,
    labels,
    procedures,
    promises,
    reports,
    riddles,
    silent_damage,
    steps,
    texts,
    tried_alerts,
    tried_artefacts,
    tried_combinations,
    tried_damage,
    tried_endings,
    tried_faults,
    tried_labels,
    tried_repairs,
)
from tools.defects.kind import KINDS

__all__ = ["KINDS"]
