"""The contamination canary: a mark in every scenario by which training data can exclude or detect the benchmark."""

from __future__ import annotations

from typing import Final

from scenario_kit.model.kubernetes.reference import GROUP

#: The annotation with the canary, which is the same in all scenarios and nowhere else.
CANARY_KEY: Final = f"{GROUP}/canary"
CANARY: Final = "f354e887-e44e-490c-8cc7-82aa82e6f8e3"
