"""Traces of one app in a lab, from the lab server's query API, which has a key for each namespace."""

from __future__ import annotations

from typing import Any, Final

import httpx

from scenario_kit.errors import LabError
from scenario_kit.lab.host import loopback
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.tracing.access import build_traces_path

_SECONDS: Final = 30.0


class LabTraces:
    """Implements ``solver.gateway.traces.TraceStore``."""

    def __init__(self, lab: LabState, namespace: str) -> None:
        path = build_traces_path(lab.server_token, namespace)
        self._client = loopback.create_client(base_url=f"{lab.server_url}{path}/jaeger/api/", timeout=_SECONDS)

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
