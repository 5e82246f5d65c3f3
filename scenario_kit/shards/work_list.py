"""The work list: scenarios, plan and shards. The input of pods, CI jobs and the collection of results."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from scenario_kit import __version__
from scenario_kit.campaign import Plan
from scenario_kit.errors import UsageError
from scenario_kit.load.atomic_file import replace_file
from scenario_kit.model import Object, Value
from scenario_kit.shards.content_digest import digest_value

WORK_VERSION: Final = 1
#: The name of a work list is part of object names (RFC 1123 labels).
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?")
_AGAIN: Final = "plan again: scenario-kit shards plan PATHS --out FILE"


class CatalogueRoot(Value, frozen=True, kw_only=True):
    """A root of the catalogue (``catalog.index``): the digest of each of its parts.

    ``shipped`` is true if pods get its files with the work; otherwise their image has to contain it.
    """

    parts: dict[str, str]
    shipped: bool = False


class WorkItem(Value, frozen=True, kw_only=True):
    """A scenario to validate.

    Attributes:
        path: its file, as the user wrote it.
        root: index of the root that it belongs to; -1 if it stands alone.
        place: its file, relative to the root.
        digest: of all that its result depends on: files, catalogue, plan, seed, version.
        incident: digest of the resolved scenario, as reports have it; empty if it cannot be resolved.
        seconds: the estimated cost, in seconds of one lab.
        shard: its shard, from 0.
    """

    scenario: str
    path: str
    root: int = -1
    place: str
    digest: str
    incident: str = ""
    trials: int = 0
    seconds: float
    shard: int = 0


class WorkList(Value, frozen=True, kw_only=True):
    """The scenarios of a validation, divided over ``shards`` shards.

    ``catalogue`` is a digest of everything that all scenarios share. Format and version have no default, as defaults
    are not written.
    """

    schema_version: int
    name: str
    kit: str
    plan: Object
    seed: int
    catalogue: str
    roots: tuple[CatalogueRoot, ...] = ()
    shards: int
    items: tuple[WorkItem, ...]

    @property
    def digest(self) -> str:
        """Digest of the whole list."""
        return digest_value(self.to_json())

    def select(self, shard: int) -> list[WorkItem]:
        """Return the scenarios of a shard, in order.

        Raises:
            UsageError: there is no such shard.
        """
        if not 0 <= shard < self.shards:
            raise UsageError(f"there is no shard {shard}", fix=f"shards are 0 to {self.shards - 1}")
        return [item for item in self.items if item.shard == shard]

    def parse_plan(self) -> Plan:
        """Return the plan.

        Raises:
            UsageError: the plan is not one of this version.
        """
        try:
            return Plan.from_json(self.plan)
        except msgspec.ValidationError as error:
            raise UsageError(f"the plan of the work list is invalid: {error}", fix=_AGAIN) from error


def check_name(name: str) -> str:
    """Return a name if it is valid in object names.

    Raises:
        UsageError: they cannot.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is not a name for a work list",
            fix="write at most 30 lower-case letters, digits and hyphens, such as nightly",
        )
    return name


def write_work_list(path: Path, work: WorkList) -> None:
    """Write a work list atomically.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        replace_file(path, msgspec.json.format(work.to_bytes(), indent=1) + b"\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", fix="choose another file with --out") from error


def read_work_list(path: Path) -> WorkList:
    """Read and check a work list.

    Raises:
        UsageError: there is none, or it is not one of this version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the work list {path}: {error.strerror}", fix=_AGAIN) from error
    try:
        document = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is not a work list: {error}", fix=_AGAIN) from error
    kit = document.get("kit", __version__) if isinstance(document, dict) else __version__
    if kit != __version__:
        raise UsageError(
            f"{path} is of scenario-kit {kit}; this is {__version__}", fix=f"use the same version, or {_AGAIN}"
        )
    try:
        work = WorkList.from_json(document)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path} is not a work list of this version: {error}", fix=_AGAIN) from error
    if mistake := _find_mistake(work):
        raise UsageError(f"{path} is not a work list: {mistake}", fix=_AGAIN)
    work.parse_plan()
    return work


def _find_mistake(work: WorkList) -> str:
    """Describe the first inconsistency of a well-formed list; empty if there is none."""
    if work.schema_version != WORK_VERSION:
        return f"its format is version {work.schema_version}, expected {WORK_VERSION}"
    if not _NAME.fullmatch(work.name):
        return f"its name is '{work.name}'"
    repeated = [name for name, times in Counter(item.scenario for item in work.items).items() if times > 1]
    if repeated:
        return f"it has the scenario {repeated[0]} more than once"
    for item in work.items:
        if "/" in item.scenario or item.scenario in ("", ".", ".."):  # names a folder of reports
            return f"a scenario of it is named '{item.scenario}'"
        place = PurePosixPath(item.place)
        if place.is_absolute() or ".." in place.parts:
            return f"the place of {item.scenario} is outside of its root: {item.place}"
        if not 0 <= item.shard < work.shards:
            return f"{item.scenario} is in shard {item.shard} of {work.shards}"
        if not -1 <= item.root < len(work.roots):
            return f"{item.scenario} belongs to root {item.root} of {len(work.roots)}"
    return ""
