"""Which files are linted, what kind each is, and the case that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.collection import enclosing
from scenario_kit.catalog.pack_tests import TESTS
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.lint.build_context import gather
from scenario_kit.lint.catalog_context import SCENARIO, USE, AppCase, AppVersion, FaultCase, PackCase, Rendering
from scenario_kit.lint.lint_context import LintContext
from scenario_kit.load import app_in, fault_in, load_scenario, nearby, pack_in, read_scenario
from scenario_kit.load.document import Document, parse, read_document
from scenario_kit.load.folders import below
from scenario_kit.model import App, FaultType, Object
from scenario_kit.model.scenario import FaultUse
from scenario_kit.render import app_objects, fault, options_of
from scenario_kit.render.applicability import fits, targets
from scenario_kit.render.golden import objects_for
from scenario_kit.render.namespaces import located

AnyCase = LintContext | FaultCase | AppCase | PackCase
#: Files that say by their name what they hold.
_NAMED: Final = {"scenario.yaml": "Scenario", "fault.yaml": "Fault", "app.yaml": "App"}
#: Targets that are tried before a fault is said to fit nowhere in an app.
_TRIED: Final = 60


def kind_of(path: Path) -> str:
    """Scenario, Fault, App or Pack; a file of another name is a scenario."""
    if path.name not in _NAMED and path.suffix == ".yaml" and path.absolute().parent.name == "alerts":
        return "Pack"
    return _NAMED.get(path.name, "Scenario")


def lintable(paths: Sequence[Path]) -> list[Path]:
    """The files that paths mean: a file itself, and every scenario, fault, app and alert pack below a folder.

    Raises:
        UsageError: a path does not exist, or a folder holds nothing that can be judged.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no {path}", fix=nearby(path) or "name a file, or a folder that holds some")
        files = _below(path) if path.is_dir() else [_tested(path)]
        if not files:
            raise UsageError(
                f"{path} holds no scenario.yaml, fault.yaml, app.yaml or alert pack",
                fix="name a folder that does, or a file",
            )
        found |= dict.fromkeys(files)
    return list(found)


def _tested(path: Path) -> Path:
    """The pack, where its tests are named: they are judged with it."""
    pack = path.parent.parent / path.name
    tests = path.absolute().parent
    return pack if (tests.name, tests.parent.name) == (TESTS, "alerts") and pack.is_file() else path


def with_its_faults(path: Path) -> list[Path]:
    """The file of a scenario, and those of the fault types beside it: whoever judges it judges these as well."""
    return [path, *sorted(path.parent.glob("faults/*/fault.yaml"))]


def _below(folder: Path) -> list[Path]:
    def wanted(parent: str, name: str) -> bool:
        if name in _NAMED or not name.endswith(".yaml"):
            return name in _NAMED
        *_, above, own = ("", "", *Path(parent).parts)
        return own == "alerts" and (above == "catalog" or Path(parent) == folder)

    return below(folder, wanted, "scenario.yaml")


def with_own_root(path: Path, catalog: Catalog) -> Catalog:
    """The catalogue, with the collection first in which the file lies: its app finds its templates there."""
    root = enclosing(path.parent)
    if root is None or root in [known.absolute() for known in catalog.roots]:
        return catalog
    return catalog.behind(root)


def opened(path: Path, catalog: Catalog, text: str | None = None) -> AnyCase:
    """The case of one file, or of ``text`` as if the file held it.

    Raises:
        UsageError: there is no such file.
        AuthoringError: with every mistake of form as a finding.
    """
    kind, catalog = kind_of(path), with_own_root(path, catalog)
    if kind == "Scenario":
        return gather(path, load_scenario(path) if text is None else read_scenario(text, str(path)), catalog)
    document = read_document(path) if text is None else parse(text, str(path))
    makers: dict[str, Callable[[Path, Document, Catalog], AnyCase]] = {"Fault": _fault, "App": _app, "Pack": _pack}
    return makers[kind](path, document, catalog)


def _fault(path: Path, document: Document, catalog: Catalog) -> FaultCase:
    fault_type = fault_in(document).fault
    uses = tuple(_uses(path, fault_type, catalog))
    apps = tuple(dict.fromkeys(use.app.name for use in uses)) or catalog.apps()  # beside a scenario it is for no other
    renderings = (*_defaults(fault_type, catalog, apps), *uses)
    return FaultCase(path, fault_type, document.data, document.positions, catalog, renderings)


def _defaults(fault_type: FaultType, catalog: Catalog, apps: Sequence[str]) -> Iterator[Rendering]:
    """For each of these apps the first target where the fault bites, else the first that says why it does not."""
    for name in apps:
        try:
            app = catalog.app(name, catalog.versions(name)[0])
            if not fits(fault_type, app):
                continue
            objects = objects_for(fault_type, app, catalog)
        except AuthoringError:
            continue  # what is wrong with an app is told of the app
        refused = None
        for target in targets(fault_type, app, objects)[:_TRIED]:
            rendering = _rendered(fault_type, FaultUse(name=USE, type=fault_type.name, target=target), app, objects)
            if rendering.fault is not None:
                yield rendering
                break
            refused = refused or rendering
        else:
            if refused is not None:
                yield refused


def _uses(path: Path, fault_type: FaultType, catalog: Catalog) -> Iterator[Rendering]:
    """As the scenario uses it beside which the fault lies."""
    beside = path.resolve().parent.parent.parent / "scenario.yaml"
    if not beside.is_file():
        return
    try:
        spec = load_scenario(beside).scenario.spec
        app = catalog.app(spec.app.name, spec.app.version)
        options = options_of(app, spec.app.options, spec.app.load.profile)
        objects = app_objects(app, options, spec.app.load.users, app.namespace, templates=catalog.templates(app.name))
        app = located(app, objects, app.namespace)
    except AuthoringError:
        return  # what is wrong with the scenario is told of the scenario
    for use in spec.faults:
        if use.type == fault_type.name:
            yield _rendered(fault_type, use, app, objects)


def _rendered(fault_type: FaultType, use: FaultUse, app: App, objects: tuple[Object, ...]) -> Rendering:
    try:
        made = fault(fault_type, use, app, objects, app.namespace, SCENARIO)
        return Rendering(app, objects, use, made)
    except AuthoringError as error:
        return Rendering(app, objects, use, None, error)


def _app(path: Path, document: Document, catalog: Catalog) -> AppCase:
    data = app_in(document)
    name = path.resolve().parent.name
    return AppCase(path, name, data, document.positions, catalog, tuple(_versions(name, catalog)))


def _versions(name: str, catalog: Catalog) -> Iterator[AppVersion]:
    """The defaults, and each other value that an option or a load profile can have, one at a time."""
    if name not in catalog.apps():
        return
    for number in catalog.versions(name):
        try:
            app = catalog.app(name, number)
        except AuthoringError:
            continue
        for chosen in _choices(app):
            try:
                objects = app_objects(app, chosen, 50, app.namespace, templates=catalog.templates(name))
                yield AppVersion(located(app, objects, app.namespace), objects, chosen)
            except AuthoringError as error:
                yield AppVersion(app, (), chosen, error)


def _choices(app: App) -> Iterator[Object]:
    yield {}
    for option, schema in app.options.get("properties", {}).items():
        values = [False, True] if schema.get("type") == "boolean" else schema.get("enum", ())
        yield from ({option: value} for value in values if value != schema.get("default"))


def _pack(path: Path, document: Document, catalog: Catalog) -> PackCase:
    return PackCase(path, path.stem, pack_in(document), document.positions, catalog)
