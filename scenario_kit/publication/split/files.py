"""The files of a split: the key, the folder to publish and the folder to keep private."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit import __version__
from scenario_kit.catalog.evidence import read_evidence, write_evidence
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load.staged_folders import stage_folders, write_files
from scenario_kit.load.yaml.edit import Put, apply_edits
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.model.base import Value
from scenario_kit.model.json_document import format_json
from scenario_kit.publication.content import SiteContent
from scenario_kit.publication.entry import CatalogueEntry
from scenario_kit.publication.hashed_name import compute_keyed_hash
from scenario_kit.publication.split.assignment import SetNames
from scenario_kit.publication.split.leak_scan import refuse_secrets
from scenario_kit.publication.views import build_document, build_views

PUBLISHED: Final = "published"
KEPT: Final = "kept"
INDEX: Final = "split.json"
#: Minimum key size; shorter keys could be brute-forced.
_MIN_KEY_BYTES: Final = 32
_MAX_KEY_BYTES: Final = 4096


class SplitRecord(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The private record of a split, needed to repeat it; ``key_check`` identifies the key."""

    schema_version: int = 1
    kit: str = __version__
    seed: int
    percent: int
    key_check: str
    public: tuple[str, ...]
    held_out: dict[str, str]


def read_key(path: Path) -> bytes:
    """Read the hash key, stripped of surrounding whitespace.

    Raises:
        UsageError: the file is missing or readable by other users, or the key is too short.
    """
    command = f"(umask 077; head -c 32 /dev/urandom | base64 > {path})"
    if not path.is_file():
        raise UsageError(f"key file {path} does not exist", fix=command)
    if path.stat().st_mode & 0o077:
        raise UsageError(f"{path}: other users can read this key", fix=f"chmod 600 {path}")
    with path.open("rb") as stream:
        key = stream.read(_MAX_KEY_BYTES).strip()
    if len(key) < _MIN_KEY_BYTES:
        raise UsageError(f"{path}: expected a key of at least {_MIN_KEY_BYTES} bytes, got {len(key)}", fix=command)
    return key


def read_record(folder: Path) -> SplitRecord:
    """Read the record of an earlier split.

    Raises:
        UsageError: the folder contains no split.
        AuthoringError: the record is invalid.
    """
    path = folder / KEPT / INDEX
    if not path.is_file():
        raise UsageError(
            f"{folder} contains no {KEPT}/{INDEX}", fix="name the folder that `scenario-kit split --out` wrote"
        )
    try:
        return SplitRecord.from_json(json.loads(path.read_bytes()))
    except (ValueError, msgspec.ValidationError) as error:
        raise AuthoringError(f"{path} is not a valid split record: {error}", fix="repeat the split") from error


def read_previous(folder: Path, key: bytes) -> SetNames:
    """Read the sets of an earlier split.

    Raises:
        UsageError: the folder contains no split, or one made with another key.
    """
    record = read_record(folder)
    if record.key_check != compute_keyed_hash(key, "check"):
        raise UsageError(f"{folder} was split with another key", fix="name its key with --key-file")
    return SetNames(frozenset(record.public), frozenset(record.held_out))


def write_split(content: SiteContent, record: SplitRecord, out: Path) -> None:
    """Write both folders atomically.

    Raises:
        UsageError: the folder exists.
        AuthoringError: published files would leak held-out scenarios; with one finding per text.
    """
    published = dict(_render_published(content, record))
    refuse_secrets(published, content.entries)
    with stage_folders((out,)) as (staged,):
        write_files(staged / PUBLISHED, published)
        kept = staged / KEPT
        write_files(kept, {INDEX: format_json(record.to_json())})
        kept.chmod(0o700)
        for entry in content.entries:
            if entry.held_out:
                _keep(entry, kept / "scenarios" / entry.hashed)


def _render_published(content: SiteContent, record: SplitRecord) -> Iterator[tuple[str, str]]:
    views = build_views(content)
    yield (
        INDEX,
        format_json({
            "schemaVersion": record.schema_version, "kit": record.kit, "canary": CANARY, "percent": record.percent,
            "public": len(record.public), "heldOut": len(record.held_out),
            "scenarios": [
                {"name": view.name, "set": "held-out" if view.held_out else "public", "app": view.app} for view in views
            ],
        }),
    )  # fmt: skip
    for view in views:
        alerts = {"alerts": sorted({alert.name for alert in view.alerts})}
        yield f"tasks/{view.name}.json", format_json({"canary": CANARY} | build_document(view) | alerts)
    for entry in content.entries:
        if not entry.held_out:
            for name, text in _read_authored(entry.path):
                yield f"truths/{entry.published_name}/{name}", _mark_text(text)


def _read_authored(scenario: Path) -> Iterator[tuple[str, str]]:
    """Read a scenario and the fault types defined beside it."""
    yield "scenario.yaml", scenario.read_text(encoding="utf-8")
    for path in sorted((scenario.parent / "faults").rglob("*.yaml")):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(scenario.parent).as_posix(), path.read_text(encoding="utf-8")


def _mark_text(text: str) -> str:
    """Append the canary to a YAML text that lacks it."""
    return text if CANARY in text else f"{text.rstrip()}\n# {CANARY_KEY}: {CANARY}\n"


def _keep(entry: CatalogueEntry, folder: Path) -> None:
    """Keep a held-out scenario under its hashed name, so that everything derived from it has only that name."""
    for name, text in _read_authored(entry.path):
        renamed = apply_edits(text, [Put(("metadata", "name"), entry.hashed)]) if name == "scenario.yaml" else text
        write_files(folder, {name: renamed})
    evidence = read_evidence(entry.path)
    if evidence is not None:
        write_evidence(folder / "scenario.yaml", msgspec.structs.replace(evidence, scenario=entry.hashed))


def build_record(names: SetNames, hashed: Mapping[str, str], key: bytes, seed: int, percent: int) -> SplitRecord:
    """Build the private record of a split."""
    return SplitRecord(
        seed=seed, percent=percent, key_check=compute_keyed_hash(key, "check"), public=tuple(sorted(names.public)),
        held_out={name: hashed[name] for name in sorted(names.held_out)},
    )  # fmt: skip


def check_undivided(entries: Sequence[CatalogueEntry]) -> None:
    """Check that a catalogue can be split.

    Raises:
        UsageError: a scenario comes from a split, or there are fewer than two scenarios.
    """
    if hashed := next((entry.scenario.name for entry in entries if entry.held_out), ""):
        raise UsageError(f"{hashed} comes from an earlier split", fix="split the original catalogue")
    if len(entries) < 2:
        raise UsageError("one scenario cannot be split", fix="name a folder of scenarios")


def check_output(out: Path) -> None:
    """Check that a split can be written there.

    Raises:
        UsageError: the path exists.
    """
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out} already exists", fix="remove it, or name another folder with --out")
