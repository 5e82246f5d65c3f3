"""Every different configuration that the catalogue's apps give their collector, as their manifests run it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.model import App, Object
from scenario_kit.render import render_app

#: Options that reach the collector: what it exports to, where the stores are, how it is deployed.
OPTIONS: Final[Mapping[str, tuple[Any, ...]]] = {
    "observability": (False, True),
    "separateStores": (False, True),
    "collector": ("Gateway", "Agent"),
}
_KINDS: Final = ("Deployment", "DaemonSet")
_CONFIG: Final = "--config="


@dataclass(frozen=True)
class CollectorConfiguration:
    """A configuration file, and the arguments that the container has besides it."""

    name: str
    app: App
    objects: tuple[Object, ...]
    text: str
    arguments: tuple[str, ...]

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(self.text)
        return found


def list_configurations(catalog: Catalog) -> list[CollectorConfiguration]:
    """List them: of each app and version those whose text or arguments differ."""
    found: dict[tuple[str, str, tuple[str, ...], str], CollectorConfiguration] = {}
    for name in catalog.apps():
        for version in catalog.versions(name):
            app = catalog.app(name, version)
            for options in _combine(app):
                objects = render_app(app, options, 50, "shop", templates=catalog.templates(name))
                for text, arguments in _find_collectors(objects):
                    spelled = "-".join(k for k, v in options.items() if v not in (False, "Gateway"))
                    title = "-".join(filter(None, (name, version, spelled)))
                    each = CollectorConfiguration(title, app, tuple(objects), text, arguments)
                    found.setdefault((name, version, arguments, text), each)
    return list(found.values())


def _combine(app: App) -> Iterator[dict[str, Any]]:
    """Combine the values of those options that the app has."""
    names = [name for name in OPTIONS if name in app.options["properties"]]
    for values in itertools.product(*(OPTIONS[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def _find_collectors(objects: list[Object] | tuple[Object, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Find what a container of an OpenTelemetry Collector reads: the file, and the other arguments."""
    configs = {o["metadata"]["name"]: o["data"] for o in objects if o["kind"] == "ConfigMap"}
    for obj in (o for o in objects if o["kind"] in _KINDS):
        pod = obj["spec"]["template"]["spec"]
        for container in pod["containers"]:
            if "opentelemetry-collector" not in container["image"]:
                continue
            (path,) = [a.removeprefix(_CONFIG) for a in container["args"] if a.startswith(_CONFIG)]
            others = tuple(a for a in container["args"] if not a.startswith(_CONFIG))
            (mount,) = [m for m in container["volumeMounts"] if path.startswith(f"{m['mountPath']}/")]
            (volume,) = [v for v in pod["volumes"] if v["name"] == mount["name"]]
            yield configs[volume["configMap"]["name"]][path.removeprefix(f"{mount['mountPath']}/")], others
