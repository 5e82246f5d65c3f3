"""The text of a drafted scenario: its document, and comments on the source of its alerts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from scenario_kit.draft.yaml_format import dump_document
from scenario_kit.model import Object
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.model.authored.scenario import API_VERSION, AlertExpectation
from scenario_kit.model.results.matrix import MatrixRow
from scenario_kit.render.faults.applicability import Offer

#: Comments above the expected alerts, and above the ground truth where the lab predicts none.
_PREDICTED: Final = "  # predicted from the fault; `scenario-kit try PATH --accept` writes down what really fires"
_TRIED: Final = (
    "  # what fired when this fault was tried there; `scenario-kit try PATH --accept` writes down what fires here"
)
_SILENT: Final = (
    "  # predicted from the fault, but no alert fired when it was tried there: other parameters may show more;\n"
    "  # `scenario-kit try PATH --accept` writes down what fires here"
)
_NOT_MODELLED: Final = (
    "  # the lab does not model what this fault changes, so no alert is predicted: write down what fires elsewhere"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario file: its name, its text without the schema header, and its expected alerts.

    ``offer`` is None without a fault. ``cautions`` are effects that may differ from the fault's title.
    """

    name: str
    text: str
    offer: Offer | None
    alerts: tuple[AlertExpectation, ...]
    cautions: tuple[str, ...] = ()
    spec: Object = field(default_factory=dict)


def format_scenario(name: str, spec: Object, row: MatrixRow | None = None, *, modelled: bool = True) -> str:
    """Format the document of a scenario, with a comment on the source of its alerts.

    Args:
        row: a trial of the fault on its target; None if the alerts are only predicted.
        modelled: whether the lab shows what the fault changes.
    """
    document = {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": name, "annotations": {CANARY_KEY: CANARY}},
        "spec": spec,
    }
    text = _add_comment(dump_document(document), "expect", _choose_comment(row))
    return text if modelled else _add_comment(text, "groundTruth", _NOT_MODELLED)


def _choose_comment(row: MatrixRow | None) -> str:
    if row is None or row.outcome != "Ran":
        return _PREDICTED
    return _TRIED if row.alerts else _SILENT


def _add_comment(text: str, section: str, comment: str) -> str:
    """Add a comment above a section of the spec, if there is one."""
    heading = f"\n  {section}:\n"
    return text.replace(heading, f"\n{comment}{heading}", 1)
