"""The API group of the kit's custom resources, and its stored version."""

from __future__ import annotations

from typing import Final

GROUP: Final = "scenariokit.io"
VERSION: Final = "v1alpha1"
