"""Render apps into Kubernetes objects.

``templates/apps/<app>/<version>/manifests.yaml.j2`` is rendered as text and parsed as YAML documents; it may include
other files of ``templates/apps/<app>``. Its variables are

* ``app``: name, version, entry and conventional namespace; ``namespace``: the real one; ``namespaces``: the app's
  additional namespaces, symbolic name to real name;
* ``options``: every option of the app, defaults filled in; ``load.users``;
* ``data``: the contents of the ``data.yaml`` next to the template;
* ``enabled(entry)``: whether the options match ``entry.when``.

Namespaces are set here, not in the templates; ``metadata.namespace`` may be a symbolic name.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml
from jinja2 import TemplateSyntaxError, UndefinedError

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.errors import AuthoringError
from scenario_kit.load.disk_cache import cache_bytes
from scenario_kit.load.schema.schemas import find_violations
from scenario_kit.load.yaml.manifests import parse_manifests
from scenario_kit.load.yaml.nodes import BoundedLoader
from scenario_kit.load.yaml.syntax_errors import ParseError, find_cause
from scenario_kit.model import App, FaultType, Finding, Object, Position, Severity
from scenario_kit.model.authored.scenario import DEFAULT_USERS
from scenario_kit.model.kubernetes.reference import resolve_namespace
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render.apps.placement import UNUSABLE, place_objects
from scenario_kit.render.templating.authoring_error import build_error, join_errors
from scenario_kit.render.templating.folder import Folder
from scenario_kit.render.templating.render_budget import meter_rendering, weigh
from scenario_kit.render.templating.sandbox import FAILURES, Sandbox, create_sandbox

#: How text that is meant for another template engine passes through this one.
_RAW: Final = (
    "correct the template; text with `{{`, `{%` or `{#` that is not meant for it, as in rules and configuration files, "
    "goes between `{% raw %}` and `{% endraw %}`"
)


def resolve_options(app: App, chosen: Mapping[str, Any], profile: str = "") -> Object:
    """Return every option of the app: the schema's defaults, then those of the load profile, then the chosen ones.

    Raises:
        AuthoringError: an unknown load profile or option, or a value that the app's schema rejects.
    """
    if profile and profile not in app.loads:
        raise build_error(
            "SK104",
            f"{app.name} has no load profile '{profile}'",
            expected=" | ".join(app.loads),
            fix=did_you_mean(profile, app.loads),
        )
    properties = app.options.get("properties", {})
    options = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    options |= (app.loads[profile].options if profile else {}) | dict(chosen)
    if problem := join_errors(_find_violations(app, options)):
        raise problem
    return options


def select_options(app: App, fault_type: FaultType) -> Object:
    """Select the option values that a fault requests, skipping those that the app does not support."""
    properties = app.options.get("properties", {})
    return {k: v for k, v in fault_type.app_options.items() if k in properties and not _find_violations(app, {k: v})}


def list_needs(app: App, options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Map ``<option>: <value>`` to the capabilities that this value requires (``x-requires`` in the options schema)."""
    properties, found = app.options.get("properties", {}), {}
    for name, value in options.items():
        declared = (properties.get(name) or {}).get("x-requires") or {}
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if needs := [need for v, group in declared.items() if str(v).lower() == text.lower() for need in group]:
            found[f"{name}: {text}"] = tuple(needs)
    return found


def _find_violations(app: App, options: Object) -> list[AuthoringError]:
    properties = app.options.get("properties", {})
    if not app.options or all(_is_trivially_valid(properties.get(k, {}), v) for k, v in options.items()):
        return []
    found = []
    for name in options:
        if name not in properties:
            found.append(build_error("SK102", f"{app.name} has no option '{name}'", fix=did_you_mean(name, properties)))
    known = {k: v for k, v in options.items() if k in properties}
    for place, message, _ in find_violations(known, app.options):
        found.append(build_error("SK104", f"option '{'.'.join(map(str, place))}' of {app.name}: {message}"))
    return found


def _is_trivially_valid(schema: Object, value: Any) -> bool:
    """Return whether the value is valid without a schema validator, whose import takes longer than rendering."""
    if type(value) is type(schema.get("default")) and value == schema["default"]:
        return True
    return (schema.get("type") == "boolean" and isinstance(value, bool)) or value in schema.get("enum", ())


def render_app(
    app: App, options: Mapping[str, Any], users: int, namespace: str, *, templates: Path | None = None
) -> tuple[Object, ...]:
    """Render all objects of the app, in creation order.

    Args:
        app: the app in one version.
        options: the chosen options; defaults apply to the others.
        users: number of simulated users.
        namespace: the real namespace.
        templates: the folder of the app's templates; defaults to the installed one.

    Raises:
        AuthoringError: an unknown option, or templates that do not produce objects.
    """
    return place_objects(app, render_manifests(app, options, users, namespace, templates=templates), namespace)


def render_catalog_app(
    app: App, catalog: Catalog, options: Mapping[str, Any] | None = None, users: int = DEFAULT_USERS
) -> tuple[Object, ...]:
    """Render the objects of an app outside of a trial, in the namespace that its definition names.

    Args:
        app: the app in one version.
        catalog: has its templates.
        options: the chosen options; defaults apply to the others.
        users: number of simulated users.

    Raises:
        AuthoringError: an unknown option, or templates that do not produce objects.
    """
    return render_app(app, options or {}, users, app.namespace, templates=catalog.templates(app.name))


