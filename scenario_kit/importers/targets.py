"""Find apps and components of the catalogue by the names that public material uses (targets.yaml)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from scenario_kit.catalog import Catalog
from scenario_kit.errors import UsageError
from scenario_kit.load.package_data import read_package_data
from scenario_kit.model import App, Component, Object
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.render import render_catalog_app

_DATA: Final[Mapping[str, Any]] = read_package_data(__file__)
_APPS: Final[Mapping[str, str]] = _DATA["apps"]
_ABSENT: Final = frozenset(_DATA["absent"])


class AppFinder:
    """Finds the app that an input refers to, and its components.

    Args:
        catalog: the catalogue with the apps.
        app: the app to use in any case; empty to detect it.
        version: its version; its first one if empty.
        target: the component of that app at which faults are aimed whose own target the app does not have.

    Raises:
        UsageError: the app, version or component does not exist.
    """

    def __init__(self, catalog: Catalog, app: str = "", version: str = "", target: str = "") -> None:
        self.catalog, self.app, self.version = catalog, app, version
        if app and app not in catalog.apps():
            raise UsageError(f"app '{app}' does not exist", fix=did_you_mean(app, catalog.apps()))
        if version and version not in (catalog.versions(app) if app else ()):
            fix = f"one of {', '.join(catalog.versions(app))}" if app else "name its app with --app"
            raise UsageError(f"version '{version}' of {app or 'any app'} does not exist", fix=fix)
        self.target = self._find_target(target) if target else None

    def _find_target(self, target: str) -> Component:
        if not self.app:
            raise UsageError(f"component '{target}' of no app", fix="name its app with --app")
        app = self.load_app(self.app)
        found = find_component(app, target.rpartition("/")[2])
        if found is None:
            names = [each.name for each in app.components]
            raise UsageError(f"{app.name} has no component '{target}'", fix=did_you_mean(target, names))
        return found

    def load_app(self, name: str) -> App:
        """Load an app in the chosen version, or its first one."""
        version = self.version if name == self.app and self.version else self.catalog.versions(name)[0]
        return self.catalog.app(name, version)

    def find_app(self, words: Iterable[str], names: Iterable[str] = ()) -> App | None:
        """Find the app by namespace or app name (``words``), or the first with one of the components ``names``."""
        if self.app:
            return self.load_app(self.app)
        known = [app for word in words if (app := find_app_name(word, self.catalog.apps()))]
        if known:
            return self.load_app(known[0])
        named = [name for name in names if name]
        apps = [self.load_app(name) for name in sorted(self.catalog.apps(), key=lambda each: each != "otel-demo")]
        return next((app for app in apps if any(find_component(app, name) for name in named)), None)

    def find_by_labels(self, app: App, labels: Mapping[str, str]) -> list[Component]:
        """Find the components whose pods have all these labels, or the one that a label's value names."""
        selected = [
            component
            for component in app.components
            if labels and labels.items() <= self._labels(app, component).items()
        ]
        if selected:
            return selected
        named = [c for key in _DATA["labels"] if key in labels and (c := find_component(app, labels[key])) is not None]
        return named[:1]

    def list_containers(self, app: App, component: Component) -> list[str]:
        """List the names of the containers of a component's pods."""
        template = self._templates(app).get(component.workload, {})
        return [container["name"] for container in template.get("spec", {}).get("containers", ())]

    def count_replicas(self, app: App, component: Component) -> int:
        """Return the component's default number of replicas."""
        return int(_read_workloads(self.catalog, app.name, app.version).get(component.workload, {}).get("replicas", 1))

    def _labels(self, app: App, component: Component) -> Mapping[str, str]:
        return self._templates(app).get(component.workload, {}).get("metadata", {}).get("labels") or {}

    def _templates(self, app: App) -> Mapping[str, Object]:
        return {name: spec["template"] for name, spec in _read_workloads(self.catalog, app.name, app.version).items()}


@cache
def _read_workloads(catalog: Catalog, name: str, version: str) -> Mapping[str, Object]:
    """Read the specs of an app's workloads, rendered without options."""
    app = catalog.app(name, version)
    objects = render_catalog_app(app, catalog)
    return {f"{o['kind']}/{o['metadata']['name']}": o["spec"] for o in objects if "template" in (o.get("spec") or {})}


def find_app_name(word: str, apps: Iterable[str]) -> str:
    """Find the app by one of its public names; empty if there is none."""
    found = _APPS.get(word, "" if word not in apps else word)
    return found if found in apps else ""


def is_absent_app(word: str) -> bool:
    """Return whether a word names a public app that the catalogue lacks."""
    return word in _ABSENT


def find_component(app: App, name: str) -> Component | None:
    """Find a component by its name, by that of its workload or Service, or by one that public material uses."""
    for candidate in _list_spellings(name):
        for component in app.components:
            own = (component.name, component.service, component.workload.partition("/")[2])
            if candidate in own:
                return component
        other = _DATA["components"].get(app.name, {}).get(candidate)
        if other is not None and (found := app.component(other)) is not None:
            return found
    return None


def _list_spellings(name: str) -> list[str]:
    """List a name without the prefixes and suffixes of public material, the longest first."""
    text = name.strip().lower().replace("_", "-")
    found = [text]
    for prefix in _DATA["prefixes"]:
        if text.startswith(prefix):
            found.append(text.removeprefix(prefix))
    for each in list(found):
        found += [each.removesuffix(end) for end in _DATA["suffixes"] if each.endswith(end) and each != end]
    return found


def read_pattern(pattern: str) -> str:
    """Read the workload name from a pattern of pod names such as ``^cart-.*$``; empty if it is ambiguous."""
    text = pattern.strip().removeprefix("^").removesuffix("$")
    text = re.sub(r"(-?(\.\*|\.\+|\[a-z0-9\][*+]|\*))+$|\\b$|\(-\.\*\)\?$", "", text)
    return text if re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", text) else ""


def parse_labels(text: str) -> dict[str, str]:
    """Parse the equality requirements of a label selector such as ``app=cart,tier=web``; others are ignored."""
    pairs = (part.replace("==", "=").partition("=") for part in text.split(",") if "=" in part and "!=" not in part)
    return {key.strip(): value.strip() for key, _, value in pairs}
