"""Find the files to lint, classify them, and build their contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.collection import find_collection
from scenario_kit.catalog.pack_tests import TESTS
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.lint.context.build_context import build_context
from scenario_kit.lint.context.catalog_context import SCENARIO, USE, AppCase, AppVersion, FaultCase, PackCase, Rendering
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.load import load_scenario, parse_app, parse_fault, parse_pack, read_scenario, suggest_path
from scenario_kit.load.folders import list_below
from scenario_kit.load.yaml.document import Document, parse, read_document
from scenario_kit.model import App, FaultType, Object
from scenario_kit.model.authored.scenario import DEFAULT_USERS, FaultUse
from scenario_kit.render import render_catalog_app, render_fault, resolve_options
from scenario_kit.render.apps.app import render_manifests
from scenario_kit.render.apps.namespaces import locate_components
from scenario_kit.render.faults.applicability import fits, list_targets
from scenario_kit.render.faults.first_offer import render_objects_for

AnyCase = LintContext | FaultCase | AppCase | PackCase
#: Kinds by file name.
_NAMED: Final = {"scenario.yaml": "Scenario", "fault.yaml": "Fault", "app.yaml": "App"}
#: The definition of an app's twin; it is checked with the app.
TWIN: Final = "twin.yaml"
#: Maximum number of targets to try before a fault is reported not to fit an app.
_MAX_TARGETS: Final = 60


def classify_file(path: Path) -> str:
    """Classify a file as Scenario, Fault, App or Pack; unknown names are scenarios."""
    if path.name not in _NAMED and path.suffix == ".yaml" and path.absolute().parent.name == "alerts":
        return "Pack"
    return _NAMED.get(path.name, "Scenario")


def list_lintable(paths: Sequence[Path]) -> list[Path]:
    """List the files that paths denote: a file itself, and all scenarios, faults, apps and alert packs in a folder.

    Raises:
        UsageError: a path does not exist, or a folder contains nothing to lint.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no {path}", fix=suggest_path(path) or "name a file or a folder")
        files = _list_below(path) if path.is_dir() else [_locate_judged(path)]
        if not files:
            raise UsageError(
                f"{path} contains no scenario.yaml, fault.yaml, app.yaml or alert pack",
                fix="name a folder that does, or a file",
            )
        found |= dict.fromkeys(files)
    return list(found)


def _locate_judged(path: Path) -> Path:
    """Return the file to check instead of a given one: the pack of a test file, the app of a twin."""
    pack, app = path.parent.parent / path.name, path.with_name("app.yaml")
    tests = path.absolute().parent
    if (tests.name, tests.parent.name) == (TESTS, "alerts") and pack.is_file():
        return pack
    return app if path.name == TWIN and app.is_file() else path


def list_with_faults(path: Path) -> list[Path]:
    """List a scenario file and those of the fault types beside it, which are checked with it."""
    return [path, *sorted(path.parent.glob("faults/*/fault.yaml"))]


def _list_below(folder: Path) -> list[Path]:
    def desired(parent: str, name: str) -> bool:
        if name in _NAMED or not name.endswith(".yaml"):
            return name in _NAMED
        *_, above, own = ("", "", *Path(parent).parts)
        return own == "alerts" and (above == "catalog" or Path(parent) == folder)

    return list_below(folder, desired, "scenario.yaml")


def add_own_root(path: Path, catalog: Catalog) -> Catalog:
    """Return the catalogue with the file's own collection first, where its app finds its templates."""
    root = find_collection(path.parent)
    if root is None or root in [known.absolute() for known in catalog.roots]:
        return catalog
    return catalog.behind(root)


def open_case(path: Path, catalog: Catalog, text: str | None = None) -> AnyCase:
    """Build the context of a file, or of ``text`` as if the file contained it.

    Raises:
        UsageError: there is no such file.
        AuthoringError: the file is invalid; with all mistakes as findings.
    """
    kind, catalog = classify_file(path), add_own_root(path, catalog)
    if kind == "Scenario":
        return build_context(path, load_scenario(path) if text is None else read_scenario(text, str(path)), catalog)
    document = read_document(path) if text is None else parse(text, str(path))
    makers: dict[str, Callable[[Path, Document, Catalog], AnyCase]] = {
        "Fault": _open_fault,
        "App": _open_app,
        "Pack": _open_pack,
    }
    return makers[kind](path, document, catalog)


def _open_fault(path: Path, document: Document, catalog: Catalog) -> FaultCase:
    fault_type = parse_fault(document).fault
    uses = tuple(_render_uses(path, fault_type, catalog))
    apps = tuple(dict.fromkeys(use.app.name for use in uses)) or catalog.apps()  # a scenario's own fault fits its app
    renderings = (*_render_defaults(fault_type, catalog, apps), *uses)
    return FaultCase(path, fault_type, document.data, document.positions, catalog, renderings)


