"""Debug pods: the output of common commands, from that pod's position in the network.

Only complete, known command lines are supported (``kubectl run x --image=busybox -- nslookup cart``, also several in
``sh -c``). Anything else runs as an unknown program: loops, pipes, servers.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from itertools import pairwise
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from scenario_kit.lab.twin.call_tree.routes import HttpRoute
from scenario_kit.lab.twin.cluster.cluster_view import View
from scenario_kit.lab.twin.cluster.dns import DOMAIN
from scenario_kit.lab.twin.cluster.files import read_mounted
from scenario_kit.lab.twin.network.endpoints import Destination, Network
from scenario_kit.lab.twin.network.http_chaos import pass_proxy
from scenario_kit.lab.twin.outcome import NO_ANSWER, ConnectionOutcome
from scenario_kit.lab.twin.process.process import Process

_SILENT: Final = frozenset({ConnectionOutcome.CONNECTION_TIMEOUT, *NO_ANSWER})
_RESOLVER: Final = "10.96.0.10"
_SHELLS: Final = ("sh", "bash", "ash")
#: Syntax that is not supported: loops, pipes, redirections, jobs, substitutions.
_TOO_MUCH: Final = ("|", ">", "<", "&", "`", "$(", "while", "until", "for ", "if ")
_UNANSWERED_SECONDS: Final = 10.0
_CONTENT: Final = "(answered; what pages hold is not simulated)"


class CommandResult(NamedTuple):
    """The result of a command: output, exit code, duration."""

    lines: tuple[str, ...] = ()
    code: int = 0
    seconds: float = 0.1


class _Viewpoint(NamedTuple):
    """The pod a command runs in."""

    view: View
    network: Network
    process: Process

    @property
    def home(self) -> str:
        return str(self.process.pod["metadata"].get("namespace", self.view.namespace))


def run_command(view: View, network: Network, process: Process) -> CommandResult | None:
    """Return the result of a container's command; None if it is not supported."""
    words = [str(w) for w in (*(process.spec.get("command") or ()), *(process.spec.get("args") or ()))]
    lines = _split_commands(words)
    if not lines or not all(line and line[0].rpartition("/")[2] in _COMMANDS for line in lines):
        return None
    if all(line[0].rpartition("/")[2] == "sleep" for line in lines):
        return None  # a placeholder that is meant to keep running
    place = _Viewpoint(view, network, process)
    whole = CommandResult(seconds=0.0)
    for line in lines:
        one = _COMMANDS[line[0].rpartition("/")[2]](place, line[1:])
        whole = CommandResult((*whole.lines, *one.lines), one.code, whole.seconds + one.seconds)
    return whole


def _split_commands(words: Sequence[str]) -> list[list[str]]:
    if len(words) >= 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-ec"):
        text = words[2].replace("&&", ";")
        if any(part in text for part in _TOO_MUCH):
            return []
        try:
            return [shlex.split(part) for part in text.split(";") if part.strip()]
        except ValueError:
            return []
    return [list(words)] if words else []


def _drop_options(words: Sequence[str], valued: str = "") -> list[str]:
    """Return the words that are not options; options in ``valued`` take an argument."""
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = len(word) == 2 and word[1] in valued
        else:
            found.append(word)
    return found


def _qualify_host(place: _Viewpoint, host: str) -> str:
    labels = host.rstrip(".").split(".")
    return ".".join((labels[0], labels[1] if len(labels) > 1 else place.home, *DOMAIN))


