"""Import scenarios, experiments and alert rules of other projects as drafts, with a decision about each value.

Input is parsed, never executed. An importer is a pure function from files to ``ImportResult``; the command ``import``
reads the files and writes the drafts.
"""

from scenario_kit.importers.decisions import ImportDecision, ImportedFile, ImportResult
from scenario_kit.importers.inputs import InputFile, read_inputs
from scenario_kit.importers.run import FORMATS, run_import

__all__ = [
    "FORMATS", "ImportDecision", "ImportResult", "ImportedFile", "InputFile", "read_inputs", "run_import",
]  # fmt: skip
