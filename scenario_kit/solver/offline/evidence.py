"""A snapshot as data source of a solver's tools: the state at hand-over, loaded lazily."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from scenario_kit.errors import AuthoringError, NotFound
from scenario_kit.model import AlertHistory, Object
from scenario_kit.model.runtime.trace import Trace
from scenario_kit.ports import LogLine, Series
from scenario_kit.snapshot.reader import SnapshotFolder
from scenario_kit.solver.offline.alerts_and_events import build_history, list_events
from scenario_kit.solver.offline.logs_and_traces import read_lines, read_traces
from scenario_kit.solver.offline.metrics import read_series
from scenario_kit.solver.offline.state import list_present


class SnapshotEvidence:
    """The content of a snapshot, cached in memory; spans take about three times their file size."""

    def __init__(self, folder: SnapshotFolder) -> None:
        self._folder = folder

    @property
    def folder(self) -> SnapshotFolder:
        """The folder of the snapshot."""
        return self._folder

    @cached_property
    def now(self) -> float:
        """The end of the snapshot, which is the hand-over, in seconds since the epoch.

        Raises:
            AuthoringError: the folder has neither a manifest nor alerts.
        """
        if self._folder.manifest is not None:
            return self._folder.manifest.times.handover.seconds
        last = self._folder.read_last_alerts()
        if last is None:
            raise AuthoringError(
                f"{self._folder.folder} has no end time",
                fix="a folder with manifest.json, or with alerts/alerts_at_<time>.json",
            )
        return last.at

    @cached_property
    def objects(self) -> list[Object]:
        """The objects at the end of the snapshot, with events."""
        exact = self._folder.manifest is not None
        return [*list_present(self._folder.read_objects(), exact=exact), *list_events(self._folder.read_events())]

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces with pods; the one with the most pods, the app's, is first."""
        counts = Counter(str(o["metadata"].get("namespace", "")) for o in self.objects if o["kind"] == "Pod")
        return tuple(sorted(counts, key=lambda name: (-counts[name], name)))

    @cached_property
    def alerts(self) -> AlertHistory:
        """The alerts pending or firing at the end of the snapshot."""
        last = self._folder.read_last_alerts()
        return build_history(last.alerts if last is not None else (), self.now)

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        """Return the lines of a pod, oldest first.

        Raises:
            NotFound: there is no such pod.
        """
        if pod.get("kind", "Pod") != "Pod":
            raise NotFound(f"{pod.get('kind')} has no lines")
        return [line for line in self._lines.get(pod["metadata"]["name"], ()) if line.at >= since]

    def list_traces(self, start: float, end: float) -> list[Trace]:
        """List the traces that started between two times."""
        return [trace for trace in self._traces if start <= trace.start <= end]

    def read_series(self) -> Iterator[Series]:
        """Stream the series without caching them."""
        return read_series(self._folder)

    @cached_property
    def _lines(self) -> dict[str, list[LogLine]]:
        return read_lines(self._folder.read_logs(), self.list("Pod"))

    @cached_property
    def _traces(self) -> list[Trace]:
        return read_traces(self._folder.read_spans())

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """List objects of a kind, in one namespace or (empty) in all; see ``ports.Cluster``."""
        del group  # kinds are unique in a snapshot
        desired = (labels or {}).items()
        return [
            o for o in self.objects
            if o["kind"] == kind and namespace in ("", o["metadata"].get("namespace", ""))
            and desired <= (o["metadata"].get("labels") or {}).items()
        ]  # fmt: skip