def list_held_types(case: LintContext) -> Iterator[FaultCase]:
    """List the fault types that a scenario holds and the catalogue does not, judged as files beside it would be."""
    for document, positions in zip(case.scenario.spec.fault_types, case.held, strict=True):
        if not case.has_own_fault_type(document["name"]):
            continue
        fault_type = case.catalog.fault(document["name"])
        path = case.path.parent / "faults" / fault_type.name / "fault.yaml"
        uses = [use for use in case.scenario.spec.faults if use.type == fault_type.name]
        app, objects = case.app, case.objects
        defaults = _render_defaults(fault_type, case.catalog, (app.name,) if app and uses else case.catalog.apps())
        rendered = (
            [] if app is None or objects is None else [_render_fault(fault_type, use, app, objects) for use in uses]
        )
        yield FaultCase(path, fault_type, document, positions, case.catalog, (*defaults, *rendered))


def _render_defaults(fault_type: FaultType, catalog: Catalog, apps: Sequence[str]) -> Iterator[Rendering]:
    """Render for the first target of each app where the fault takes effect; failing that, yield the first error."""
    for name in apps:
        try:
            app = catalog.app(name, catalog.versions(name)[0])
            if not fits(fault_type, app):
                continue
            objects = render_objects_for(fault_type, app, catalog)
        except AuthoringError:
            continue  # the app has findings of its own
        refused = None
        for target in list_targets(fault_type, app, objects)[:_MAX_TARGETS]:
            rendering = _render_fault(fault_type, FaultUse(name=USE, type=fault_type.name, target=target), app, objects)
            if rendering.fault is not None:
                yield rendering
                break
            refused = refused or rendering
        else:
            if refused is not None:
                yield refused


def _render_uses(path: Path, fault_type: FaultType, catalog: Catalog) -> Iterator[Rendering]:
    """Yield the fault as used by the scenario beside it."""
    beside = path.resolve().parent.parent.parent / "scenario.yaml"
    if not beside.is_file():
        return
    try:
        spec = load_scenario(beside).scenario.spec
        app = catalog.app(spec.app.name, spec.app.version)
        options = resolve_options(app, spec.app.options, spec.app.load.profile)
        objects = render_catalog_app(app, catalog, options, spec.app.load.users)
        app = locate_components(app, objects, app.namespace)
    except AuthoringError:
        return  # the scenario has findings of its own
    for use in spec.faults:
        if use.type == fault_type.name:
            yield _render_fault(fault_type, use, app, objects)


def _render_fault(fault_type: FaultType, use: FaultUse, app: App, objects: tuple[Object, ...]) -> Rendering:
    try:
        made = render_fault(fault_type, use, app, objects, app.namespace, SCENARIO)
        return Rendering(app, objects, use, made)
    except AuthoringError as error:
        return Rendering(app, objects, use, None, error)


def _open_app(path: Path, document: Document, catalog: Catalog) -> AppCase:
    data = parse_app(document)
    name = path.resolve().parent.name
    return AppCase(path, name, data, document.positions, catalog, tuple(_list_versions(name, catalog)))


def _list_versions(name: str, catalog: Catalog) -> Iterator[AppVersion]:
    """Yield each version with the defaults, and with every other value of each option, one at a time."""
    if name not in catalog.apps():
        return
    for number in catalog.versions(name):
        try:
            app = catalog.app(name, number)
        except AuthoringError:
            continue
        for chosen in list_choices(app):
            try:
                objects = render_catalog_app(app, catalog, chosen)
                yield AppVersion(locate_components(app, objects, app.namespace), objects, chosen)
            except AuthoringError as error:
                yield AppVersion(app, (), chosen, error, tuple(_list_documents(app, chosen, catalog)))


def _list_documents(app: App, chosen: Object, catalog: Catalog) -> list[Any]:
    """List the documents of manifests that are not the objects of an app; none if they are no YAML either."""
    try:
        return render_manifests(app, chosen, DEFAULT_USERS, app.namespace, templates=catalog.templates(app.name))
    except AuthoringError:
        return []


def list_choices(app: App) -> Iterator[Object]:
    """Yield options to render an app with: the defaults, then every other value of each option, one at a time."""
    yield {}
    for option, schema in app.options.get("properties", {}).items():
        values = [False, True] if schema.get("type") == "boolean" else schema.get("enum", ())
        yield from ({option: value} for value in values if value != schema.get("default"))


def _open_pack(path: Path, document: Document, catalog: Catalog) -> PackCase:
    return PackCase(path, path.stem, parse_pack(document), document.positions, catalog)
