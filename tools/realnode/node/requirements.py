"""Requirements of a real node, and their check."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tools.reality.configuration import find_node_problems

#: Program, and the Debian package that has it.
PROGRAMS: Final[Mapping[str, str]] = {
    "containerd": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "ip": "iproute2",
    "iptables-legacy": "iptables",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
}
#: What faults of Chaos Mesh's daemon need beside it; without them those faults are left out.
CHAOS_PROGRAMS: Final[Mapping[str, str]] = {"gcc": "gcc", "stress-ng": "stress-ng"}

#: The capability that lowers a process' OOM score, CAP_SYS_RESOURCE (capabilities(7)).
_SYS_RESOURCE: Final = 24


def find_problems() -> list[str]:
    """Find what keeps a real node from running here; empty when nothing does."""
    return find_node_problems(PROGRAMS, "ci/e2e --real-node")


def find_chaos_problem() -> str:
    """Find what keeps Chaos Mesh's daemon from being built or used here; empty when nothing does."""
    missing = sorted({package for program, package in CHAOS_PROGRAMS.items() if shutil.which(program) is None})
    return f"apt-get install --no-install-recommends {' '.join(missing)}" if missing else ""


def can_lower_oom_score(status: Path = Path("/proc/self/status")) -> bool:
    """Return whether processes may be spared when memory runs out (``oomScoreAdjust`` below 0)."""
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return bool(int(fields["CapEff"], 16) >> _SYS_RESOURCE & 1)
