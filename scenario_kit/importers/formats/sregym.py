"""Import SREGym problems: subclasses of ``Problem``, and their registry (https://github.com/SREGym/SREGym)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.importers.formats.context import ImportContext
from scenario_kit.importers.formats.python_problems.problem_import import ProblemForm, import_problems
from scenario_kit.importers.inputs import InputFile

FORM: Final = ProblemForm("SREGym", bases=("Problem",))


def import_sregym(context: ImportContext, files: Sequence[InputFile]) -> None:
    """Import every problem as a draft."""
    import_problems(context, files, FORM)
