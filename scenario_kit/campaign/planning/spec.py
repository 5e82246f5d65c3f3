"""``spec`` of a Validation: scenario, plan and budgets (docs/architecture.md)."""

from __future__ import annotations

from typing import Literal

from scenario_kit.campaign.planning.plan_file import limit_plan
from scenario_kit.campaign.planning.plans import Plan, get_plan
from scenario_kit.model import Object, Value
from scenario_kit.model.authored.scenario import ScenarioSpec

_PARALLEL = 2


class EmbeddedScenario(Value, frozen=True, kw_only=True):
    """A scenario embedded in another object; its fault types are in its ``spec``, as in a Scenario."""

    name: str
    spec: ScenarioSpec


class ValidationSpec(Value, frozen=True, kw_only=True):
    """A campaign; immutable. Either ``scenario`` (the name of a Scenario) or ``embedded`` is set.

    ``custom`` overrides ``plan``. Budgets: ``max_repeats`` paired repeats, ``max_minutes`` of wall time.
    """

    scenario: str = ""
    embedded: EmbeddedScenario | None = None
    plan: Literal["Try", "Quick", "Standard", "Thorough"] = "Quick"
    custom: Plan | None = None
    seed: int = 1
    max_repeats: int | None = None
    max_minutes: int = 60
    parallelism: int | None = None

    @property
    def followed(self) -> Plan:
        """The effective plan, within the budget of repeats.

        Raises:
            UsageError: it cannot pass within the budget (SK503).
        """
        return limit_plan(self.custom or get_plan(self.plan.lower()), self.max_repeats)

    @property
    def parallel(self) -> int:
        """The maximum number of concurrent trials."""
        return self.parallelism or (self.custom and self.custom.parallel) or _PARALLEL


def parse_validation_spec(spec: Object) -> ValidationSpec:
    """Parse the spec of a Validation without its embedded scenario, which is parsed like a Scenario object.

    Raises:
        UsageError: the plan is inconsistent.
    """
    return ValidationSpec.from_json({k: v for k, v in spec.items() if k != "embedded"})