def _run_nslookup(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    host = next(iter(_drop_options(words, "tq")), "")
    head = (f"Server:\t\t{_RESOLVER}", f"Address:\t{_RESOLVER}:53", "")
    found = place.network.lookup(place.process.pod, host, 1)
    if found.outcome in NO_ANSWER:
        return CommandResult((";; connection timed out; no servers could be reached",), 1, _UNANSWERED_SECONDS)
    if not found.resolved:
        return CommandResult((*head, f"** server can't find {_qualify_host(place, host)}: NXDOMAIN"), 1)
    addresses = [d.ip for d in found.destinations] if len(found.destinations) > 1 else [found.ip]
    return CommandResult(
        (*head, *(t for ip in addresses for t in (f"Name:\t{_qualify_host(place, host)}", f"Address: {ip}")))
    )


def _run_dig(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    host = next((w for w in _drop_options(words) if not w.startswith(("+", "@"))), "")
    found = place.network.lookup(place.process.pod, host, 1)
    if found.outcome in NO_ANSWER:
        return CommandResult((";; no servers could be reached",), 9, _UNANSWERED_SECONDS)
    return CommandResult((found.ip,)) if found.resolved else CommandResult((), 0)


def _run_getent(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    host = words[-1] if words else ""
    found = place.network.lookup(place.process.pod, host, 1)
    return CommandResult((f"{found.ip}      {_qualify_host(place, host)}",)) if found.resolved else CommandResult((), 2)


class _Dialled(NamedTuple):
    """The result of a dial: ``ok`` or the error, the address, whether it speaks HTTP, the status, and the seconds that
    a proxy takes.
    """

    outcome: ConnectionOutcome
    ip: str = ""
    http: bool = False
    status: int = 0
    seconds: float = 0.0

    @property
    def duration(self) -> float:
        """The seconds that a command takes for it."""
        return (_UNANSWERED_SECONDS if self.outcome in _SILENT else 0.1) + self.seconds

    @property
    def reported(self) -> str:
        """The status line without the protocol."""
        phrases = {status.value: status.phrase for status in HTTPStatus}
        return f"{self.status} {phrases.get(self.status, '')}".rstrip()


def _dial(place: _Viewpoint, host: str, port: int, path: str = "/") -> _Dialled:
    network, pod = place.network, place.process.pod
    found = network.lookup(pod, host, port)
    if found.outcome != ConnectionOutcome.OK:
        return _Dialled(found.outcome, found.ip)
    for destination in found.destinations[:1]:
        return _reach(place, destination, Destination(found.ip, port), path)
    return _Dialled(ConnectionOutcome.CONNECTION_REFUSED, found.ip)


def _reach(place: _Viewpoint, destination: Destination, front: Destination, path: str) -> _Dialled:
    target, ip = place.network.pod_at(destination.ip), front.ip
    wire = place.network.wire(place.process.pod, target, destination.port, front=front) if target is not None else None
    if wire is None or wire.cut:
        return _Dialled(ConnectionOutcome.CONNECTION_TIMEOUT, ip)
    process = place.network.listener(destination)
    if process is None or process.ended:
        return _Dialled(ConnectionOutcome.CONNECTION_REFUSED, ip)
    listener = process.listener(destination.port)
    http = listener is not None and listener.protocol == "http"
    known = listener is not None and ("*" in listener.paths or path in listener.paths)
    delay, status = pass_proxy(wire.rules if http else (), HttpRoute("GET", path), 200 if known else 404)
    return _Dialled(ConnectionOutcome.OK if status else ConnectionOutcome.CONNECTION_RESET, ip, http, status, delay)


def _parse_target(words: Sequence[str], valued: str) -> tuple[str, int, str]:
    url = next(iter(_drop_options(words, valued)), "")
    parts = urlsplit(url if "//" in url else f"http://{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        port = 0
    return parts.hostname or "", port, parts.path or "/"


def _run_wget(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    host, port, path = _parse_target(words, "TOPUt")
    met = _dial(place, host, port, path)
    opening = f"Connecting to {host}:{port} ({met.ip}:{port})"
    if met.outcome == ConnectionOutcome.OK and met.http:
        if not 200 <= met.status < 300:
            return CommandResult((opening, f"wget: server returned error: HTTP/1.1 {met.reported}"), 1, met.duration)
        return CommandResult((_CONTENT,), 0, met.duration)
    if met.outcome in (ConnectionOutcome.OK, ConnectionOutcome.CONNECTION_RESET):
        return CommandResult((opening, "wget: error getting response"), 1, met.duration)
    messages = {
        ConnectionOutcome.CONNECTION_REFUSED: f"wget: can't connect to remote host ({met.ip}): Connection refused",
        ConnectionOutcome.CONNECTION_TIMEOUT: "wget: download timed out",
    }
    return CommandResult((messages.get(met.outcome, f"wget: bad address '{host}:{port}'"),), 1, met.duration)


def _run_curl(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    host, port, path = _parse_target(words, "mowXHdAu")
    met = _dial(place, host, port, path)
    if met.outcome == ConnectionOutcome.OK and met.http:
        if any(w.startswith("-") and not w.startswith("--") and set(w) & {"I", "i"} for w in words):
            return CommandResult((f"HTTP/1.1 {met.reported}",), 0, met.duration)
        written = next((w for option, w in pairwise(words) if option in ("-w", "--write-out")), "")
        return CommandResult(
            (written.replace("%{http_code}", str(met.status)).replace("\\n", ""),) if written else (_CONTENT,),
            0,
            met.duration,
        )
    messages = {
        ConnectionOutcome.OK: (1, "curl: (1) Received HTTP/0.9 when not allowed"),
        ConnectionOutcome.CONNECTION_RESET: (52, "curl: (52) Empty reply from server"),
        ConnectionOutcome.CONNECTION_REFUSED: (
            7,
            f"curl: (7) Failed to connect to {host} port {port} after 1 ms: Could not connect to server",
        ),
        ConnectionOutcome.CONNECTION_TIMEOUT: (
            28,
            f"curl: (28) Failed to connect to {host} port {port} after 10001 ms: Timeout was reached",
        ),
    }
    code, text = messages.get(met.outcome, (6, f"curl: (6) Could not resolve host: {host}"))
    return CommandResult((text,), code, met.duration)


def _run_nc(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    host, port = [*_drop_options(words, "w"), "", "0"][:2]
    met = _dial(place, host, int(port) if port.isdigit() else 0)
    if met.outcome == ConnectionOutcome.OK:
        return CommandResult((f"{host} ({met.ip}:{port}) open",))
    why = {
        ConnectionOutcome.CONNECTION_REFUSED: "Connection refused",
        ConnectionOutcome.CONNECTION_TIMEOUT: "Connection timed out",
    }.get(met.outcome)
    text = f"nc: {host} ({met.ip}:{port}): {why}" if why else f"nc: bad address '{host}'"
    return CommandResult((text,), 1, met.duration)


def _run_ping(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    host = next(iter(_drop_options(words, "cWwi")), "")
    found = place.network.lookup(place.process.pod, host, 1)
    if not found.resolved:
        return CommandResult((f"ping: bad address '{host}'",), 1)
    target = place.network.pod_at(found.ip)
    opening = f"PING {host} ({found.ip}): 56 data bytes"
    if target is None or place.network.wire(place.process.pod, target, 1).cut:
        text = "1 packets transmitted, 0 packets received, 100% packet loss"  # as for a Service's address
        return CommandResult((opening, "", f"--- {host} ping statistics ---", text), 1, _UNANSWERED_SECONDS)
    text = "1 packets transmitted, 1 packets received, 0% packet loss"
    answer = f"64 bytes from {found.ip}: seq=0 ttl=63 time=0.3 ms"
    return CommandResult((opening, answer, "", f"--- {host} ping statistics ---", text))


def _run_cat(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    lines: list[str] = []
    code = 0
    for path in _drop_options(words):
        text = _list_own_files(place).get(path)
        if text is None:
            text = read_mounted(place.view, place.process.pod, place.process.spec, path)
        if text is None:
            code, text = 1, f"cat: can't open '{path}': No such file or directory"
        lines += text.splitlines()
    return CommandResult(tuple(lines), code)


def _list_own_files(place: _Viewpoint) -> Mapping[str, str]:
    domains = " ".join(".".join(part) for part in ((place.home, *DOMAIN), DOMAIN, DOMAIN[1:]))
    return {
        "/etc/resolv.conf": f"search {domains}\nnameserver {_RESOLVER}\noptions ndots:5",
        "/etc/hosts": f"127.0.0.1\tlocalhost\n{place.process.ip}\t{place.process.name}",
        "/etc/hostname": place.process.name,
        "/var/run/secrets/kubernetes.io/serviceaccount/namespace": place.home,
    }


def _run_env(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    known = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOSTNAME": place.process.name,
        **place.process.env,
        "HOME": "/root",
    }
    named = _drop_options(words)
    if named:
        return CommandResult(tuple(known[n] for n in named if n in known), 0 if all(n in known for n in named) else 1)
    return CommandResult(tuple(f"{name}={value}" for name, value in known.items()))


def _run_ls(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    folders = ("bin", "dev", "etc", "home", "lib", "proc", "root", "sys", "tmp", "usr", "var")
    path = next(iter(_drop_options(words)), "/").rstrip("/") or "/"
    mounts = [str(m["mountPath"]) for m in place.process.spec.get("volumeMounts") or ()]
    if path == "/":
        return CommandResult(tuple(sorted({*folders, *(m.strip("/").partition("/")[0] for m in mounts)})))
    if path.strip("/") in folders or any(f"{m}/".startswith(f"{path}/") for m in mounts):
        return CommandResult(tuple(sorted(m.removeprefix(path).strip("/") for m in mounts if m.startswith(f"{path}/"))))
    return CommandResult((f"ls: {path}: No such file or directory",), 1)


def _run_ps(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    del words
    command = " ".join(map(str, (*(place.process.spec.get("command") or ()), *(place.process.spec.get("args") or ()))))
    return CommandResult(("PID   USER     TIME  COMMAND", f"    1 root      0:00 {command}"))


def _run_sleep(place: _Viewpoint, words: Sequence[str]) -> CommandResult:
    del place
    text = words[0].rstrip("s") if words else ""
    return (
        CommandResult((), 0, float(text))
        if text.replace(".", "", 1).isdigit()
        else CommandResult(("sleep: invalid number",), 1)
    )


_COMMANDS: Final[Mapping[str, Callable[[_Viewpoint, Sequence[str]], CommandResult]]] = {
    "nslookup": _run_nslookup, "dig": _run_dig, "host": _run_nslookup, "getent": _run_getent, "wget": _run_wget,
    "curl": _run_curl,
    "nc": _run_nc, "ping": _run_ping, "cat": _run_cat, "env": _run_env, "printenv": _run_env, "ls": _run_ls,
    "ps": _run_ps, "sleep": _run_sleep,
    "echo": lambda _, words: CommandResult((" ".join(words),)),
    "hostname": lambda place, _: CommandResult((place.process.name,)),
    "id": lambda _, __: CommandResult(("uid=0(root) gid=0(root) groups=0(root)",)),
    "whoami": lambda _, __: CommandResult(("root",)),
    "uname": lambda _, __: CommandResult(("Linux",)),
    "true": lambda _, __: CommandResult(),
    "false": lambda _, __: CommandResult((), 1),
}  # fmt: skip
