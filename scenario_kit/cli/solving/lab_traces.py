"""Traces of one app in a lab, from the lab server's query API, which needs no token for a single namespace."""

from __future__ import annotations

from typing import Any, Final

import httpx

from scenario_kit.errors import LabError
from scenario_kit.lab.host import loopback
from scenario_kit.lab.host.state import LabState

_SECONDS: Final = 30.0


class LabTraces:
    """Implements ``solver.gateway.traces.TraceStore``."""

    def __init__(self, lab: LabState, namespace: str) -> None:
        self._client = loopback.create_client(
            base_url=f"{lab.server_url}/worlds/{namespace}/jaeger/api/", timeout=_SECONDS
        )

    def ask(self, path: str, query: str = "") -> tuple[int, dict[str, Any]]:
        """Query a path; see ``TraceStore``."""
        try:
            response = self._client.get(f"{path}?{query}" if query else path)
            document: dict[str, Any] = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise LabError(f"cannot read traces from the lab server: {error}", fix="scenario-kit lab status") from error
        return response.status_code, document

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