def render_manifests(
    app: App, options: Mapping[str, Any], users: int, namespace: str, *, templates: Path | None = None
) -> list[Any]:
    """Render the documents of the app's manifests, which need not be objects; see ``render_app``.

    Raises:
        AuthoringError: an unknown option, or templates that do not produce YAML.
    """
    folder = templates or find_data_root() / "templates" / "apps" / app.name
    known = {"name": app.name, "version": app.version, "entry": app.entry, "namespace": app.namespace}
    variables = {
        "app": known,
        "namespace": namespace,
        "namespaces": {symbol: resolve_namespace(namespace, symbol) for symbol in app.namespaces},
        "options": resolve_options(app, options),
        "load": {"users": users},
    }
    # Decoded for each caller: objects are mutable dicts and must not be shared.
    documents: list[Any] = msgspec.json.decode(
        _render_documents(folder, app.version, json.dumps(variables, sort_keys=True))
    )
    return documents


@lru_cache(maxsize=32)
def _render_documents(folder: Path, version: str, variables: str) -> bytes:
    """Render the templates into a JSON list of documents, cached: linting a catalogue renders the same app often."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return cache_bytes("objects", files, (version, variables), lambda: _render_templates(folder, version, variables))


def _render_templates(folder: Path, version: str, variables: str) -> bytes:
    known = json.loads(variables)
    options, data, text = known["options"], f"{version}/data.yaml", ""
    try:
        with meter_rendering():
            environment = _build_environment(folder)
            text = environment.get_template(f"{version}/manifests.yaml.j2").render(
                known,
                data=_load_data(Folder(folder).text(data)) if (folder / data).is_file() else {},
                enabled=lambda entry: all(options.get(k) == v for k, v in entry.get("when", {}).items()),
            )
        with meter_rendering():  # aliases may have expanded it
            return msgspec.json.encode(weigh(parse_manifests(text)))
    except yaml.YAMLError as error:
        raise _explain_yaml(error, folder, version, text) from error
    except (*FAILURES, OSError) as error:
        raise _explain_template(error, folder, version) from error


def _explain_template(error: Exception, folder: Path, version: str) -> AuthoringError:
    """Explain why a template cannot be rendered, at its line."""
    places = [(getattr(error, "filename", None), getattr(error, "lineno", None))]
    places += [(frame.filename, frame.lineno) for frame in reversed(traceback.extract_tb(error.__traceback__))]
    inside = [(Path(file), line) for file, line in places if file and line and Path(file).is_relative_to(folder)]
    where = "".join(f"{path.relative_to(folder)}:{line}: " for path, line in inside[:1])
    at = Position(path=str(inside[0][0]), line=inside[0][1], column=1) if inside else None
    foreign = isinstance(error, TemplateSyntaxError) or (isinstance(error, UndefinedError) and inside)
    return _build_unusable(
        folder, version, f"{where}{type(error).__name__}: {error}", at, fix=_RAW if foreign else "correct the template"
    )


def _explain_yaml(error: yaml.YAMLError, folder: Path, version: str, text: str) -> AuthoringError:
    """Explain why rendered text is not YAML, at its line, and at that of the template which has the same text."""
    marked = isinstance(error, yaml.MarkedYAMLError) and (error.problem_mark or error.context_mark)
    if not isinstance(error, yaml.MarkedYAMLError) or not marked:
        return _build_unusable(folder, version, f"not YAML: {error}", None, fix="correct the template")
    since = (error.context_mark.line, error.context_mark.column) if error.context_mark else None
    parsed = ParseError(str(error.problem), (marked.line, marked.column), str(error.context or ""), since)
    cause = find_cause(text, parsed)
    line = (text.split("\n")[cause.at[0] : cause.at[0] + 1] or [""])[0]
    where = f"line {cause.at[0] + 1} of the output, `{line.strip():.120}`: "
    at = _find_line(folder, version, line, cause.at[0])
    return _build_unusable(folder, version, f"{where}{cause.message}", at, fix=cause.fix)


def _find_line(folder: Path, version: str, line: str, number: int) -> Position | None:
    """Find the only line of the version's templates, or else of shared ones, that has this text.

    Where several have it, the one of that number is meant, as in manifests without expressions.
    """
    files = sorted((folder / version).rglob("*.j2")), sorted(folder.glob("*.j2"))
    for group in files if line.strip() else ():
        lines = [(path, i, each) for path in group for i, each in enumerate(path.read_text().split("\n"))]
        found = [(path, i) for path, i, each in lines if each == line]
        if len(found) > 1:
            found = [each for each in found if each[1] == number]
        if len(found) == 1:
            path, i = found[0]
            return Position(path=str(path), line=i + 1, column=len(line) - len(line.lstrip()) + 1)
    return None


def _build_unusable(folder: Path, version: str, cause: str, at: Position | None, fix: str) -> AuthoringError:
    message = f"the templates in {folder} do not produce objects for version {version}: {cause}"
    finding = Finding(code=UNUSABLE, severity=Severity.ERROR, message=message, position=at, fix=fix)
    return AuthoringError(message, [finding], fix=fix)


@lru_cache(maxsize=8)
def _build_environment(folder: Path) -> Sandbox:
    return create_sandbox(Folder(folder))


@lru_cache(maxsize=8)
def _load_data(text: str) -> Any:
    return weigh(yaml.load(text, Loader=BoundedLoader))
