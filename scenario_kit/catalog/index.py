"""Access to the entries of several roots.

A *root* is a folder with ``catalog/`` and ``templates/``: this repository, the data of the installed package, or a
collection, named by ``SCENARIO_KIT_CATALOG`` or containing the working directory. Earlier roots take precedence.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from scenario_kit.catalog.alerts import build_prometheus_groups, parse_rules
from scenario_kit.catalog.collection import requires_merge
from scenario_kit.catalog.image_lock import read_locks
from scenario_kit.catalog.loader import (
    UnknownEntry,
    convert_value,
    find_collections,
    find_data_root,
    list_folders,
    read_mapping,
)
from scenario_kit.catalog.matrix import FILE as MATRIX
from scenario_kit.catalog.matrix import read_rows, select_current
from scenario_kit.errors import AuthoringError
from scenario_kit.load import Mistaken, load_app, load_fault, load_pack
from scenario_kit.load.disk_cache import cache_json
from scenario_kit.load.overlay import select_version
from scenario_kit.load.twin import load_twin
from scenario_kit.model import AlertRule, App, FaultType, Object
from scenario_kit.model.base import convert
from scenario_kit.model.results.matrix import MatrixRow

_T = TypeVar("_T")


class Catalog:
    """Read access to all entries of several roots, with caching.

    ``merging`` requires scenarios to be complete because they are about to be merged.
    """

    def __init__(self, roots: Sequence[Path] | None = None, *, merging: bool = False) -> None:
        self.roots = tuple(roots) if roots is not None else find_collections()
        self.merging = merging
        self._kept: dict[tuple[str, ...], Any] = {}
        self._held: Mapping[str, FaultType] = {}

    def apps(self) -> tuple[str, ...]:
        """Return the names of the apps."""
        return self._names("apps", "app.yaml")

    def versions(self, app: str) -> tuple[str, ...]:
        """Return the versions of an app, in the order of its definition."""
        return tuple(self._app_document(app).get("versions", {}))

    def app(self, name: str, version: str) -> App:
        """Return one version of an app, with the twin from ``twin.yaml`` if it exists.

        Raises:
            UnknownEntry: no such app or version.
            AuthoringError: its definition is invalid.
        """
        return self._keep(("app", name, version), lambda: self._read_app(name, version))

    def app_path(self, name: str) -> Path:
        """Return the path of an app's definition.

        Raises:
            UnknownEntry: no such app.
        """
        path = self._find(f"catalog/apps/{name}/app.yaml", Path.is_file)
        if path is None:
            raise UnknownEntry("app", name, self.apps())
        return path

    def templates(self, app: str) -> Path:
        """Return the folder with the templates of an app.

        Raises:
            UnknownEntry: no root has templates for it.
        """
        folder = self._find(f"templates/apps/{app}", Path.is_dir)
        if folder is None:
            raise UnknownEntry("app with templates", app, self.apps())
        return folder

    def matrix(self, app: App, fault: str = "") -> tuple[MatrixRow, ...]:
        """Return the measured results of each current fault type on each target of the app.

        With ``fault``, only rows of that type are returned, and other definitions are not read.

        Raises:
            AuthoringError: a line of the app's matrix is invalid.
        """
        return self._keep(("matrix", app.name, app.version, fault), lambda: self._list_tried(app, fault))

    def faults(self) -> tuple[str, ...]:
        """Return the names of the fault types."""
        return self._names("faults", "fault.yaml")

    def fault(self, type: str, beside: Path | None = None) -> FaultType:
        """Return a fault type; ``beside`` is a scenario's file or folder, whose ``faults/`` is searched first.

        Raises:
            UnknownEntry: no such fault type.
            AuthoringError: its definition is invalid.
        """
        if type in self._held:
            return self._held[type]
        path = self.fault_path(type, beside)
        return self._keep(
            ("fault", str(path)), lambda: convert_value(_check_document(path, _load_fault), FaultType, path, type)
        )

    def fault_path(self, type: str, beside: Path | None = None) -> Path:
        """Return the path of a fault type's definition; see ``fault``.

        A fault type that the scenario itself holds has the path that it would have beside the scenario.
        """
        own = [] if beside is None else [(beside if beside.is_dir() else beside.parent) / "faults"]
        if type in self._held:
            return (own[0] if own else Path("faults")) / type / "fault.yaml"
        beside_it = next((file for f in own if (file := f / type / "fault.yaml").is_file()), None)
        path = beside_it or self._find(f"catalog/faults/{type}/fault.yaml", Path.is_file)
        if path is None:
            known = {*self.faults(), *(n for f in own for n in list_folders(f, "fault.yaml"))}
            raise UnknownEntry("fault type", type, known)
        return path

    def scenarios(self) -> tuple[Path, ...]:
        """Return the files of the scenarios, by name."""
        found = {
            p.parent.name: p for root in reversed(self.roots) for p in root.glob("catalog/scenarios/*/scenario.yaml")
        }
        return tuple(found[name] for name in sorted(found))

    def demands_merged(self, path: Path) -> bool:
        """Return whether a scenario at this path must be complete.

        Raises:
            UsageError: the file of its collection is invalid.
        """
        return self.merging or requires_merge(path)

    def behind(self, root: Path) -> Catalog:
        """Return this catalogue with another root in front."""
        return Catalog((root, *self.roots), merging=self.merging)

    def extend(self, documents: Sequence[Object]) -> Catalog:
        """Return this catalogue with the fault types that a scenario holds itself, before its own.

        A type that is the same here is no other one: it stays this catalogue's.

        Raises:
            msgspec.ValidationError: one of the documents is no fault type; loaders refuse such a scenario.
        """
        held = {each["name"]: convert(each, FaultType) for each in documents}
        held = {name: each for name, each in held.items() if each != self._find_fault(name)}
        if not held:
            return self
        extended = copy.copy(self)  # what was read is shared: nothing of it comes from these types
        extended._held = {**self._held, **held}
        return extended

    def _find_fault(self, type: str) -> FaultType | None:
        try:
            return self.fault(type)
        except AuthoringError:  # unknown here, or not usable: then the scenario's counts
            return None

    def alert_packs(self) -> tuple[str, ...]:
        """Return the names of the alert packs."""
        return self._keep(
            ("names", "alerts"),
            lambda: tuple(sorted({p.stem for root in self.roots for p in root.glob("catalog/alerts/*.yaml")})),
        )

    def alert_pack(self, name: str) -> tuple[AlertRule, ...]:
        """Return the rules of a pack.

        Raises:
            UnknownEntry: no such pack.
            AuthoringError: a rule is incomplete, or its expression is invalid PromQL.
        """
        return self._keep(("pack", name), lambda: self._rules(name))

    def alert_pack_path(self, name: str) -> Path:
        """Return the path of a pack.

        Raises:
            UnknownEntry: no such pack.
        """
        path = self._find(f"catalog/alerts/{name}.yaml", Path.is_file)
        if path is None:
            raise UnknownEntry("alert pack", name, self.alert_packs())
        return path

    def packs_with(self, chosen: Sequence[str], pack: str) -> tuple[str, ...]:
        """Return the chosen packs and this one, without chosen packs that define the same alerts (SK313).

        Raises:
            UnknownEntry: no such pack.
            AuthoringError: a rule is invalid.
        """
        names = {rule.name for rule in self.alert_pack(pack)}
        apart = [c for c in chosen if c != pack and names.isdisjoint(rule.name for rule in self.alert_pack(c))]
        return (*apart, pack)

    def prometheus_rules(self, *packs: str) -> Object:
        """Return the packs as one Prometheus rule file, without our own fields.

        Raises:
            UnknownEntry: no such pack.
        """
        documents = {pack: self._pack_document(pack)[1] for pack in packs}
        return {"groups": [g for pack, found in documents.items() for g in build_prometheus_groups(found, f"{pack}-")]}

    def _find(self, place: str, exists: Callable[[Path], bool]) -> Path | None:
        """Return the path of an entry in the first root that has it; it is looked up once, as it is read once."""
        key = ("path", place)
        if key not in self._kept:
            found = next((path for root in self.roots if exists(path := root / place)), None)
            if found is None:
                return None  # as long as it is missing, it may still be written
            self._kept[key] = found
        kept: Path = self._kept[key]
        return kept

    def _names(self, family: str, file: str) -> tuple[str, ...]:
        return self._keep(
            ("names", family, file),
            lambda: tuple(sorted({n for root in self.roots for n in list_folders(root / "catalog" / family, file)})),
        )

    def _app_document(self, name: str) -> Object:
        return self._document(self.app_path(name))

    def _document(self, path: Path) -> Object:
        check = load_app if path.name == "app.yaml" else load_pack if path.parent.name == "alerts" else read_mapping
        return self._keep(("document", str(path)), lambda: _check_document(path, check))

    def _read_app(self, name: str, version: str) -> App:
        path = self.app_path(name)
        versions = self.versions(name)
        if version not in versions:
            raise UnknownEntry(f"version of {name}", version, versions)
        document = select_version(self._app_document(name), version)
        document["locks"] = read_locks(path)
        document["images"] = [*document.get("images", ()), *(f"{i}@{d}" for i, d in document["locks"].items())]
        twin = path.with_name("twin.yaml")
        if document.get("twin") == "none":
            document["twin"] = None
        elif twin.is_file():
            document["twin"] = load_twin(twin, self._document(twin), name, version)
        return convert_value({**document, "version": version}, App, path, name)

    def _list_tried(self, app: App, fault: str) -> tuple[MatrixRow, ...]:
        found = read_rows(self.app_path(app.name).with_name(MATRIX))
        known = ({fault} if fault else {row.fault for row in found}) & set(self.faults())
        return select_current(found, app.version, {name: self.fault(name).version for name in known})

    def _rules(self, pack: str) -> tuple[AlertRule, ...]:
        path, document = self._pack_document(pack)
        found = cache_json(
            "rules", [path], [pack], lambda: [rule.to_json() for rule in parse_rules(pack, path, document)]
        )
        return tuple(AlertRule.from_json(rule) for rule in found)

    def _pack_document(self, name: str) -> tuple[Path, Object]:
        path = self.alert_pack_path(name)
        return path, self._document(path)

    def _keep(self, key: tuple[str, ...], make: Callable[[], _T]) -> _T:
        if key not in self._kept:
            self._kept[key] = make()
        kept: _T = self._kept[key]
        return kept


def _check_document(path: Path, check: Callable[[Path], Object]) -> Object:
    """Return the document of a definition, validated by schema unless it is shipped, which tests cover."""
    shipped = path.is_relative_to(find_data_root())
    try:
        document: Object = cache_json(
            "yaml", [path], [str(shipped)], lambda: (read_mapping if shipped else check)(path)
        )
    except Mistaken as error:  # its message only counts the findings
        first = error.findings[0]
        raise AuthoringError(f"{first.position}: {first.message}", error.findings) from error
    return document


def _load_fault(path: Path) -> Object:
    return load_fault(path).fault.to_json()
