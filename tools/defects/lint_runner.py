"""Lints defective copies as members of a catalogue."""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_files
from scenario_kit.model import Finding
from tools.defects.kind import Defect, DoesNotApply, Kind
from tools.defects.record import UNTOUCHED, Caught, classify_findings, digest_copy
from tools.defects.subject import Subject, subjects


class _Dumper(yaml.SafeDumper):
    """A dumper that writes references as plain text."""


_Dumper.add_multi_representer(str, lambda dumper, text: dumper.represent_str(str(text)))


def write_copy(defect: Defect, subject: Subject, root: Path) -> list[Path]:
    """Write a defective copy into a catalogue folder; returns its files, the scenario first."""
    folder = root / "scenarios" / (defect.folder or subject.name)
    shutil.copytree(subject.path.parent, folder, ignore=shutil.ignore_patterns("evidence*"))
    path = folder / "scenario.yaml"
    text = defect.document if isinstance(defect.document, str) else _dump(defect.document)
    path.write_text(text)
    for name, document in defect.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(_dump(document))
    return [path, *(folder / name for name in defect.files)]


def _dump(document: object) -> str:
    return str(yaml.dump(document, Dumper=_Dumper, sort_keys=False))


def lint_copy(defect: Defect, subject: Subject, root: Path, catalog: Catalog) -> list[Finding]:
    """Return the findings about the copy and the faults that it brings along."""
    return lint_files(write_copy(defect, subject, root), catalog)


def judge_kind(kind: Kind, subject: Subject, root: Path, catalog: Catalog) -> list[Caught]:
    """Lint every defective copy of one kind; ``root`` is an empty folder."""
    try:
        defects = kind.of(subject)
    except DoesNotApply as reason:
        return [Caught(kind=kind.name, scenario=subject.name, answer="NotApplied", reported=str(reason))]
    caught = []
    for number, defect in enumerate(defects):
        found = lint_copy(defect, subject, root / subject.name / f"{kind.name}-{number}", catalog)
        codes = tuple(sorted({f.code for f in found}))
        says = next((f.message for f in found if f.code in kind.codes), found[0].message if found else "")
        caught.append(
            Caught(
                kind=kind.name, scenario=subject.name, answer=classify_findings(kind, codes), codes=codes,
                by="lint" if codes else "", reported=defect.reported, digest=digest_copy(defect), says=says,
            )
        )  # fmt: skip
    return caught


def judge_untouched(subject: Subject) -> Caught:
    """Lint the scenario as it is: any finding is a false alarm."""
    found = lint_files([subject.path], subject.catalog)
    codes = tuple(sorted({f.code for f in found}))
    says = found[0].message if found else ""
    return Caught(
        kind=UNTOUCHED,
        scenario=subject.name,
        answer="Other" if codes else "Missed",
        codes=codes,
        by="lint" if codes else "",
        says=says,
    )


def judge_subject(name: str, kinds: Sequence[str]) -> list[Caught]:
    """Lint a scenario as it is and every defective copy of it; a kind that raises is recorded as *Infra*."""
    from tools.defects.kinds import KINDS

    catalog, known = _read_subjects()
    subject = known[name]
    records = [judge_untouched(subject)]
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            try:
                records += judge_kind(KINDS[kind], subject, Path(folder), catalog)
            except Exception as error:  # noqa: BLE001  one failing kind must not lose the records of others
                says = f"{type(error).__name__}: {error}"
                records.append(Caught(kind=kind, scenario=name, answer="Infra", says=says))
    return records


@functools.cache
def _read_subjects() -> tuple[Catalog, dict[str, Subject]]:
    catalog = Catalog(merging=True)
    return catalog, {subject.name: subject for subject in subjects(catalog)}
