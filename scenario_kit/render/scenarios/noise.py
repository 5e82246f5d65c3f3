"""Background noise of a scenario and its schedule. Pure; the schedule depends on the seed alone.

Times lie on a 15 s grid that starts when the app is ready, so that a virtual clock hits them exactly. The same seed
yields the same noise, however often a trial is resumed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Object
from scenario_kit.model.authored.noise import Noise, NoiseLoad, NoiseScale, NoiseSource
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.pod_template import list_containers
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.objects.lookup import find_object
from scenario_kit.render.templating.authoring_error import build_error

GRID: Final = GRID_SECONDS
#: The sizes of load swings, in percent of ``percent``; each occurrence draws one.
_SIZES: Final = (50, 60, 70, 80, 90, 100)
_SCALED: Final = ("Deployment", "StatefulSet")


class Event(NamedTuple):
    """The ``number``-th occurrence of a source, active from ``at`` until ``until`` (None: instantaneous)."""

    source: str
    number: int
    at: float
    until: float | None
    change: Change
    users: int = 0


def build_sources(
    noise: Iterable[Noise], app: App, objects: Sequence[Object], namespace: str, users: int
) -> tuple[NoiseSource, ...]:
    """Build the noise of a scenario as changes of this app.

    Raises:
        AuthoringError: a target is missing or of the wrong kind, or the app does not declare its load settings.
    """
    return tuple(_build_source(each, app, objects, namespace, users) for each in noise)


def _build_source(noise: Noise, app: App, objects: Sequence[Object], namespace: str, users: int) -> NoiseSource:
    counts = _list_user_counts(noise.load, users) if noise.load is not None else ()
    return NoiseSource(
        name=noise.name,
        changes=tuple(_set_users(noise, app, objects, namespace, n) for n in counts)
        or _build_target_changes(noise, objects, namespace),
        every_seconds=noise.every_seconds,
        jitter_percent=noise.jitter_percent,
        for_seconds=noise.for_seconds,
        users=counts,
    )


def _build_target_changes(noise: Noise, objects: Sequence[Object], namespace: str) -> tuple[Change, ...]:
    if noise.scale is not None:
        return _build_scaled(noise, noise.scale, objects, namespace)
    _find_target(noise, objects, namespace, WORKLOADS)
    return (Change.from_json({"restart": {"target": noise.target}}),)


def _list_user_counts(load: NoiseLoad, users: int) -> tuple[int, ...]:
    sizes = (users * load.percent * share // 10_000 for share in _SIZES)
    return tuple(dict.fromkeys(users + max(1, size) for size in sizes))


def _build_scaled(noise: Noise, scale: NoiseScale, objects: Sequence[Object], namespace: str) -> tuple[Change, ...]:
    now = int(_find_target(noise, objects, namespace, _SCALED)["spec"].get("replicas", 1))
    counts = range(now + 1, now + scale.add_replicas + 1)
    return tuple(Change.from_json({"scale": {"target": scale.target, "replicas": n}}) for n in counts)


def _find_target(noise: Noise, objects: Sequence[Object], namespace: str, kinds: tuple[str, ...]) -> Object:
    ref = noise.target
    if ref is None or ref.kind not in kinds:
        raise _build_refusal(noise, f"'{noise.target}' must be one of {', '.join(kinds)}")
    return find_object(objects, ref, namespace, f"noise '{noise.name}'", "SK136")


def _set_users(noise: Noise, app: App, objects: Sequence[Object], namespace: str, users: int) -> Change:
    workload = next((c.workload for c in app.components if c.role == "Load"), None)
    if app.load is None or not workload:
        raise _build_refusal(noise, f"{app.name} {app.version} does not declare the user setting of its load generator")
    if flag := app.load.users.flag:
        return Change.from_json({"setFlag": {"flag": flag, "variant": str(users), "value": users}})
    generator = find_object(objects, workload, namespace, f"noise '{noise.name}'", "SK136")
    variable = app.load.users.env
    name = next(
        (c["name"] for c in list_containers(generator) if any(e["name"] == variable for e in c.get("env") or [])), ""
    )
    if not name:
        raise _build_refusal(noise, f"no container of {workload} reads {variable}")
    env = [{"name": variable, "value": str(users)}]
    template = {"spec": {"containers": [{"name": name, "env": env}]}}
    patch = {"target": workload, "type": "Strategic", "patch": {"spec": {"template": template}}}
    return Change.from_json({"patch": patch})


def _build_refusal(noise: Noise, because: str) -> AuthoringError:
    return build_error("SK136", f"noise '{noise.name}' is impossible: {because}", fix="choose another target")


def compute_occurrence(source: NoiseSource, seed: int, start: float, number: int) -> Event:
    """Compute the ``number``-th occurrence, counted from 0; the first comes about half a period after ``start``."""
    middle = source.every_seconds * (number + 0.5)
    shift = (2 * _draw(seed, source.name, number, "when") - 1) * source.every_seconds * source.jitter_percent / 100
    at = start + GRID * round((middle + shift) / GRID)
    index = int(_draw(seed, source.name, number, "what") * len(source.changes))
    until = at + GRID * -(-source.for_seconds // GRID) if source.for_seconds else None
    users = source.users[index] if source.users else 0
    return Event(source.name, number, at, until, source.changes[index], users)


def find_latest(source: NoiseSource, seed: int, start: float, now: float) -> Event | None:
    """Return the last occurrence that started by ``now``; None before the first."""
    number = max(int((now - start) // source.every_seconds) + 1, 0)
    while number >= 0:
        event = compute_occurrence(source, seed, start, number)
        if event.at <= now:
            return event
        number -= 1
    return None


def list_events(noise: Iterable[NoiseSource], seed: int, start: float, end: float) -> list[Event]:
    """List all occurrences that start between ``start`` and ``end``, by time."""
    return sorted(
        (e for source in noise for e in _list_source_events(source, seed, start, end)), key=lambda e: (e.at, e.source)
    )


def _list_source_events(source: NoiseSource, seed: int, start: float, end: float) -> Iterator[Event]:
    number = 0
    while (event := compute_occurrence(source, seed, start, number)).at <= end:
        yield event
        number += 1


def _draw(seed: int, name: str, number: int, what: str) -> float:
    """Draw a number from [0, 1) that depends on all arguments."""
    digest = hashlib.sha256(f"{seed}/{name}/{number}/{what}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
