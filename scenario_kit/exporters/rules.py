"""The rules of an exported verifier: the truth of an incident and the constants of the matcher."""

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

#: Programs copied into exports.
PROGRAMS: Final = Path(__file__).parent / "programs"
#: The verifier, copied into each task.
VERIFIER: Final = PROGRAMS / "score_answer.py"
#: File names of the verifier and its rules in an export.
VERIFIER_FILE: Final = "score_answer.py"
RULES_FILE: Final = "rules.json"


class RuleGroup(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Objects of one kind named by the truth."""

    id: str
    kind: str
    namespace: str
    names: tuple[str, ...]


class RuleClass(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Groups that count as one answer; with ``declared``, objects of other kinds also match it."""

    id: str
    root: bool
    declared: bool
    groups: tuple[RuleGroup, ...]


class VerifierRules(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The content of ``rules.json``; without ``incident``, any claim is wrong."""

    incident: bool
    classes: tuple[RuleClass, ...]
    cluster_scoped: tuple[str, ...] = tuple(sorted(CLUSTER_SCOPED))
    workloads: tuple[str, ...] = tuple(sorted(WORKLOAD_KINDS))
    generated: dict[str, tuple[str, ...]]
    canary: str = CANARY

    def render(self) -> str:
        """Render the verifier's input file."""
        return json.dumps(self.to_json(), indent=1) + "\n"


def build_rules(truth: IncidentTruth) -> VerifierRules:
    """Build the rules of a truth.

    Raises:
        AuthoringError: it names objects by patterns, which the verifier does not support, or has no root cause.
    """
    if patterns := [pattern for group in truth.groups for pattern in group.patterns]:
        raise AuthoringError(
            f"{truth.incident}: the truth has patterns ({patterns[0]!r}); exported verifiers compare names only",
            fix="export a snapshot of scenario-kit, whose truth has names",
        )
    incident = truth.outcome == "Incident"
    classes = build_alias_classes(truth.groups, truth.aliases) if incident else ()
    if incident and not any(each.root for each in classes):
        raise AuthoringError(f"{truth.incident}: the truth has no root cause", fix="declare one, or another outcome")
    generated = {kind: tuple(each.pattern for each in suffixes) for kind, suffixes in GENERATED_SUFFIXES.items()}
    return VerifierRules(incident=incident, classes=tuple(map(_build_class, classes)), generated=generated)


def load_verifier() -> Any:
    """Import the verifier, to score in this process as an exported task does."""
    from scenario_kit.exporters.programs import score_answer

    return score_answer


def _build_class(alias_class: AliasClass) -> RuleClass:
    groups = tuple(RuleGroup(id=g.id, kind=g.kind, namespace=g.namespace, names=g.names) for g in alias_class.groups)
    return RuleClass(id=alias_class.id, root=alias_class.root, declared=alias_class.declared, groups=groups)
