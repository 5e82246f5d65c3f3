"""``operator``: run it on this machine, or print the manifests that install it in a cluster."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenario_kit.cli.terminal.groups import add_group
from scenario_kit.cli.terminal.options import Lab, declare_choice
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.schema.deployment import Installation

#: Manifests of optional components, in the order of their application, and the values for the chart of Chaos Mesh.
PLATFORM: Final = ("prometheus.yaml", "kube-state-metrics.yaml")
CHAOS_VALUES: Final = "chaos-mesh-values.yaml"
#: An image reference: registry, path, and a tag, a digest or both.
_IMAGE: Final = re.compile(r"[a-z0-9][\w.:/-]*(@sha256:[0-9a-f]{64})?", re.IGNORECASE)
_URL: Final = re.compile(r"https?://[^\s/]+(/\S*)?")
_HOUR: Final = 3600
#: Names of objects (RFC 1123 subdomains).
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


Offers = Annotated[
    list[str] | None, typer.Option(help="A capability of the cluster that no canary can see; repeat it for more.")
]
CatalogClaim = Annotated[
    str, typer.Option(help="A PersistentVolumeClaim in scenario-kit with a catalogue beside the image's own.")
]
Webhook = Annotated[
    bool, typer.Option("--webhook", help="Let kubectl apply say what is wrong with a scenario, by a webhook.")
]
SystemNamespace = Annotated[
    list[str] | None,
    typer.Option(help="A namespace, beside kube-system, whose components faults may disturb; repeat it for more."),
]
Platform = Annotated[
    bool, typer.Option("--platform", help="Also Prometheus and kube-state-metrics, for a cluster without them.")
]
Kustomize = Annotated[
    Path | None, typer.Option(help="Write the same as a Kustomize base into this new folder, instead of printing.")
]
Helm = Annotated[
    Path | None, typer.Option(help="Write the same as a Helm chart into this new folder; the options are its values.")
]


def register(app: typer.Typer, panel: str) -> None:
    """Add the commands to a panel of the help."""
    add_group(app, panel, "operator", "The operator that makes scenarios happen.", (run, manifests, kubeconfig))


def run(
    name: Lab = "default",
    clock: Annotated[str, declare_choice("--clock", "Wall|Virtual", help="Clock of live scenarios in a lab.")] = "Wall",
    context: Annotated[
        str, typer.Option(help="A kubeconfig context instead of a lab; it must be the current one.")
    ] = "",
    allow_context: Annotated[str, typer.Option(help="Allow this context although it is not a kind cluster.")] = "",
    prometheus_url: Annotated[str, typer.Option(help="Address of that cluster's Prometheus.")] = "",
    offer: Offers = None,
    listen: Annotated[str, typer.Option(help="Serve /healthz, /readyz and /metrics at this HOST:PORT.")] = "",
    webhook: Annotated[str, typer.Option(help="Answer the API server's webhook at this HOST:PORT.")] = "",
) -> None:
    """Run the operator in the foreground, against a lab or a named cluster.

    Example: scenario-kit operator run --context kind-demo --prometheus-url http://127.0.0.1:9090
    """
    target = {"--context": context} if context else {"--lab": name}
    options = {
        **target, "--clock": clock, "--allow-context": allow_context, "--prometheus-url": prometheus_url,
        "--listen": listen, "--webhook": webhook,
    }  # fmt: skip
    arguments = [text for option, value in options.items() if value for text in (option, value)]
    arguments += [text for each in offer or () for text in ("--offer", each)]
    # In place of this process: signals then reach the operator itself.
    os.execv(sys.executable, [sys.executable, "-m", "operators.scenario", *arguments])


def manifests(
    image: Annotated[str, typer.Option(help="Image of the operator.")] = "",
    prometheus_url: Annotated[str, typer.Option(help="Address of the cluster's Prometheus, as pods reach it.")] = "",
    offer: Offers = None,
    catalog: CatalogClaim = "",
    replicas: Annotated[int, typer.Option(min=1, max=5, help="One acts, the others wait until it is gone.")] = 1,
    webhook: Webhook = False,
    system_namespace: SystemNamespace = None,
    platform: Platform = False,
    kustomize: Kustomize = None,
    helm: Helm = None,
) -> None:
    """Print what to apply to run the operator in a cluster: CRDs, RBAC, policies, Deployment.

    Example: scenario-kit operator manifests --image registry.example/scenario-kit:1 | kubectl apply -f -
    """
    from scenario_kit.schema.deployment import Installation
    from scenario_kit.schema.install import NAMESPACE

    chosen: dict[str, Any] = {"offers": tuple(offer or ()), "replicas": replicas, "webhook": webhook}
    if image:
        chosen["image"] = require_image(image)
    if prometheus_url:
        example = "http://prometheus.monitoring:9090"
        chosen["prometheus_url"] = _require("--prometheus-url", prometheus_url, _URL, "an HTTP address", example)
    if catalog:
        chosen["catalog_claim"] = _require("--catalog", catalog, _NAME, "the name of a claim", "our-catalogue")
    for each in chosen["offers"]:
        _require_capability(each)
    chosen["system_namespaces"] = tuple(_require_system_namespace(each) for each in system_namespace or ())
    if kustomize is not None and helm is not None:
        raise UsageError("--kustomize and --helm are two forms of the same", fix="give one of them, and then the other")
    installation = Installation(**chosen)
    parts = collect_manifests(installation, platform=platform)
    if helm is not None:
        write_folder(helm, collect_chart(installation, platform=platform))
        install = f"helm install scenario-kit {helm} --namespace {NAMESPACE} --create-namespace"
        typer.echo(f"wrote {helm}; install it: {install}", err=True)
    elif kustomize is not None:
        write_kustomize_base(kustomize, parts, find_platform() / CHAOS_VALUES if platform else None)
        typer.echo(f"wrote {kustomize}; apply it: kubectl apply --server-side -k {kustomize}", err=True)
    else:
        typer.echo("---\n".join(parts.values()), nl=False)


def find_platform() -> Path:
    """Find the folder with the manifests of optional components."""
    from scenario_kit.catalog import find_data_root

    return find_data_root() / "templates" / "platform"


def collect_manifests(installation: Installation, *, platform: bool) -> dict[str, str]:
    """Collect the manifests as YAML streams by file name, in the order of their application."""
    from scenario_kit.schema.deployment import build_deployment

    folder = resources.files("operators") / "manifests"
    parts = {name: (folder / name).read_text(encoding="utf-8") for name in ("crds.yaml", "access.yaml")}
    if platform:
        parts |= {name: (find_platform() / name).read_text(encoding="utf-8") for name in PLATFORM}
    return parts | {"deployment.yaml": dump_objects(build_deployment(installation))}


def collect_chart(installation: Installation, *, platform: bool) -> dict[str, str]:
    """Collect the files of the Helm chart; it always has the platform, and ``platform`` is the default of its value."""
    from scenario_kit.schema.chart import build_chart

    parts = collect_manifests(installation, platform=True)
    del parts["deployment.yaml"]
    return build_chart(installation, parts, platform=platform)


def write_kustomize_base(folder: Path, parts: Mapping[str, str], values: Path | None) -> None:
    """Write a Kustomize base atomically: each part as a file, and ``kustomization.yaml``.

    Raises:
        UsageError: the folder exists and is not empty.
    """
    base = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": list(parts)}
    files = {**parts, "kustomization.yaml": dump_objects([base])}
    if values is not None:
        files[values.name] = values.read_text(encoding="utf-8")
    write_folder(folder, files)


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a new folder atomically.

    Raises:
        UsageError: the folder exists and is not empty.
    """
    from scenario_kit.load.staged_folders import stage_folders, write_files

    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    with stage_folders((folder,)) as (staged,):
        write_files(staged, files)


