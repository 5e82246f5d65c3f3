"""A Helm chart of the operator, made from the objects that ``operator manifests`` prints (helm.sh/docs/topics/charts).

The Deployment and what belongs to it are built once with placeholders, and once more for every value that adds
something. What differs between the two becomes a block of the template: nothing of an object is written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import scenario_kit
from scenario_kit.schema.deployment import Installation, build_deployment
from scenario_kit.schema.install import NAMESPACE

#: Stands for the number of replicas while objects are built.
_REPLICAS: Final = 4242
_IMAGE, _PROMETHEUS, _CATALOG, _EACH = "@image@", "@prometheus@", "@catalog@", "@each@"
#: What each placeholder is in a template.
_EXPRESSIONS: Final[Mapping[object, str]] = {
    _IMAGE: "{{ .Values.image | quote }}",
    _PROMETHEUS: "{{ .Values.prometheusUrl | quote }}",
    _CATALOG: "{{ .Values.catalog | quote }}",
    _EACH: "{{ . | quote }}",
    _REPLICAS: "{{ .Values.replicas }}",
}
_BASE: Final = Installation(image=_IMAGE, prometheus_url=_PROMETHEUS, replicas=_REPLICAS)
#: The values that add something, in the order of arguments and objects: what opens their block, and how it is built.
_VARIANTS: Final[Mapping[str, tuple[str, Installation]]] = {
    "offers": ("range", _BASE._replace(offers=(_EACH,))),
    "catalog": ("if", _BASE._replace(catalog_claim=_CATALOG)),
    "systemNamespaces": ("range", _BASE._replace(system_namespaces=(_EACH,))),
    "webhook": ("if", _BASE._replace(webhook=True)),
}
_CHECK: Final = (
    f'{{{{- if ne .Release.Namespace "{NAMESPACE}" }}}}\n'
    f'{{{{- fail "install it into its namespace: --namespace {NAMESPACE} --create-namespace" }}}}\n'
    "{{- end }}\n"
)


@dataclass(frozen=True)
class TemplateBlock:
    """Entries of a list that are there for a value alone: ``if`` it is set, or once for each (``range``)."""

    opening: str
    value: str
    entries: tuple[Any, ...]


def build_chart(installation: Installation, parts: Mapping[str, str], *, platform: bool = False) -> dict[str, str]:
    """Build the files of a chart, by path.

    Args:
        installation: what its values are by default.
        parts: what is applied beside the Deployment, as YAML streams by file name: ``crds.yaml``, ``access.yaml``, and
            those of the platform, which the value ``platform`` adds.
        platform: what that value is by default.
    """
    fixed = {f"templates/{name}": _escape(text) for name, text in parts.items() if name not in ("crds.yaml", _ACCESS)}
    guarded = {name: "{{- if .Values.platform }}\n" + text + "{{- end }}\n" for name, text in fixed.items()}
    return {
        "Chart.yaml": _format_json(_describe_chart()),
        "values.yaml": _format_values(list_values(installation, platform=platform)),
        "values.schema.json": json.dumps(build_values_schema(), indent=2) + "\n",
        "crds/crds.yaml": parts["crds.yaml"],
        f"templates/{_ACCESS}": _CHECK + _escape(_drop_namespace(parts[_ACCESS])),
        **guarded,
        "templates/deployment.yaml": format_template(build_template()),
    }


_ACCESS: Final = "access.yaml"


def _describe_chart() -> dict[str, Any]:
    return {
        "apiVersion": "v2",
        "name": "scenario-kit",
        "description": "The operator that makes scenarios happen",
        "type": "application",
        "version": scenario_kit.__version__,
        "appVersion": scenario_kit.__version__,
        "kubeVersion": ">=1.31.0-0",
    }


def _format_json(document: Mapping[str, Any]) -> str:
    """Format a flat mapping as YAML; texts are quoted as in JSON, which YAML contains."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in document.items())


def _format_values(values: Mapping[str, Any]) -> str:
    lines = []
    for name, value in values.items():
        lines += [f"# {_MEANINGS[name]}", f"{name}: {json.dumps(value)}"]
    return "\n".join(lines) + "\n"


def list_values(installation: Installation, *, platform: bool = False) -> dict[str, Any]:
    """List the values of the chart that are this installation."""
    return {
        "image": installation.image,
        "prometheusUrl": installation.prometheus_url,
        "offers": list(installation.offers),
        "catalog": installation.catalog_claim,
        "replicas": installation.replicas,
        "systemNamespaces": list(installation.system_namespaces),
        "webhook": installation.webhook,
        "platform": platform,
    }


#: What each value means: comments in ``values.yaml``, descriptions in its schema.
_MEANINGS: Final = {
    "image": "Image of the operator.",
    "prometheusUrl": "Address of the cluster's Prometheus, as pods reach it.",
    "offers": "Capabilities of the cluster that no canary can see.",
    "catalog": f"A PersistentVolumeClaim in {NAMESPACE} with a catalogue beside the image's own.",
    "replicas": "One acts, the others wait until it is gone.",
    "systemNamespaces": "Namespaces, beside kube-system, whose components faults may disturb.",
    "webhook": "Let kubectl apply say what is wrong with a scenario, by a webhook.",
    "platform": "Also Prometheus and kube-state-metrics, for a cluster without them.",
}


