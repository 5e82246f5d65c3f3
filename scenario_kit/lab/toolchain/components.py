"""The pinned components of the lab: names, versions, sources. Mostly data."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

KUBERNETES = "1.34.2"
ETCD = "3.6.4"
KWOK = "0.8.0"
PROMETHEUS = "3.15.0"
COREDNS = "1.15.0"
KUEUE = "0.17.0"
#: The version nearest to the apps' images for which all modules are available.
OPENTELEMETRY_COLLECTOR = "0.155.0"
#: The module path of Chaos Mesh has no ``/v2``, so Go does not accept its tags: a pseudo-version names the commit.
CHAOS_MESH = "0.9.1-0.20260902003049-47411975a8cb"

CHAOS_MODULE = "github.com/chaos-mesh/chaos-mesh"


#: The lab's Prometheus and the collector's receiver have static targets only: without the service discovery of twenty
#: clouds, a third of the code remains.
_TAGS = {"prometheus": ("remove_all_sd",), "collector": ("remove_all_sd",)}


@dataclass(frozen=True)
class Release:
    """An official release: the ``url`` of a binary or of a tar archive with ``member``, and of its SHA-256 sums."""

    url: str
    sums: str
    member: str = ""


@dataclass(frozen=True)
class ToolchainComponent:
    """One binary. ``module`` is the directory in ``modules`` whose go.mod pins ``package``.

    Components of a module are built together, with the module's ``tags``: shared packages are compiled once.
    ``executable`` is Go's name for the binary if it differs. ``any_on_path`` accepts any version on PATH (for a user's
    tool that the lab itself does not need). ``more_tags`` are tags beyond the module's; ``cgo``: it has parts in C, for
    which a compiler of C is needed.
    """

    name: str
    version: str
    module: str
    package: str
    stamps: tuple[str, ...] = ()
    release: Release | None = None
    any_on_path: bool = False
    executable: str = ""
    more_tags: tuple[str, ...] = ()
    cgo: bool = False

    @property
    def tags(self) -> tuple[str, ...]:
        """The build tags of its module, and its own."""
        return _TAGS.get(self.module, ()) + self.more_tags

    @property
    def variable(self) -> str:
        """The environment variable with the path of this component."""
        return "SCENARIO_KIT_" + self.name.upper().replace("-", "_")


def _detect_architecture() -> str:
    machine = platform.machine().lower()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


_ARCH = _detect_architecture()
_KUBERNETES_STAMPS = (
    f"k8s.io/component-base/version.gitVersion=v{KUBERNETES}",
    f"k8s.io/component-base/version.gitMajor={KUBERNETES.split('.')[0]}",
    f"k8s.io/component-base/version.gitMinor={KUBERNETES.split('.')[1]}",
)


def _define_kubernetes(name: str, *, module: str = "cluster", any_on_path: bool = False) -> ToolchainComponent:
    url = f"https://dl.k8s.io/release/v{KUBERNETES}/bin/linux/{_ARCH}/{name}"
    return ToolchainComponent(
        name=name,
        version=KUBERNETES,
        module=module,
        package=f"k8s.io/kubernetes/cmd/{name}",
        stamps=_KUBERNETES_STAMPS,
        release=Release(url=url, sums=f"{url}.sha256"),
        any_on_path=any_on_path,
    )


def _define_kwok(name: str) -> ToolchainComponent:
    return ToolchainComponent(
        name=name,
        version=KWOK,
        module="cluster",
        package=f"sigs.k8s.io/kwok/cmd/{name}",
        stamps=(f"sigs.k8s.io/kwok/pkg/consts.Version=v{KWOK}",),
    )


def _define_prometheus(name: str) -> ToolchainComponent:
    base = f"https://github.com/prometheus/prometheus/releases/download/v{PROMETHEUS}"
    folder = f"prometheus-{PROMETHEUS}.linux-{_ARCH}"
    return ToolchainComponent(
        name=name,
        version=PROMETHEUS,
        module="prometheus",
        package=f"github.com/prometheus/prometheus/cmd/{name}",
        stamps=(f"github.com/prometheus/common/version.Version={PROMETHEUS}",),
        release=Release(url=f"{base}/{folder}.tar.gz", sums=f"{base}/sha256sums.txt", member=f"{folder}/{name}"),
    )


def _define_etcd() -> ToolchainComponent:
    base = f"https://github.com/etcd-io/etcd/releases/download/v{ETCD}"
    folder = f"etcd-v{ETCD}-linux-{_ARCH}"
    return ToolchainComponent(
        name="etcd",
        version=ETCD,
        module="cluster",
        package="go.etcd.io/etcd/server/v3",
        executable="server",
        release=Release(url=f"{base}/{folder}.tar.gz", sums=f"{base}/SHA256SUMS", member=f"{folder}/etcd"),
    )


def _define_collector() -> ToolchainComponent:
    base = "https://github.com/open-telemetry/opentelemetry-collector-releases/releases/download"
    name = "otelcol-contrib"
    return ToolchainComponent(
        name="otelcol",
        version=OPENTELEMETRY_COLLECTOR,
        module="collector",
        package="scenariokit.io/toolchain/collector",
        stamps=(f"main.version={OPENTELEMETRY_COLLECTOR}",),
        release=Release(
            url=f"{base}/v{OPENTELEMETRY_COLLECTOR}/{name}_{OPENTELEMETRY_COLLECTOR}_linux_{_ARCH}.tar.gz",
            sums=f"{base}/v{OPENTELEMETRY_COLLECTOR}/opentelemetry-collector-releases_{name}_checksums.txt",
            member=name,
        ),
        executable="collector",
    )


def _define_coredns() -> ToolchainComponent:
    url = f"https://github.com/coredns/coredns/releases/download/v{COREDNS}/coredns_{COREDNS}_linux_{_ARCH}.tgz"
    return ToolchainComponent(
        name="coredns",
        version=COREDNS,
        module="coredns",
        package="scenariokit.io/toolchain/coredns",
        release=Release(url=url, sums=f"{url}.sha256", member="coredns"),
    )


#: The chaos engine: a sixth of all packages, needed only for scenarios with chaos.
ENGINE = "chaos-controller-manager"

#: Components of every lab. The longest build comes first, so that others run in parallel.
PARTS: tuple[ToolchainComponent, ...] = (
    ToolchainComponent(
        name=ENGINE,
        version=CHAOS_MESH,
        module="cluster",
        package=f"{CHAOS_MODULE}/cmd/chaos-controller-manager",
        stamps=(f"{CHAOS_MODULE}/pkg/version.gitVersion=v{CHAOS_MESH}",),
    ),
    _define_kubernetes("kube-apiserver"),
    _define_kubernetes("kube-controller-manager"),
    _define_kubernetes("kube-scheduler"),
    _define_kubernetes("kubectl", any_on_path=True),
    _define_etcd(),
    _define_kwok("kwokctl"),
    _define_kwok("kwok"),
    _define_prometheus("prometheus"),
)

#: Components of a lab without a chaos engine.
PARTS_WITHOUT_ENGINE = tuple(part for part in PARTS if part.name != ENGINE)

#: Components that no lab needs: installed on request by name (``install_optional``).
OPTIONAL: tuple[ToolchainComponent, ...] = (
    _define_prometheus("promtool"),
    _define_kubernetes("kubelet", module="kubernetes"),
    _define_kubernetes("kube-proxy", module="kubernetes"),
    _define_collector(),
    _define_coredns(),
    # Finds pods by itself, unlike the lab's own, which has static targets only.
    ToolchainComponent(
        name="prometheus-kubernetes",
        version=PROMETHEUS,
        module="prometheus",
        package="github.com/prometheus/prometheus/cmd/prometheus",
        stamps=(f"github.com/prometheus/common/version.Version={PROMETHEUS}",),
        executable="prometheus",
        more_tags=("enable_kubernetes_sd",),
    ),
    ToolchainComponent(
        name="chaos-daemon",
        version=CHAOS_MESH,
        module="chaos-daemon",
        package=f"{CHAOS_MODULE}/cmd/chaos-daemon",
        stamps=(f"{CHAOS_MODULE}/pkg/version.gitVersion=v{CHAOS_MESH}",),
        cgo=True,
    ),
    ToolchainComponent(
        name="kueue",
        version=KUEUE,
        module="kueue",
        package="sigs.k8s.io/kueue/cmd/kueue",
        stamps=(f"sigs.k8s.io/kueue/pkg/version.GitVersion=v{KUEUE}",),
    ),
)

_BY_NAME = {p.name: p for p in (*PARTS, *OPTIONAL)}


def get_part(name: str) -> ToolchainComponent:
    """Return the component of that name; ``KeyError`` for an unknown one."""
    return _BY_NAME[name]


def format_versions(parts: Iterable[ToolchainComponent]) -> str:
    """Format names and versions for messages."""
    return ", ".join(f"{p.name} {p.version}" for p in parts)


def explain_supply(parts: Sequence[ToolchainComponent]) -> str:
    """Explain how to provide components manually, for messages."""
    return f"set {', '.join(p.variable for p in parts)} to the path of {'its' if len(parts) == 1 else 'each'} binary"


def read_kubernetes_version() -> str:
    """Return the API server's version; empty if the binary was provided manually."""
    return KUBERNETES if not os.environ.get(get_part("kube-apiserver").variable) else ""


def describe_engine() -> str:
    """Return the chaos engine with its version; empty if the binary was provided manually."""
    chaos = get_part(ENGINE)
    return f"chaos-mesh {chaos.version}" if not os.environ.get(chaos.variable) else ""