def kubeconfig(
    context: Annotated[str, typer.Option(help="The kubeconfig context of the cluster; it has to be named.")],
    as_: Annotated[str, declare_choice("--as", "solver", help="Whose kubeconfig.")] = "solver",
    namespace: Annotated[str, typer.Option(help="Where kubectl looks first: the app's namespace.")] = "default",
    hours: Annotated[int, typer.Option(min=1, max=48, help="How long the token lasts.")] = 8,
) -> None:
    """Print a kubeconfig with a solver's permissions in a cluster, and a token that expires.

    Example: scenario-kit operator kubeconfig --as solver --context kind-demo --namespace otel-demo > oncall.kubeconfig
    """
    from scenario_kit.clients.kube import KubeCluster
    from scenario_kit.clients.kubernetes_client import read_endpoint
    from scenario_kit.errors import NotFound
    from scenario_kit.model import Reference
    from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
    from scenario_kit.schema.solver import SOLVER

    del as_  # the only choice
    _require("--namespace", namespace, _NAME, "the name of a namespace", "otel-demo")
    endpoint = read_endpoint(context)
    account = Reference("ServiceAccount", SOLVER, MANAGEMENT_NAMESPACE)
    try:
        token = KubeCluster(context=context).request_token(account, hours * _HOUR)
    except NotFound as error:
        fix = "scenario-kit operator manifests --image IMAGE --prometheus-url URL | kubectl apply -f -"
        raise UsageError(f"the context '{context}' has no {account}: the operator is not installed", fix=fix) from error
    typer.echo(dump_objects([build_solver_kubeconfig(endpoint, token, namespace)]), nl=False)


def build_solver_kubeconfig(endpoint: dict[str, str], token: str, namespace: str) -> dict[str, Any]:
    """Build a kubeconfig that impersonates the solver, with a token that allows nothing else."""
    from scenario_kit.model.kubernetes.kubeconfig import build_kubeconfig
    from scenario_kit.schema.solver import SOLVER

    return build_kubeconfig(SOLVER, endpoint, (SOLVER, {"token": token, "as": SOLVER}), namespace)


def require_image(image: str) -> str:
    """Return the value of ``--image`` if it is an image reference.

    Raises:
        UsageError: it is not.
    """
    return _require("--image", image, _IMAGE, "an image reference", "registry.example/scenario-kit:1")


def _require(option: str, value: str, pattern: re.Pattern[str], expected: str, example: str) -> str:
    if not pattern.fullmatch(value):
        raise UsageError(f"{option} {value}: this is not {expected}", fix=f"{option} {example}")
    return value


def _require_system_namespace(name: str) -> str:
    from scenario_kit.schema.writable import SYSTEM_NAMESPACES

    if name not in SYSTEM_NAMESPACES:
        expected = ", ".join(each for each in SYSTEM_NAMESPACES if each != "kube-system")
        raise UsageError(f"--system-namespace {name}: no fault may disturb anything there", fix=f"one of: {expected}")
    return name


def _require_capability(offer: str) -> None:
    """Require that an offer names a capability, with or without its argument (``nodes>=3``)."""
    from scenario_kit.catalog import Catalog
    from scenario_kit.catalog.capabilities import list_capabilities

    known = list_capabilities(Catalog())
    if all(capability.argument(offer) is None for capability in known):
        names = ", ".join(sorted(capability.name for capability in known))
        raise UsageError(f"--offer {offer}: there is no such capability", fix=f"one of: {names}")


def dump_objects(objects: Sequence[dict[str, Any]]) -> str:
    """Return objects as a YAML stream."""
    import yaml

    return "---\n".join(yaml.safe_dump(obj, sort_keys=False, width=120) for obj in objects)
