"""The file system injector: accepted rules and mounts, with errors as from the real daemon."""

from typing import Any

import pytest

from scenario_kit.lab.chaos_daemon import io_chaos
from scenario_kit.lab.chaos_daemon.network import NotSimulated

_FAILED = "toda startup takes too long or an error occurs: "


@pytest.mark.parametrize(("volume", "mount"), [("/data/db", "/data/db"), ("/data/db/", "/data/db"), ("/logs", "/logs")])
def test_mount_point_can_be_moved_aside(volume: str, mount: str) -> None:
    assert io_chaos.require_mount(volume, ["/data/db", "/logs/"]) == mount


@pytest.mark.parametrize(
    ("volume", "answer"),
    [
        ("/", "path is the root"),
        ("/data", "source: /data, target: /__chaosfs__data__"),
        ("/data/db/journal", "source: /data/db/journal, target: /data/db/__chaosfs__journal__"),
    ],
)
def test_unmountable_volume_is_refused(volume: str, answer: str) -> None:
    with pytest.raises(ValueError, match=f"^{_FAILED}{answer}$"):
        io_chaos.require_mount(volume, ["/data/db", "/logs/"])


@pytest.mark.parametrize(
    ("latency", "seconds"), [("1s", 1.0), ("250ms", 0.25), ("1m30s", 90.0), ("1m 30s", 90.0), ("10us", 1e-5)]
)
def test_delays_in_seconds(latency: str, seconds: float) -> None:
    (action,) = io_chaos.parse_actions([{"type": "latency", "latency": latency, "path": "", "source": "kit/x"}])
    assert action == {"type": "latency", "path": "", "delaySeconds": pytest.approx(seconds)}


@pytest.mark.parametrize(
    ("action", "error"),
    [
        ({"type": "latency"}, "is no duration"),
        ({"type": "latency", "latency": "1.5s"}, "is no duration"),  # unlike Go
        ({"type": "latency", "latency": "soon"}, "is no duration"),
        ({"type": "tear"}, "not simulated"),
    ],
)
def test_invalid_io_action_is_refused(action: dict[str, Any], error: str) -> None:
    with pytest.raises((ValueError, NotSimulated), match=error):
        io_chaos.parse_actions([action])
