"""Init containers that wait, parsed from their shell commands."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.environment import build_environment, expand
from scenario_kit.lab.twin.network.endpoints import Destination, Network
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.process_table import read_start
from scenario_kit.lab.twin.startup.shell_conditions import resolve_conditions
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import InitState

#: The maximum length of a parsed script; parsing time is quadratic.
_READ: Final = 4096
_NC = re.compile(
    r"\b(?:nc|ncat)\s+(?:-[a-zA-Z]+\d*(?:\s+\d+(?=\s+[A-Za-z]))?\s+)*(?P<host>[A-Za-z][\w.-]*)(?:\s+|:)(?P<port>\d{1,5})\b"
)
_URL = re.compile(r"\b(?:curl|wget)\b[^;|&]*?https?://(?P<host>[A-Za-z][\w.-]*)(?::(?P<port>\d{1,5}))?")
_NAME = re.compile(r"\b(?:nslookup|getent\s+hosts)\s+(?P<host>[A-Za-z][\w.-]*)")
_ECHO = re.compile(r"\becho\s+(?P<text>[^;&|]+)")
_FOREVER = re.compile(r"\bsleep\s+(?:inf|infinity)\b|\btail\s+-f\s+/dev/null\b")
_SLEEP = re.compile(r"\bsleep\s+(?P<seconds>\d{1,18})\b")
#: The end of a script. Behind an operator or in a block, it depends on something that is not simulated.
_EXIT = re.compile(r"(?:^|(?P<guard>\|\||&&|\bthen\b|\belse\b)|[;&\s])\s*exit\s+(?P<code>[1-9]\d{0,8})\b")
_OPENING, _CLOSING = re.compile(r"(?:^|[;\s])(?:if|case)\s"), re.compile(r"(?:^|[;\s])(?:fi|esac)\b")
_LOOP = re.compile(r"\b(?:until|while)\b")
_SHELL = re.compile(r"\$\{(?P<braced>\w+)\}|\$(?P<plain>[A-Za-z_]\w*)")


class Script(NamedTuple):
    """The command of an init container with variables expanded; ``name`` is the container's."""

    text: str
    name: str


class Wait(NamedTuple):
    """One condition of a script: a port (``port`` > 0), a name, a duration, or none that is ever met."""

    host: str = ""
    port: int = 0
    seconds: float = 0.0
    forever: bool = False
    code: int = 0
    echo: str = ""
    container: str = ""

    def state(self, pod: Object, network: Network, now: float) -> InitState | None:
        """Return the init container's state while this condition is unmet; None once it is met."""
        if self.code:
            return InitState("Failed", self.code)
        if self.forever:
            return InitState("Running")
        if self.seconds:
            return InitState("Running") if now - self._began(pod, now) < self.seconds else None
        found = network.lookup(pod, self.host, self.port or 1)
        if not found.resolved:
            return InitState(
                "Running",
                0,
                self._lines(f"nc: bad address '{self.host}'" if self.port else f"can't resolve '{self.host}'"),
            )
        if not self.port or self._is_answered(pod, network, now):
            return None
        why = "Connection timed out" if found.outcome == ConnectionOutcome.CONNECTION_TIMEOUT else "Connection refused"
        return InitState("Running", 0, self._lines(f"nc: {self.host} ({found.ip}:{self.port}): {why}"))

    def _is_answered(self, pod: Object, network: Network, now: float) -> bool:
        found = network.lookup(pod, self.host, self.port)
        for destination in found.destinations:
            target, listener = network.pod_at(destination.ip), network.listener(destination)
            if target is None or listener is None or not listener.serves(now):
                continue
            if target["metadata"].get("uid") == pod["metadata"].get("uid"):
                continue  # its own containers only start once this one has ended
            if not network.wire(pod, target, destination.port, front=Destination(found.ip, self.port)).cut:
                return True
        return False

    def _began(self, pod: Object, now: float) -> float:
        for status in (pod.get("status") or {}).get("initContainerStatuses") or ():
            running = (status.get("state") or {}).get("running")
            if status["name"] == self.container and running:
                return read_start(running, now)
        return now

    def _lines(self, first: str) -> tuple[str, ...]:
        return (first, self.echo) if self.echo else (first,)


def read_script(view: View, pod: Object, spec: Object) -> Script:
    """Return the command of a container as one text."""
    env = build_environment(view, pod, spec)
    words = [expand(str(word), env) for word in (*(spec.get("command") or ()), *(spec.get("args") or ()))]
    text = _SHELL.sub(lambda m: env.get(m["braced"] or m["plain"], m[0]), " ".join(words))
    hostname = str((pod.get("spec") or {}).get("hostname") or pod["metadata"]["name"])
    return Script(resolve_conditions(text[:_READ], hostname), str(spec["name"]))


def waits(found: Script) -> tuple[Wait, ...]:
    """Return the conditions of a script, in no particular order; all must be met."""
    text = found.text[:_READ]
    echo = m["text"].strip().strip("'\"") if (m := _ECHO.search(text)) else ""
    result = [Wait(m["host"], int(m["port"]), echo=echo) for m in _NC.finditer(text)]
    result += [Wait(m["host"], int(m["port"] or 80), echo=echo) for m in _URL.finditer(text)]
    result += [Wait(m["host"], echo=echo) for m in _NAME.finditer(text)]
    if _FOREVER.search(text):
        result.append(Wait(forever=True))
    elif not result and not _LOOP.search(text):
        if match := _SLEEP.search(text):
            result.append(Wait(seconds=float(match["seconds"]), container=found.name))
        result += [Wait(code=int(m["code"])) for m in _EXIT.finditer(text) if _is_unconditional(text, m)][:1]
    return tuple(result)


def explain_wait(wait: Wait) -> str:
    """Explain why an init container never succeeds."""
    if wait.code:
        return f"ends with exit code {wait.code}, so the pod never starts"
    if wait.forever:
        return "never ends, so the pod never starts"
    if wait.port:
        return f"waits for {wait.host}:{wait.port}, where nothing but this pod could answer, so it never starts"
    return f"waits for the name {wait.host}, which does not exist, so the pod never starts"


def _is_unconditional(text: str, end: re.Match[str]) -> bool:
    before = text[: end.start()]
    return not end["guard"] and len(_OPENING.findall(before)) <= len(_CLOSING.findall(before))
