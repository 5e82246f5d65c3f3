"""The files of a split: the key that is read, the folder that goes out, and the one that is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from scenario_kit import __version__
from scenario_kit.catalog.evidence import read_evidence, write_evidence
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.yaml.edit import Put, apply_edits
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.model.base import Value
from scenario_kit.publication.content import SiteContent
from scenario_kit.publication.entry import CatalogueEntry
from scenario_kit.publication.hashed_name import compute_keyed_hash
from scenario_kit.publication.split.assignment import SetNames
from scenario_kit.publication.split.leak_scan import refuse_secrets
from scenario_kit.publication.views import build_document, build_views
from scenario_kit.snapshot.folder.staging import stage_folders

PUBLISHED: Final = "published"
KEPT: Final = "kept"
INDEX: Final = "split.json"
#: A key of fewer bytes can be found by trying.
_LEAST_KEY: Final = 32
_MOST_KEY: Final = 4096


class SplitRecord(Value, frozen=True, kw_only=True, omit_defaults=False):
    """What is kept of a split, to repeat it: who is where, and under which name. ``key_check`` tells keys apart."""

    schema_version: int = 1
    kit: str = __version__
    seed: int
    percent: int
    key_check: str
    public: tuple[str, ...]
    held_out: dict[str, str]


def read_key(path: Path) -> bytes:
    """Read the key of the hashes, without the white space around it.

    Raises:
        UsageError: there is none, others can read it, or it is too short.
    """
    make = f"(umask 077; head -c 32 /dev/urandom | base64 > {path})"
    if not path.is_file():
        raise UsageError(f"there is no key {path}", fix=make)
    if path.stat().st_mode & 0o077:
        raise UsageError(f"{path}: others can read this key", fix=f"chmod 600 {path}")
    with path.open("rb") as stream:
        key = stream.read(_MOST_KEY).strip()
    if len(key) < _LEAST_KEY:
        raise UsageError(f"{path}: a key has at least {_LEAST_KEY} bytes, and this one has {len(key)}", fix=make)
    return key


def read_record(folder: Path) -> SplitRecord:
    """Read what an earlier split kept.

    Raises:
        UsageError: the folder holds no split.
        AuthoringError: its record is none.
    """
    path = folder / KEPT / INDEX
    if not path.is_file():
        raise UsageError(
            f"{folder} holds no {KEPT}/{INDEX}", fix="name the folder that `scenario-kit split --out` wrote"
        )
    try:
        return SplitRecord.from_json(json.loads(path.read_bytes()))
    except (ValueError, msgspec.ValidationError) as problem:
        raise AuthoringError(f"{path} is no record of a split: {problem}", fix="make the split again") from problem


def read_previous(folder: Path, key: bytes) -> SetNames:
    """Read who was in which set.

    Raises:
        UsageError: the folder holds no split, or one by another key.
    """
    record = read_record(folder)
    if record.key_check != compute_keyed_hash(key, "check"):
        raise UsageError(f"{folder} was split with another key", fix="name its key with --key-file")
    return SetNames(frozenset(record.public), frozenset(record.held_out))


def write_split(content: SiteContent, record: SplitRecord, out: Path) -> None:
    """Write both folders, complete or not at all.

    Raises:
        UsageError: the folder exists.
        AuthoringError: what is to be published would tell of what is held out; with one finding for each text.
    """
    published = dict(_render_published(content, record))
    refuse_secrets(published, content.entries)
    with stage_folders((out,)) as (staged,):
        for name, text in published.items():
            _write(staged / PUBLISHED / name, text)
        kept = staged / KEPT
        _write(kept / INDEX, _dump(record.to_json()))
        kept.chmod(0o700)
        for entry in content.entries:
            if entry.held_out:
                _keep(entry, kept / "scenarios" / entry.hashed)


def _render_published(content: SiteContent, record: SplitRecord) -> Iterator[tuple[str, str]]:
    views = build_views(content)
    yield (
        INDEX,
        _dump({
            "schemaVersion": record.schema_version, "kit": record.kit, "canary": CANARY, "percent": record.percent,
            "public": len(record.public), "heldOut": len(record.held_out),
            "scenarios": [
                {"name": view.name, "set": "held-out" if view.held_out else "public", "app": view.app} for view in views
            ],
        }),
    )  # fmt: skip
    for view in views:
        alerts = {"alerts": sorted({alert.name for alert in view.alerts})}
        yield f"tasks/{view.name}.json", _dump({"canary": CANARY} | build_document(view) | alerts)
    for entry in content.entries:
        if not entry.held_out:
            for name, text in _read_authored(entry.path):
                yield f"truths/{entry.published_name}/{name}", _mark_text(text)


def _read_authored(scenario: Path) -> Iterator[tuple[str, str]]:
    """Read a scenario and the fault types that it brings along."""
    yield "scenario.yaml", scenario.read_text(encoding="utf-8")
    for path in sorted((scenario.parent / "faults").rglob("*.yaml")):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(scenario.parent).as_posix(), path.read_text(encoding="utf-8")


def _mark_text(text: str) -> str:
    """Return the YAML with the canary in it."""
    return text if CANARY in text else f"{text.rstrip()}\n# {CANARY_KEY}: {CANARY}\n"


def _keep(entry: CatalogueEntry, folder: Path) -> None:
    """Keep a held-out scenario under its hashed name, so that whatever is made of it bears no other."""
    for name, text in _read_authored(entry.path):
        renamed = apply_edits(text, [Put(("metadata", "name"), entry.hashed)]) if name == "scenario.yaml" else text
        _write(folder / name, renamed)
    evidence = read_evidence(entry.path)
    if evidence is not None:
        write_evidence(folder / "scenario.yaml", msgspec.structs.replace(evidence, scenario=entry.hashed))


def build_record(names: SetNames, hashed: Mapping[str, str], key: bytes, seed: int, percent: int) -> SplitRecord:
    """Build what is kept of a split."""
    return SplitRecord(
        seed=seed, percent=percent, key_check=compute_keyed_hash(key, "check"), public=tuple(sorted(names.public)),
        held_out={name: hashed[name] for name in sorted(names.held_out)},
    )  # fmt: skip


def check_undivided(entries: Sequence[CatalogueEntry]) -> None:
    """Check that no scenario is of a split already, and that there are enough of them.

    Raises:
        UsageError: one is, or there are fewer than two.
    """
    if hashed := next((entry.scenario.name for entry in entries if entry.held_out), ""):
        raise UsageError(f"{hashed} is of a split already", fix="split the catalogue that it was made from")
    if len(entries) < 2:
        raise UsageError("one scenario cannot be split", fix="name a folder of scenarios")


def check_goal(out: Path) -> None:
    """Check that a split can be written there, before anything is computed.

    Raises:
        UsageError: the path exists.
    """
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out} exists already", fix="remove it, or name another folder with --out")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _dump(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
