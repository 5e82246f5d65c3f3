"""The operator's own webhook in a lab: the API server reaches it on loopback, with a certificate that the lab made."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

from scenario_kit.lab import chaos_manager
from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.lab.host.state import LabState
from scenario_kit.model.base import Object
from scenario_kit.schema.install import get_identity
from scenario_kit.schema.webhook import PATH, build_webhook_configuration

#: The port, by its purpose.
ADMISSION: Final = "admission-webhook"


def locate_listener(lab: LabState) -> tuple[tuple[str, int], Path, Path] | None:
    """Locate where the operator answers, its certificate and key; None in a lab that an earlier version made."""
    port = lab.ports.get(ADMISSION)
    if port is None:
        return None
    pair = chaos_manager.locate_certificate(Path(lab.folder))
    return (LOOPBACK, port), pair.with_suffix(".crt"), pair.with_suffix(".key")


def build_configuration(port: int, authority: Path) -> Object:
    """Build the configuration by which the API server asks the operator; ``authority`` signed its certificate."""
    bundle = base64.b64encode(authority.read_bytes()).decode()
    client = {"url": f"https://{LOOPBACK}:{port}{PATH}", "caBundle": bundle}
    return build_webhook_configuration(client, get_identity())
