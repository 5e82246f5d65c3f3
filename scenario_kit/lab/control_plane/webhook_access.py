"""Access to the webhooks of a lab: only the API server, over mutual TLS.

They resolve names of the cluster, and judge scenarios. The API server shows a certificate where a file tells it to:
https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#authenticate-apiservers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from scenario_kit.lab.control_plane.kubeconfigs import write_private_yaml
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.mutual_tls import MutualTls
from scenario_kit.model.base import Object

_PLUGINS: Final = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
_GROUP: Final = "apiserver.config.k8s.io/v1"


def locate_webhook_tls(pki: Path) -> MutualTls:
    """Locate the certificates of the lab's own webhooks, and of the API server as their client."""
    return MutualTls(pki, "webhook")


def write_admission_configuration(pki: Path, ports: Iterable[int]) -> Mapping[str, str]:
    """Write the certificates, and what the API server shows at each port; return its flags."""
    tls = locate_webhook_tls(pki)
    tls.write()
    kubeconfig, configuration = pki / "webhook.kubeconfig", pki / "admission.yaml"
    write_private_yaml(kubeconfig, _build_kubeconfig(tls, ports))
    plugin = {"apiVersion": _GROUP, "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": str(kubeconfig)}
    plugins = [{"name": name, "configuration": plugin} for name in _PLUGINS]
    write_private_yaml(configuration, {"apiVersion": _GROUP, "kind": "AdmissionConfiguration", "plugins": plugins})
    return {"admission-control-config-file": str(configuration)}


def _build_kubeconfig(tls: MutualTls, ports: Iterable[int]) -> Object:
    user = {"client-certificate": str(tls.client_certificate), "client-key": str(tls.client_key)}
    users = [{"name": f"{LOOPBACK}:{port}", "user": user} for port in ports]
    return {"apiVersion": "v1", "kind": "Config", "users": users}
