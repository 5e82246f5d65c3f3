"""A real Kueue beside a lab: its kinds, its webhooks, and its controller as a process on loopback.

The sources are those of the Go module that the controller is built from. Kueue sets its own CA in webhooks and kinds:
https://kueue.sigs.k8s.io/docs/installation/ (``internalCertManagement``).
"""

from __future__ import annotations

import base64
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab.host.addresses import LOOPBACK, find_free_ports
from scenario_kit.lab.toolchain import golang
from scenario_kit.lab.toolchain.components import get_part
from scenario_kit.model import Object, Reference
from tools.crash.play import await_true

NAMESPACE: Final = "kueue-system"
_MODULE: Final = "sigs.k8s.io/kueue"
_AUTHORITY: Final = "kueue-ca"
_SERVICE: Final = "kueue-webhook-service"
_SECRET: Final = "kueue-webhook-server-cert"
#: Kinds whose two versions Kueue converts.
_CONVERTED: Final = ("localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters")
#: Webhooks of Jobs and of Kueue's own kinds; those of the integrations that are off would only slow the lab.
_WEBHOOKS: Final = ("-batch-v1-job", "-kueue-x-k8s-io-")


@contextmanager
def run_controller(program: Path, cluster: KubeCluster, kubeconfig: str, folder: Path) -> Iterator[None]:
    """Install Kueue's kinds and run its controller until the end of the block. ``folder`` keeps its files and log."""
    with tempfile.TemporaryDirectory() as work:
        golang.copy_module("kueue", Path(work))
        go = golang.ensure(print)
        components = golang.fetch_module_source(go, get_part("kueue"), _MODULE, Path(work)) / "config" / "components"
        port, health = find_free_ports(2)
        for each in _build_objects(components, folder, port):
            cluster.apply(each)
    configuration = folder / "configuration.yaml"
    configuration.write_text(yaml.safe_dump(_build_configuration(folder, port, health)))
    command = [str(program), f"--config={configuration}", "--feature-gates=VisibilityOnDemand=false"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, "KUBECONFIG": kubeconfig}, stdout=log, stderr=log)
    try:
        assert await_true(lambda: _is_serving(cluster, process, folder), 120), (folder / "log").read_text()[-3000:]
        yield
    finally:
        process.kill()  # its bootstrap does not end by SIGTERM
        process.wait()


def _is_serving(cluster: KubeCluster, process: subprocess.Popen[bytes], folder: Path) -> bool:
    """Return whether the webhooks answer: only then a ResourceFlavor can be created."""
    assert process.poll() is None, (folder / "log").read_text(errors="replace")[-3000:]
    try:
        cluster.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}})
    except Exception as error:
        if "webhook" in str(error):
            return False
        raise
    return True


def _build_configuration(folder: Path, port: int, health: int) -> Object:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": port, "certDir": str(folder)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": True, "webhookServiceName": _SERVICE, "webhookSecretName": _SECRET},
        "integrations": {"frameworks": ["batch/job"]},
    }


def _build_objects(components: Path, folder: Path, port: int) -> Iterator[Object]:
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    yield _issue_certificates(folder)
    for file in sorted((components / "crd" / "bases").glob("*.yaml")):
        yield _serve_conversion(yaml.safe_load(file.read_text()), port)
    for each in yaml.safe_load_all((components / "webhook" / "manifests.yaml").read_text()):
        name = f"kueue-{'mutating' if each['kind'].startswith('Mutating') else 'validating'}-webhook-configuration"
        hooks = [hook for hook in each["webhooks"] if any(part in _get_path(hook) for part in _WEBHOOKS)]
        for hook in hooks:
            hook["clientConfig"] = {"url": f"https://{LOOPBACK}:{port}{_get_path(hook)}"}
        yield {**each, "metadata": {"name": name}, "webhooks": hooks}


def _get_path(hook: Mapping[str, Any]) -> str:
    return str(hook["clientConfig"]["service"]["path"])


def _serve_conversion(definition: Object, port: int) -> Object:
    if definition["spec"]["names"]["plural"] in _CONVERTED:
        webhook = {
            "clientConfig": {"url": f"https://{LOOPBACK}:{port}/convert"},
            "conversionReviewVersions": ["v1"],
        }
        definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return definition


def _issue_certificates(folder: Path) -> Object:
    """Write the webhook's certificate as a mounted Secret would be, and return that Secret."""
    authority = _create_authority()
    pair = issue(authority, "kueue", hosts=[f"{_SERVICE}.{NAMESPACE}.svc"], addresses=[LOOPBACK])
    root = authority.encode()
    files = {"ca.crt": root.certificate, "ca.key": root.key, "tls.crt": pair.certificate, "tls.key": pair.key}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    data = {name: base64.b64encode(content).decode() for name, content in files.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _SECRET, "namespace": NAMESPACE}, "data": data}


def _create_authority() -> Authority:
    """Create a CA that Kueue keeps: it replaces one without its name among the DNS names, or whose key is not RSA."""
    plain = Authority.create(_AUTHORITY).certificate
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.SubjectAlternativeName([x509.DNSName(_AUTHORITY)])
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    certificate = (
        x509.CertificateBuilder()
        .issuer_name(plain.issuer)
        .subject_name(plain.subject)
        .public_key(key.public_key())
        .serial_number(plain.serial_number)
        .not_valid_before(plain.not_valid_before_utc)
        .not_valid_after(plain.not_valid_after_utc)
        .add_extension(constraints, critical=True)
        .add_extension(plain.extensions.get_extension_for_class(x509.KeyUsage).value, critical=True)
        .add_extension(name, critical=False)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, cast(Any, key))


def find_workload(cluster: KubeCluster, job: Reference) -> Object:
    """Find the Workload that Kueue has created for a Job; empty until then."""
    for each in cluster.list("Workload", job.namespace, group="kueue.x-k8s.io"):
        if any(owner["name"] == job.name for owner in each["metadata"].get("ownerReferences", ())):
            return each
    return {}
