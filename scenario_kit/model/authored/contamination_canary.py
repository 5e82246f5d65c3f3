"""A mark in every scenario of a catalogue, by which who collects texts can leave it out, or find that it was not."""

from __future__ import annotations

from typing import Final

from scenario_kit.model.kubernetes.reference import GROUP

#: The annotation that carries it. It is the same in all scenarios, and stands nowhere else.
CANARY_KEY: Final = f"{GROUP}/canary"
CANARY: Final = "f354e887-e44e-490c-8cc7-82aa82e6f8e3"
