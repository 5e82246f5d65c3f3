"""The sockets on which processes listen, from /proc."""

import socket
from pathlib import Path


def list_listeners(pids: set[int]) -> set[tuple[str, int]]:
    """(address, port) of every TCP socket on which the processes listen."""
    inodes = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(link.readlink())
            except FileNotFoundError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    found = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                host, port = fields[1].split(":")
                words = [bytes.fromhex(host[i : i + 8])[::-1] for i in range(0, len(host), 8)]
                address = socket.inet_ntop(family, b"".join(words)).removeprefix("::ffff:")  # IPv4 over an IPv6 socket
                found.add((address, int(port, 16)))
    return found
