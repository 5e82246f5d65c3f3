"""Stores recordings of the real node with the pods that were applied."""

from __future__ import annotations

from pathlib import Path

import msgspec

from scenario_kit.model.base import Object, Value
from tools.reality.recording import Recording

FOLDER = Path(__file__).parent / "recorded"


class Fixture(Value, frozen=True, kw_only=True):
    """A recording, and the pod as stored by the API server: with defaults, without status."""

    pod: Object
    recording: Recording

    @classmethod
    def of(cls, pod: Object, recording: Recording) -> Fixture:
        """Build a fixture from the created ``pod``."""
        meta = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
        return cls(pod={"metadata": {**meta, "generation": 1}, "spec": pod["spec"]}, recording=recording)


def write(folder: Path, fixture: Fixture) -> None:
    """Write it to the folder under the case's name."""
    folder.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(fixture), indent=1)
    (folder / f"{fixture.recording.case}.json").write_bytes(text + b"\n")


def read(folder: Path = FOLDER) -> dict[str, Fixture]:
    """Read all fixtures, by case."""
    return {
        path.stem: Fixture.from_json(msgspec.json.decode(path.read_bytes())) for path in sorted(folder.glob("*.json"))
    }
