"""A heartbeat of the operator's event loop, once a second."""

from __future__ import annotations

import asyncio
from typing import Any

import kopf

from operators.monitoring.endpoint import Heartbeat

_BEAT_SECONDS = 1.0


def register_heartbeat(registry: kopf.OperatorRegistry, heartbeat: Heartbeat) -> None:
    """Register a heartbeat task that runs as long as the operator's event loop."""
    tasks: list[asyncio.Task[None]] = []

    @kopf.on.startup(registry=registry, id="heartbeat")
    async def start(**_: Any) -> None:
        tasks.append(asyncio.create_task(_beat(heartbeat)))

    @kopf.on.cleanup(registry=registry, id="heartbeat")
    async def stop(**_: Any) -> None:
        for task in tasks:
            task.cancel()


async def _beat(heartbeat: Heartbeat) -> None:
    while True:
        heartbeat.beat()
        await asyncio.sleep(_BEAT_SECONDS)
