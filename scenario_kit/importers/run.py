"""The formats, and the import of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.importers.decisions import ImportResult
from scenario_kit.importers.drafting import DraftWriter
from scenario_kit.importers.formats.chaos_mesh import import_chaos_mesh
from scenario_kit.importers.formats.context import ImportContext
from scenario_kit.importers.formats.itbench import import_itbench
from scenario_kit.importers.formats.krkn import import_krkn
from scenario_kit.importers.formats.litmus import import_litmus
from scenario_kit.importers.formats.promrules import import_promrules
from scenario_kit.importers.formats.python_problems.problem_import import AIOPSLAB, SREGYM, import_problems
from scenario_kit.importers.inputs import PYTHON_ENDINGS, YAML_ENDINGS, InputFile
from scenario_kit.importers.ledger import ImportLedger
from scenario_kit.importers.targets import AppFinder


class ImportFormat(NamedTuple):
    """A public format: its title, the suffixes of its files, and its importer."""

    title: str
    endings: tuple[str, ...]
    importer: Callable[[ImportContext, Sequence[InputFile]], None]


FORMATS: Final[dict[str, ImportFormat]] = {
    "itbench": ImportFormat("Scenarios of ITBench, with the ground truths beside them", YAML_ENDINGS, import_itbench),
    "sregym": ImportFormat("Problems of SREGym", PYTHON_ENDINGS, partial(import_problems, form=SREGYM)),
    "aiopslab": ImportFormat("Problems of AIOpsLab", PYTHON_ENDINGS, partial(import_problems, form=AIOPSLAB)),
    "chaos-mesh": ImportFormat("Experiments, Schedules and Workflows of Chaos Mesh", YAML_ENDINGS, import_chaos_mesh),
    "litmus": ImportFormat("ChaosEngines and chaos workflows of Litmus", YAML_ENDINGS, import_litmus),
    "krkn": ImportFormat("Scenario files of krkn", YAML_ENDINGS, import_krkn),
    "promrules": ImportFormat("Rule files of Prometheus, and PrometheusRule objects", YAML_ENDINGS, import_promrules),
}


def run_import(
    format: str,
    files: Sequence[InputFile],
    catalog: Catalog,
    *,
    app: str = "",
    version: str = "",
    target: str = "",
    author: str = "",
) -> ImportResult:
    """Import files of a format. Faults whose target the app does not have are aimed at its component ``target``.

    Raises:
        UsageError: the app, version or component does not exist.
        AuthoringError: the only file cannot be read; with the position.
    """
    finder = AppFinder(catalog, app, version, target)
    context = ImportContext(catalog, finder, ImportLedger(), DraftWriter(catalog, author))
    FORMATS[format].importer(context, files)
    return ImportResult(
        format=format, files=tuple(file.path for file in files), drafts=tuple(context.writer.files),
        decisions=context.ledger.refuse_uncovered(),
    )  # fmt: skip