def build_values_schema() -> dict[str, Any]:
    """Build the JSON Schema by which Helm judges values."""
    texts: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}}
    shapes: dict[str, dict[str, Any]] = {
        "image": {"type": "string", "minLength": 1, "pattern": r"^\S+$"},
        "prometheusUrl": {"type": "string", "pattern": r"^https?://\S+$"},
        "offers": texts,
        "catalog": {"type": "string", "pattern": r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$"},
        "replicas": {"type": "integer", "minimum": 1, "maximum": 5},
        "systemNamespaces": texts,
        "webhook": {"type": "boolean"},
        "platform": {"type": "boolean"},
        "global": {"type": "object"},  # Helm adds it
    }
    described = {name: {"description": _MEANINGS[name], **shape} if name in _MEANINGS else shape
                 for name, shape in shapes.items()}  # fmt: skip
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": False,
        "properties": described,
    }


def build_template() -> list[Any]:
    """Build the objects of the Deployment, with the blocks of values in their lists."""
    merged: Any = build_deployment(_BASE)
    for value, (opening, installation) in _VARIANTS.items():
        merged = _merge(merged, build_deployment(installation), opening, value)
    found: list[Any] = merged
    return found


def _merge(base: Any, variant: Any, opening: str, value: str) -> Any:
    """Merge what a variant adds into the base, as blocks; blocks of other values in the base stay."""
    if isinstance(base, dict):
        assert base.keys() == variant.keys(), f"{value} adds fields, and not only entries of lists"
        return {name: _merge(base[name], variant[name], opening, value) for name in base}
    if not isinstance(base, list):
        assert base == variant, f"{value} changes {base} to {variant}"
        return base
    if len(base) == len(variant) and not any(isinstance(entry, TemplateBlock) for entry in base):
        return [_merge(*pair, opening, value) for pair in zip(base, variant, strict=True)]
    merged: list[Any] = []
    added: list[Any] = []
    left = list(variant)

    def close() -> None:
        if added:
            merged.append(TemplateBlock(opening, value, tuple(added)))
            added.clear()

    for entry in base:
        if not isinstance(entry, TemplateBlock):
            while _identify(left[0]) != _identify(entry):
                added.append(left.pop(0))
            close()
            merged.append(_merge(entry, left.pop(0), opening, value))
        else:
            merged.append(entry)
    added += left
    close()
    return merged


def _identify(entry: Any) -> object:
    """Return by what an entry of a list is recognised in another version of it."""
    if not isinstance(entry, dict):
        return entry
    if "kind" in entry and "metadata" in entry:
        return entry["kind"], entry["metadata"]["name"]
    return entry.get("name") or json.dumps(entry)


def format_template(objects: Sequence[Any]) -> str:
    """Format objects as a stream of YAML with Helm's directives."""
    texts = []
    for entry in objects:
        if isinstance(entry, TemplateBlock):
            inside = "".join(f"---\n{_join(_format(obj, 0))}" for obj in entry.entries)
            texts.append(f"{_open(entry)}\n{inside}{_END}\n")
        else:
            texts.append(f"---\n{_join(_format(entry, 0))}")
    return "".join(texts)


_END: Final = "{{- end }}"


def _open(block: TemplateBlock) -> str:
    return f"{{{{- {block.opening} .Values.{block.value} }}}}"


def _join(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _format(node: Mapping[str, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for name, value in node.items():
        key = f"{pad}{json.dumps(name) if '/' in name else name}:"
        if isinstance(value, dict) and value:
            yield key
            yield from _format(value, indent + 2)
        elif isinstance(value, list) and value:
            yield key + _format_empty(value)
            yield from _format_entries(value, indent)
        else:
            yield f"{key} {_format_scalar(value)}"


def _format_empty(entries: Sequence[Any]) -> str:
    """Format what a list is when none of its blocks is there."""
    if not all(isinstance(entry, TemplateBlock) for entry in entries):
        return ""
    values = " ".join(f".Values.{entry.value}" for entry in entries)
    return f"{{{{ if not (or {values}) }}}} []{_END.replace('-', '')}"


def _format_entries(entries: Sequence[Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for entry in entries:
        if isinstance(entry, TemplateBlock):
            yield pad + _open(entry)
            yield from _format_entries(entry.entries, indent)
            yield pad + _END
        elif isinstance(entry, dict):
            first, *others = _format(entry, indent + 2)
            yield f"{pad}- {first.strip()}"
            yield from others
        else:
            yield f"{pad}- {_format_scalar(entry)}"


def _format_scalar(value: Any) -> str:
    if isinstance(value, (str, int)) and not isinstance(value, bool) and value in _EXPRESSIONS:
        return _EXPRESSIONS[value]
    return _escape(json.dumps(value))


def _escape(text: str) -> str:
    """Escape what Helm would take for a directive."""
    return text.replace("{{", '{{ "{{" }}')


def _drop_namespace(stream: str) -> str:
    """Drop the Namespace from a stream: Helm makes it, and keeps its own records there."""
    return "---\n".join(each for each in stream.split("---\n") if "\nkind: Namespace\n" not in each)
