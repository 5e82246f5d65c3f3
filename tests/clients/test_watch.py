"""Watching: a real API server, and a scripted one for what real ones seldom do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.clients import KubeCluster
from scenario_kit.clients.transport import Transport
from scenario_kit.clients.watch import Collection, follow
from scenario_kit.errors import Forbidden, Unreachable
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Kind


def config(namespace: str, name: str, **data: str) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def take(events: Iterator[tuple[str, Object]], count: int) -> list[tuple[str, str]]:
    taken = [next(events) for _ in range(count)]
    return [(type_, obj["metadata"]["name"] if obj else "") for type_, obj in taken]


@pytest.mark.lab
def test_watch_lists_then_streams_events(kube: KubeCluster, kube_namespace: str) -> None:
    stop = threading.Event()
    kube.create(config(kube_namespace, "first"))
    events = kube.watch("ConfigMap", namespace=kube_namespace, stop=stop)
    assert take(events, 2) == [("ADDED", "first"), ("SYNCED", "")]
    kube.create(config(kube_namespace, "second"))
    kube.patch(Reference("ConfigMap", "first", kube_namespace), {"data": {"a": "b"}})
    kube.delete(Reference("ConfigMap", "second", kube_namespace))
    assert take(events, 3) == [("ADDED", "second"), ("MODIFIED", "first"), ("DELETED", "second")]
    stop.set()
    assert list(events) == []


@pytest.mark.lab
def test_stop_unblocks_waiting_watch(kube: KubeCluster, kube_namespace: str) -> None:
    stop, synced = threading.Event(), threading.Event()

    def follow() -> None:
        for type_, _ in kube.watch("ConfigMap", namespace=kube_namespace, stop=stop):
            if type_ == "SYNCED":
                synced.set()

    thread = threading.Thread(target=follow)
    thread.start()
    assert synced.wait(20)
    stop.set()
    thread.join(20)
    assert not thread.is_alive()


PODS = Collection(Kind("", "v1", "Pod", "pods", True))
Answer = tuple[int, bytes]


def pod(name: str, version: int) -> Object:
    return {"metadata": {"name": name, "uid": name, "resourceVersion": str(version)}}


def reply_list(version: int, *pods: Object) -> Answer:
    return 200, json.dumps({"metadata": {"resourceVersion": str(version)}, "items": pods}).encode()


def reply_watch(*events: tuple[str, Object]) -> Answer:
    return 200, "".join(json.dumps({"type": t, "object": o}) + "\n" for t, o in events).encode()


GONE = ("ERROR", {"kind": "Status", "code": 410, "message": "too old resource version"})


@pytest.mark.parametrize(
    ("answers", "expected", "requests"),
    [
        pytest.param(
            [reply_list(5), reply_watch(("ADDED", pod("a", 6))), reply_watch(("MODIFIED", pod("a", 7)))],
            [("SYNCED", ""), ("ADDED", "a"), ("MODIFIED", "a")],
            ["", "5", "6"],
            id="a watch that ends goes on where it was",
        ),
        pytest.param(
            [reply_list(5), reply_watch(("BOOKMARK", pod("", 9))), reply_watch(("ADDED", pod("a", 10)))],
            [("SYNCED", ""), ("ADDED", "a")],
            ["", "5", "9"],
            id="a bookmark moves on without a word",
        ),
        pytest.param(
            [
                reply_list(5, pod("stays", 1), pod("goes", 2), pod("changes", 3)),
                reply_watch(GONE),
                reply_list(20, pod("stays", 1), pod("changes", 18), pod("comes", 19)),
            ],
            [
                ("ADDED", "stays"), ("ADDED", "goes"), ("ADDED", "changes"), ("SYNCED", ""),
                ("DELETED", "goes"), ("MODIFIED", "changes"), ("ADDED", "comes"), ("SYNCED", ""),
            ],
            ["", "5", ""],
            id="a forgotten version is listed again, and only differences are told",
        ),
        pytest.param(
            [reply_list(5), (410, b"{}"), reply_list(8, pod("a", 7))],
            [("SYNCED", ""), ("ADDED", "a"), ("SYNCED", "")],
            ["", "5", ""],
            id="a version refused at once",
        ),
        pytest.param(
            [reply_list(5), reply_watch(GONE), (503, b"{}"), reply_list(8, pod("a", 7))],
            [("SYNCED", ""), ("ADDED", "a"), ("SYNCED", "")],
            ["", "5", "", ""],
            id="an empty kind is listed again while the server is away",
        ),
        pytest.param(
            [reply_list(5), (503, b"{}"), reply_watch(("ADDED", pod("a", 6)))],
            [("SYNCED", ""), ("ADDED", "a")],
            ["", "5", "5"],
            id="a server that is away for a moment",
        ),
        pytest.param(
            [reply_list(5), (200, b'{"type": "ADDED", "obj'), reply_watch(("ADDED", pod("a", 6)))],
            [("SYNCED", ""), ("ADDED", "a")],
            ["", "5", "5"],
            id="half an event",
        ),
        pytest.param(
            [reply_list(5), reply_watch(), reply_watch(("ADDED", pod("a", 6)))],
            [("SYNCED", ""), ("ADDED", "a")],
            ["", "5", "5"],
            id="a watch that ends without an event",
        ),
    ],
)  # fmt: skip
def test_watch_recovers_from_errors(
    tmp_path: Path,
    scripted: Callable[..., Any],
    kubeconfig_for: Callable[[str], Path],
    answers: list[Answer],
    expected: list[tuple[str, str]],
    requests: list[str],
) -> None:
    stop = threading.Event()
    script = scripted(*answers, (503, b"{}"))
    events = follow(Transport(kubeconfig_for(script.url)), PODS, "/api/v1/pods", stop)
    assert take(events, len(expected)) == expected
    stop.set()
    versions = [path.partition("resourceVersion=")[2].partition("&")[0] for path in script.seen]
    assert versions[: len(requests)] == requests


@pytest.mark.parametrize(("answer", "error"), [((503, b"{}"), Unreachable), ((401, b"{}"), Forbidden)])
def test_failed_first_list_raises(
    scripted: Callable[..., Any], kubeconfig_for: Callable[[str], Path], answer: Answer, error: type[Exception]
) -> None:
    events = follow(Transport(kubeconfig_for(scripted(answer).url)), PODS, "/api/v1/pods", threading.Event())
    with pytest.raises(error):
        next(events)


def test_watch_pauses_before_it_asks_a_server_again_that_ends_every_watch_at_once(
    scripted: Callable[..., Any], kubeconfig_for: Callable[[str], Path]
) -> None:
    pauses: list[float | None] = []

    class RecordingEvent(threading.Event):
        """Record the pauses of the watch instead of making them."""

        def wait(self, timeout: float | None = None) -> bool:
            if threading.current_thread().name != "watch-stop":
                pauses.append(timeout)
                return self.is_set()
            return super().wait(timeout)

    stop = RecordingEvent()
    script = scripted(reply_list(5), reply_watch(), reply_watch(), reply_watch(("ADDED", pod("a", 6))))
    take(follow(Transport(kubeconfig_for(script.url)), PODS, "/api/v1/pods", stop), 2)
    stop.set()
    assert pauses == [0.05, 0.05]
