"""The rules by which an exported verifier scores an incident: its truth, with the constants of the matcher."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.name import CLUSTER_SCOPED, GENERATED_SUFFIXES, WORKLOAD_KINDS
from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.matching.alias_classes import AliasClass, build_alias_classes

#: Programs that are copied into exports.
PROGRAMS: Final = Path(__file__).parent / "programs"
#: The program of verifiers, which is copied into each task.
VERIFIER: Final = PROGRAMS / "score_answer.py"
#: What the program and its rules are called beside each other.
VERIFIER_FILE: Final = "score_answer.py"
RULES_FILE: Final = "rules.json"


class RuleGroup(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Objects of one kind that the truth names."""

    id: str
    kind: str
    namespace: str
    names: tuple[str, ...]


class RuleClass(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Groups that are one answer; ``declared`` says that other kinds may stand for it."""

    id: str
    root: bool
    declared: bool
    groups: tuple[RuleGroup, ...]


class VerifierRules(Value, frozen=True, kw_only=True, omit_defaults=False):
    """All that a verifier knows. Without an ``incident`` nothing is to be claimed."""

    incident: bool
    classes: tuple[RuleClass, ...]
    cluster_scoped: tuple[str, ...] = tuple(sorted(CLUSTER_SCOPED))
    workloads: tuple[str, ...] = tuple(sorted(WORKLOAD_KINDS))
    generated: dict[str, tuple[str, ...]]
    canary: str = CANARY

    def render(self) -> str:
        """Render the file that the program reads."""
        return json.dumps(self.to_json(), indent=1) + "\n"


def build_rules(truth: IncidentTruth) -> VerifierRules:
    """Build the rules of a truth.

    Raises:
        AuthoringError: it names objects by patterns, which the program does not know, or has no root to be named.
    """
    if patterns := [pattern for group in truth.groups for pattern in group.patterns]:
        raise AuthoringError(
            f"{truth.incident}: the truth has patterns ({patterns[0]!r}), and exported verifiers compare names",
            fix="export a snapshot of scenario-kit, whose truth has names",
        )
    incident = truth.outcome == "Incident"
    classes = build_alias_classes(truth.groups, truth.aliases) if incident else ()
    if incident and not any(each.root for each in classes):
        raise AuthoringError(f"{truth.incident}: the truth has no root cause", fix="name one, or another outcome")
    generated = {kind: tuple(each.pattern for each in found) for kind, found in GENERATED_SUFFIXES.items()}
    return VerifierRules(incident=incident, classes=tuple(map(_build_class, classes)), generated=generated)


def load_verifier() -> Any:
    """Load the program as a module, to score in this process as an exported task does."""
    from scenario_kit.exporters.programs import score_answer

    return score_answer


def _build_class(found: AliasClass) -> RuleClass:
    groups = tuple(RuleGroup(id=g.id, kind=g.kind, namespace=g.namespace, names=g.names) for g in found.groups)
    return RuleClass(id=found.id, root=found.root, declared=found.declared, groups=groups)
