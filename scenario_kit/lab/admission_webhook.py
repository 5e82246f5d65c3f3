"""The operator's own webhook in a lab: the API server reaches it on loopback, with a certificate that the lab made."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path

from scenario_kit.lab.control_plane.cluster import ADMISSION
from scenario_kit.lab.control_plane.webhook_access import locate_webhook_tls
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.host.supervisor import locate_pki
from scenario_kit.model.base import Object
from scenario_kit.schema.install import get_identity
from scenario_kit.schema.webhook import PATH, build_webhook_configuration


def locate_listener(lab: LabState) -> tuple[tuple[str, int], ssl.SSLContext] | None:
    """Locate where the operator answers, and its TLS; None in a lab that an earlier version made."""
    port = lab.ports.get(ADMISSION)
    if port is None:
        return None
    return (LOOPBACK, port), locate_webhook_tls(locate_pki(lab)).build_server_context()


def build_configuration(port: int, authority: Path) -> Object:
    """Build the webhook configuration that sends requests to the operator; ``authority`` signed its certificate."""
    bundle = base64.b64encode(authority.read_bytes()).decode()
    client = {"url": f"https://{LOOPBACK}:{port}{PATH}", "caBundle": bundle}
    return build_webhook_configuration(client, get_identity())
