"""How long the fuzz tests look: briefly and always the same by default, longer and elsewhere each time on demand."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

#: What CI takes is seconds, and a failure is told as it was found: shrinking it would take minutes.
#: This multiplies the number of examples; then they are drawn anew in every run.
VARIABLE = "SCENARIO_KIT_FUZZ"


def effort(examples: int) -> settings:
    """Return settings for a test with ``examples`` examples in CI."""
    factor = int(os.environ.get(VARIABLE) or 0)
    return settings(
        max_examples=examples * max(1, factor),
        derandomize=not factor,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate, *((Phase.shrink,) if factor else ())),
        suppress_health_check=list(HealthCheck),
    )
