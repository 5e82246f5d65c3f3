"""AIOpsLab problems: Python classes, one per task level of a fault (https://github.com/microsoft/AIOpsLab)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.importers.formats.context import ImportContext
from scenario_kit.importers.formats.python_problems.problem_import import ProblemForm, import_problems
from scenario_kit.importers.inputs import InputFile

FORM: Final = ProblemForm(
    "AIOpsLab",
    bases=("DetectionTask", "LocalizationTask", "AnalysisTask", "MitigationTask"),
    levels=("Detection", "Localization", "Analysis", "Mitigation"),
)


def import_aiopslab(context: ImportContext, files: Sequence[InputFile]) -> None:
    """Import all levels of a problem as one draft: they differ in the task, not in the incident."""
    import_problems(context, files, FORM)
