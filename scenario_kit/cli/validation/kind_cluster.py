"""``verify --cluster kind``: a dedicated kind cluster with platform and operator (https://kind.sigs.k8s.io).

Its kubeconfig is a separate file; the user's is not modified. Existing parts are reused, so a second call starts at
once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import yaml

from scenario_kit.cli.operator import CHAOS_VALUES, collect_manifests, find_platform
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.lab.host.state import find_home, find_lab_folder
from scenario_kit.load.atomic_file import write_private
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.ports import Cluster
from scenario_kit.schema.deployment import Installation

ENGINES: Final = ("docker", "podman", "nerdctl")
#: Names that ``ci/image`` gives an image in its archive, by the annotations of the Open Container Initiative.
_NAMES: Final = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_OPERATOR: Final = Reference("Deployment", "scenario-kit-operator", MANAGEMENT_NAMESPACE, "apps")
_CHAOS: Final = Reference("Deployment", "chaos-controller-manager", "chaos-mesh", "apps")
_CHART: Final = ("chaos-mesh", "--repo", "https://charts.chaos-mesh.org")
_NODES: Final = ("control-plane", "worker", "worker")
_READY_SECONDS: Final = 600.0
_POLL_SECONDS: Final = 2.0
_ELSEWHERE: Final = "or verify in a cluster that is there: --cluster current --context NAME"


class CommandOutcome(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str = ""
    err: str = ""


class Machine(Protocol):
    """The programs of a machine."""

    def has(self, program: str) -> bool:
        """Return whether a program is installed."""

    def run(
        self, arguments: Sequence[str], stdin: str = "", environment: Mapping[str, str] | None = None
    ) -> CommandOutcome:
        """Run a program to its end."""


class LocalMachine:
    """This machine."""

    def has(self, program: str) -> bool:
        """See ``Machine``."""
        return shutil.which(program) is not None

    def run(
        self, arguments: Sequence[str], stdin: str = "", environment: Mapping[str, str] | None = None
    ) -> CommandOutcome:
        """See ``Machine``."""
        done = subprocess.run(
            list(arguments), input=stdin, capture_output=True, text=True, check=False,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
        return CommandOutcome(done.returncode, done.stdout, done.stderr)


class KindCluster(NamedTuple):
    """A dedicated kind cluster; ``say`` reports progress.

    ``image`` is the operator's: a reference known to the engine, or an archive of ``ci/image``; empty if the operator
    is installed.
    """

    name: str
    kubeconfig: Path
    image: str = ""
    say: Callable[[str], None] = print


def name_cluster(name: str) -> str:
    """Derive the name of a kind cluster from that of a lab.

    Raises:
        UsageError: the name is invalid.
    """
    find_lab_folder(name)
    return "scenario-kit" if name == "default" else f"scenario-kit-{name}"


def find_kubeconfig(name: str) -> Path:
    """Return the path of a kind cluster's kubeconfig, next to the labs."""
    return find_home() / "kind" / f"{name}.kubeconfig"


def find_engine(machine: Machine) -> str:
    """Find a working container engine, and require the program kind.

    Raises:
        InfrastructureError: one of them is missing.
    """
    found = [engine for engine in ENGINES if machine.has(engine)]
    if not found:
        raise InfrastructureError(
            f"--cluster kind needs a container engine; there is none of {', '.join(ENGINES)}",
            fix=f"install one, {_ELSEWHERE}",
        )
    answers = {engine: machine.run([engine, "info"]) for engine in found}
    working = next((engine for engine, answer in answers.items() if answer.code == 0), None)
    if working is None:
        reason = _read_last_line(answers[found[0]])
        raise InfrastructureError(f"{found[0]} does not answer: {reason}", fix=f"start {found[0]}, {_ELSEWHERE}")
    if not machine.has("kind"):
        fix = f"install it (https://kind.sigs.k8s.io/docs/user/quick-start/#installation), {_ELSEWHERE}"
        raise InfrastructureError("--cluster kind needs the program kind, which is not on PATH", fix=fix)
    return working


