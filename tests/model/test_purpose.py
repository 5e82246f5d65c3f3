"""Purposes of trials as values, and as the texts that names, labels and reports have."""

import pytest

from scenario_kit.model import StepStatus
from scenario_kit.model.results.purpose import LABEL_KINDS, Purpose, PurposeKind, is_repeat


@pytest.mark.parametrize(
    ("text", "purpose", "kind"),
    [
        ("repeat-3", Purpose("repeat", 3), PurposeKind.REPEAT),
        ("control", Purpose("control"), PurposeKind.CONTROL),
        ("control-again", Purpose("control", again=True), PurposeKind.CONTROL),
        ("label", Purpose("label"), PurposeKind.LABEL),
        ("label-2-again", Purpose("label", 2, again=True), PurposeKind.LABEL),
        ("label-rest", Purpose("label-rest"), PurposeKind.LABEL_REST),
        ("label-artefact-10", Purpose("label-artefact", 10), PurposeKind.LABEL_ARTEFACT),
        ("decoys-left-1", Purpose("decoys-left", 1), PurposeKind.DECOYS_LEFT),
        ("pair-0", Purpose("pair", 0), PurposeKind.OTHER),
        ("healthy-007", Purpose("healthy-007"), PurposeKind.OTHER),
        ("", Purpose(""), PurposeKind.OTHER),
    ],
)
def test_purpose_round_trips_through_text(text: str, purpose: Purpose, kind: PurposeKind) -> None:
    assert Purpose.parse(text) == purpose
    assert str(purpose) == text
    assert purpose.kind == kind


def test_only_paired_repeats_are_repeats() -> None:
    assert [p for p in ("repeat-1", "repeat-12", "repeats", "label", "solution-2") if is_repeat(p)] == [
        "repeat-1",
        "repeat-12",
    ]


def test_label_kinds_are_all_kinds_named_label() -> None:
    assert {k for k in PurposeKind if k.startswith("label")} == LABEL_KINDS


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [("inject", "inject", ""), ("change a b", "change", "a b"), ("expectQuiet rollout", "expectQuiet", "rollout")],
)
def test_step_text_splits_into_kind_and_name(text: str, kind: str, name: str) -> None:
    status = StepStatus(index=0, step=text, outcome="Held", started_at=0.0)
    assert (status.kind, status.name) == (kind, name)
