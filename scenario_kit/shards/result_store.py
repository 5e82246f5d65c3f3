"""Stores of results: ConfigMaps of a cluster, or files of a folder (a volume, a bucket, artefacts of a CI job)."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from scenario_kit.errors import InfrastructureError
from scenario_kit.load.atomic_file import replace_file
from scenario_kit.model import Reference
from scenario_kit.ports import Cluster
from scenario_kit.shards.results import (
    StoredResult,
    UnreadableResult,
    build_config_map,
    derive_result_name,
    parse_config_map,
    parse_result,
)

_SUMMARY: Final = ".json"
_REPORT: Final = ".report.json.gz"


class ResultStore(Protocol):
    """Keeps one result per work list and scenario."""

    def read(self, work: str, scenario: str) -> StoredResult | None:
        """Return the result of a scenario, None if there is none.

        Raises:
            UnreadableResult: it is damaged, or of another version.
            InfrastructureError: the store does not answer.
        """

    def write(self, stored: StoredResult) -> None:
        """Write a result, in place of an earlier one of the same scenario.

        Raises:
            InfrastructureError: the store does not accept it.
        """


def find_result(store: ResultStore, work: str, scenario: str) -> StoredResult | UnreadableResult | None:
    """Return the result of a scenario, or why it cannot be read; None if there is none.

    Raises:
        InfrastructureError: the store does not answer.
    """
    try:
        return store.read(work, scenario)
    except UnreadableResult as error:
        return error


class ConfigMapStore:
    """Results as ConfigMaps of a namespace; it needs to get, create and patch them."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace

    def read(self, work: str, scenario: str) -> StoredResult | None:
        """See ``ResultStore``."""
        ref = Reference("ConfigMap", derive_result_name(work, scenario), self._namespace)
        found = self._cluster.get(ref)
        return parse_config_map(found) if found is not None else None

    def write(self, stored: StoredResult) -> None:
        """See ``ResultStore``."""
        self._cluster.apply(build_config_map(stored, self._namespace))


class FolderStore:
    """Results as files of a folder, two per scenario; each is replaced atomically, the summary last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, work: str, scenario: str) -> StoredResult | None:
        """See ``ResultStore``."""
        name = derive_result_name(work, scenario)
        try:
            summary = (self._folder / f"{name}{_SUMMARY}").read_bytes()
            report = self._folder / f"{name}{_REPORT}"
            return StoredResult(parse_result(summary), report.read_bytes() if report.is_file() else b"")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _build_error("read", self._folder, error) from error

    def write(self, stored: StoredResult) -> None:
        """See ``ResultStore``."""
        name = derive_result_name(stored.result.work, stored.result.scenario)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            report = self._folder / f"{name}{_REPORT}"
            if stored.packed:
                replace_file(report, stored.packed)
            else:
                report.unlink(missing_ok=True)
            replace_file(self._folder / f"{name}{_SUMMARY}", stored.result.to_bytes())
        except OSError as error:
            raise _build_error("write", self._folder, error) from error


def _build_error(verb: str, folder: Path, problem: OSError) -> InfrastructureError:
    return InfrastructureError(
        f"cannot {verb} results in {folder}: {problem.strerror}", fix="free space, or choose another folder"
    )