def bring_up_kind(machine: Machine, kind: KindCluster) -> None:
    """Create the cluster if it does not exist, write its kubeconfig, and load the operator's image into its nodes.

    Raises:
        InfrastructureError: engine or kind are missing, or fail.
        UsageError: the image is neither an archive nor a reference.
    """
    provider = {"KIND_EXPERIMENTAL_PROVIDER": find_engine(machine)}

    def run(*arguments: str, stdin: str = "") -> str:
        done = machine.run(["kind", *arguments], stdin, provider)
        if done.code:
            text = " ".join(arguments[:3])
            raise InfrastructureError(
                f"kind {text} ended with {done.code}: {_read_last_line(done)}",
                fix=f"kind delete cluster --name {kind.name}, then run the same command again",
            )
        return done.out

    kind.kubeconfig.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if kind.name not in run("get", "clusters").split():
        kind.say(f"creating the kind cluster {kind.name} ({len(_NODES)} nodes)")
        options = ("--name", kind.name, "--kubeconfig", str(kind.kubeconfig), "--wait", "300s", "--config", "-")
        run("create", "cluster", *options, stdin=build_configuration())
    else:
        write_private(kind.kubeconfig, run("get", "kubeconfig", "--name", kind.name).encode())
    if kind.image:
        kind.say(f"loading {kind.image} into its nodes")
        verb = "image-archive" if Path(kind.image).is_file() else "docker-image"
        run("load", verb, kind.image, "--name", kind.name)


def build_configuration() -> str:
    """Build the configuration of a kind cluster, with enough workers to drain one."""
    nodes = [{"role": role} for role in _NODES]
    return json.dumps({"kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4", "nodes": nodes})


def read_image_name(image: str) -> str:
    """Read the name of an image from its archive; a reference is its own name.

    Raises:
        UsageError: the file is not an image archive.
    """
    if not Path(image).is_file():
        return image
    try:
        with tarfile.open(image) as archive:
            member = archive.extractfile("index.json")
            index: Object = json.load(member) if member is not None else {}
        found = [m.get("annotations", {}).get(name) for name in _NAMES for m in index["manifests"]]
    except (tarfile.TarError, KeyError, ValueError, AttributeError) as error:
        raise UsageError(f"--image {image} is not an image archive: {error}", fix="ci/image writes one") from error
    named = next((str(name) for name in found if name), "")
    if not named:
        raise UsageError(f"--image {image}: the archive does not name its image", fix="ci/image --name NAME:TAG")
    return named


def install(cluster: Cluster, kind: KindCluster, pause: Callable[[float], None] = time.sleep) -> None:
    """Install platform and operator if there is an image, and wait until the operator is available.

    Raises:
        UsageError: the operator is not installed, and there is no image.
        InfrastructureError: it does not become available.
    """
    if kind.image:
        kind.say("installing Prometheus, kube-state-metrics and the operator")
        for obj in list_objects(read_image_name(kind.image)):
            cluster.apply(obj)
    elif cluster.get(_OPERATOR) is None:
        raise UsageError(
            f"the kind cluster {kind.name} has no operator yet",
            fix="build its image and name it: --image dist/scenario-kit.tar",
        )
    waited = 0.0
    while not ((cluster.get(_OPERATOR) or {}).get("status") or {}).get("availableReplicas"):
        if waited >= _READY_SECONDS:
            raise InfrastructureError(
                f"{_OPERATOR} is not available after {waited:.0f} s",
                fix=f"kubectl --kubeconfig {kind.kubeconfig} -n {MANAGEMENT_NAMESPACE} describe pods",
            )
        pause(_POLL_SECONDS)
        waited += _POLL_SECONDS


def list_objects(image: str) -> Iterator[dict[str, Any]]:
    """List the objects to install, in order, as `operator manifests --platform` prints them."""
    for text in collect_manifests(Installation(image=image), platform=True).values():
        yield from yaml.safe_load_all(text)


def install_chaos(machine: Machine, cluster: Cluster, kind: KindCluster) -> None:
    """Install Chaos Mesh with Helm if it is missing; without Helm, its faults are refused in this cluster.

    Raises:
        InfrastructureError: Helm failed.
    """
    if cluster.get(_CHAOS) is not None:
        return
    if not machine.has("helm"):
        kind.say("there is no helm, and so no Chaos Mesh: faults that are its experiments are refused here (SK911)")
        return
    kind.say("installing Chaos Mesh")
    where = ("--namespace", _CHAOS.namespace, "--create-namespace", "--kubeconfig", str(kind.kubeconfig))
    values = ("--values", str(find_platform() / CHAOS_VALUES), "--wait", "--timeout", "10m")
    done = machine.run(["helm", "upgrade", "--install", "chaos-mesh", *_CHART, *where, *values])
    if done.code:
        raise InfrastructureError(
            f"helm upgrade --install chaos-mesh ended with {done.code}: {_read_last_line(done)}",
            fix="run the same command again; what is there stays",
        )


def _read_last_line(done: CommandOutcome) -> str:
    lines = (done.err.strip() or done.out.strip() or "it printed nothing").splitlines()
    return lines[-1]
