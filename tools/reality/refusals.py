"""How the kernel refuses dials of an address that a rule of the packet filter rejects, as kube-proxy's does.

A node and a pod are network namespaces with a pair of interfaces between them; the pod dials at random times.

python -m tools.reality.refusals FILE    record DIALLINGS to a file; needs root, iproute2, iptables and util-linux
"""

from __future__ import annotations

import errno
import platform
import random
import selectors
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.model.base import Value

#: The recording, and the versions that it was recorded with.
FILE: Final = Path(__file__).parent / "refusals.json"
_SERVICE: Final = ("10.99.0.1", 80)
_NODE: Final = """
set -e
ip link set lo up
unshare --net sleep 600 & pod=$!
trap 'kill $pod' EXIT
sleep 0.3
ip link add veth0 type veth peer name eth0 netns $pod
ip addr add 10.1.0.1/24 dev veth0
ip link set veth0 up
echo 1 > /proc/sys/net/ipv4/ip_forward
iptables -A FORWARD -d {ip}/32 -p tcp --dport {port} -j REJECT --reject-with icmp-port-unreachable
ip route add {ip}/32 dev lo
nsenter --target $pod --net sh -ec 'ip addr add 10.1.0.2/24 dev eth0; ip link set eth0 up
ip route add default via 10.1.0.1; exec "$0" -m tools.reality.refusals "$@"' "$0" "$@"
"""


class Dialling(Value, frozen=True, kw_only=True):
    """Dials at random times, so many a second, each given up after ``patience`` seconds."""

    per_second: float
    seconds: float
    patience: float


class Refusals(Value, frozen=True, kw_only=True):
    """When each dial began and after how many seconds it was refused; None: given up."""

    kernel: str
    dialling: Dialling
    dials: tuple[tuple[float, float | None], ...]


DIALLINGS: Final = (
    Dialling(per_second=50, seconds=15, patience=1),
    Dialling(per_second=20, seconds=20, patience=5),
    Dialling(per_second=5, seconds=40, patience=2),
    Dialling(per_second=2, seconds=60, patience=10),
    Dialling(per_second=0.5, seconds=40, patience=10),
)


def read_refusals(file: Path = FILE) -> tuple[Refusals, ...]:
    """Read a recording."""
    return msgspec.json.decode(file.read_bytes(), type=tuple[Refusals, ...])


def record(dialling: Dialling) -> Refusals:
    """Dial from a new pod on a new node; both are removed on return.

    Raises:
        subprocess.CalledProcessError: a namespace, an interface or the rule cannot be made here.
    """
    script = _NODE.format(ip=_SERVICE[0], port=_SERVICE[1])
    command = ["unshare", "--net", "sh", "-c", script, sys.executable, msgspec.json.encode(dialling).decode()]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    dials = msgspec.json.decode(found.stdout, type=tuple[tuple[float, float | None], ...])
    return Refusals(kernel=platform.release(), dialling=dialling, dials=dials)


def dial(dialling: Dialling) -> list[tuple[float, float | None]]:
    """Dial the Service's address at the times of a Poisson process, and wait for all dials."""
    times, selector = _draw_times(dialling), selectors.DefaultSelector()
    started, begun = time.monotonic(), 0
    found: list[tuple[float, float | None]] = [(0.0, None)] * len(times)
    while begun < len(times) or selector.get_map():
        now = time.monotonic() - started
        while begun < len(times) and times[begun] <= now:
            tried = socket.socket()
            tried.setblocking(False)
            tried.connect_ex(_SERVICE)
            found[begun] = (round(time.monotonic() - started, 4), None)
            selector.register(tried, selectors.EVENT_WRITE, begun)
            begun += 1
        until = times[begun] - now if begun < len(times) else 0.05
        refused = [key for key, _ in selector.select(min(max(until, 0.0005), 0.05))]
        now = time.monotonic() - started
        for key in refused:
            if key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != errno.ECONNREFUSED:  # type: ignore[union-attr]
                raise OSError(f"dial {key.data} was neither refused nor dropped")
            found[key.data] = (found[key.data][0], round(now - found[key.data][0], 4))
        given_up = [k for k in selector.get_map().values() if now - found[k.data][0] >= dialling.patience]
        for key in {*refused, *given_up}:
            selector.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]
    return found


def _draw_times(dialling: Dialling) -> list[float]:
    chance, times, at = random.Random(7), [], 0.0
    while (at := at + chance.expovariate(dialling.per_second)) <= dialling.seconds:
        times.append(at)
    return times


def main(argument: str) -> None:
    """Record to a file; in the pod, dial, and print the outcome."""
    if argument.startswith("{"):
        sys.stdout.write(msgspec.json.encode(dial(msgspec.json.decode(argument, type=Dialling))).decode())
        return
    lines = ",\n".join(msgspec.json.encode(record(each)).decode() for each in DIALLINGS)
    Path(argument).write_text(f"[{lines}]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
