"""Logs for a solver: lines of the app's pods, queried with a subset of LogQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec
import re2

from scenario_kit.errors import Forbidden, NotFound, Rejected
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.ports import LogLine
from scenario_kit.solver.gateway.answers import BadCall, ToolAnswer, cut_middle

#: Maximum number of lines in an answer; the newest are kept.
MAX_LINES: Final = 500
_SELECTOR: Final = re.compile(r"\s*\{(?P<inside>[^{}]*)\}(?P<filters>.*)$", re.S)
_MATCHER: Final = re.compile(
    r'\s*(?P<label>[A-Za-z_]\w*)\s*(?P<op>=~|!~|!=|=)\s*(?P<value>"(?:\\.|[^"\\])*"|`[^`]*`)\s*(?:,|$)'
)
_FILTER: Final = re.compile(r'\s*(?P<op>\|=|!=|\|~|!~)\s*(?P<value>"(?:\\.|[^"\\])*"|`[^`]*`)')
#: Labels of a pod that name its app, most specific first.
_APP_LABELS: Final = ("app.kubernetes.io/component", "app.kubernetes.io/name", "app")
_EXAMPLE: Final = '{app="cart"} |= "error"'


class PodReader(Protocol):
    """The part of ``ports.Cluster`` that reads pods and their logs."""

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """List objects of a kind; see ``ports.Cluster``."""

    def logs(self, pod: Object, *, since: float = 0.0) -> Sequence[LogLine]:
        """Return the lines of a pod; see ``ports.Cluster``."""


class LogLabels(NamedTuple):
    """The log labels of one container."""

    namespace: str
    pod: str
    container: str
    app: str


class LogQuery(NamedTuple):
    """Predicates on a container's labels and on the text of a line."""

    labels: tuple[tuple[str, Callable[[str], bool]], ...]
    lines: tuple[Callable[[str], bool], ...]

    def chooses(self, labels: Mapping[str, str]) -> bool:
        """Return whether the stream selector matches a container's labels."""
        return all(holds(labels.get(name, "")) for name, holds in self.labels)

    def matches(self, text: str) -> bool:
        """Return whether a line passes the filters."""
        return all(holds(text) for holds in self.lines)


def parse_log_query(query: str) -> LogQuery:
    """Parse ``{label="value", …} |= "text" …``; operators are = != =~ !~ and |= != |~ !~ (RE2).

    Raises:
        BadCall: the query is invalid.
    """
    found = _SELECTOR.match(query)
    if found is None:
        raise BadCall(f"no stream selector: {query!r}", f"for example: {_EXAMPLE}")
    labels = []
    for name, op, value in _read_all(_MATCHER, found["inside"], query):
        if name not in LogLabels._fields:
            raise BadCall(f"no label {name!r}", f"labels: {', '.join(LogLabels._fields)}")
        labels.append((name, _build_predicate(op, value, whole=True)))
    lines = [_build_predicate(op, value, whole=False) for _, op, value in _read_all(_FILTER, found["filters"], query)]
    return LogQuery(tuple(labels), tuple(lines))


def _read_all(pattern: re.Pattern[str], text: str, query: str) -> list[tuple[str, str, str]]:
    found, at = [], 0
    while text[at:].strip():
        match = pattern.match(text, at)
        if match is None:
            raise BadCall(f"cannot be read: {text[at:].strip()!r} in {query!r}", f"for example: {_EXAMPLE}")
        found.append((match.groupdict().get("label") or "", match["op"], _unquote(match["value"])))
        at = match.end()
    return found


def _unquote(text: str) -> str:
    if text.startswith("`"):
        return text[1:-1]
    try:
        return str(msgspec.json.decode(text))
    except msgspec.DecodeError:
        return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def _build_predicate(op: str, value: str, *, whole: bool) -> Callable[[str], bool]:
    if "~" in op:
        try:
            pattern = re2.compile(value)
        except re2.error as error:
            raise BadCall(f"{value!r} is not an RE2 pattern: {error}", "correct it") from error
        matches = pattern.fullmatch if whole else pattern.search
        return (lambda text: not matches(text)) if op.startswith("!") else (lambda text: bool(matches(text)))
    if whole:
        return (lambda text: text != value) if op == "!=" else (lambda text: text == value)
    return (lambda text: value not in text) if op == "!=" else (lambda text: value in text)


def list_labels(pods: Iterable[Object]) -> list[LogLabels]:
    """List the log labels of all containers of pods."""
    found = []
    for pod in pods:
        meta = pod["metadata"]
        labels = meta.get("labels") or {}
        app = next((labels[name] for name in _APP_LABELS if labels.get(name)), "")
        found += [
            LogLabels(meta["namespace"], meta["name"], container["name"], app)
            for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])
        ]
    return found


def query_logs(cluster: PodReader, query: str, namespaces: Sequence[str], since: float) -> ToolAnswer:
    """Return the newest lines since a time that match a query, oldest first."""
    log_query = parse_log_query(query)
    lines = []
    for namespace in namespaces:
        for pod in cluster.list("Pod", namespace):
            labels = {each.container: each for each in list_labels([pod]) if log_query.chooses(each._asdict())}
            for line in _read(cluster, pod, since) if labels else ():
                if line.container in labels and log_query.matches(line.text):
                    lines.append(line)
    lines.sort(key=lambda line: (line.at, line.pod))
    left = f"… {len(lines) - MAX_LINES} older lines left out …\n" if len(lines) > MAX_LINES else ""
    shown = (f"{format_timestamp(line.at)} {line.pod} {line.container} {line.text}" for line in lines[-MAX_LINES:])
    return ToolAnswer(content=cut_middle(left + "\n".join(shown)) if lines else "(no lines)")


def _read(cluster: PodReader, pod: Object, since: float) -> Sequence[LogLine]:
    try:
        return cluster.logs(pod, since=since)
    except (Forbidden, NotFound, Rejected):
        return ()
