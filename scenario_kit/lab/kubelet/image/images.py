"""Image names, identities, pull times and the registry's refusals."""

from __future__ import annotations

import hashlib
import re
from typing import Protocol

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.image import normalize_image

_REFERENCE = re.compile(
    r"^(?:[a-zA-Z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[\w][\w.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,})?$"
)
#: Repositories of Docker's official images for one CPU, and the CPU's name in Kubernetes.
_CPUS = {
    "amd64": "amd64", "i386": "386", "arm32v5": "arm", "arm32v6": "arm", "arm32v7": "arm", "arm64v8": "arm64",
    "ppc64le": "ppc64le", "riscv64": "riscv64", "s390x": "s390x",
}  # fmt: skip
_ONE_CPU = re.compile(rf"docker\.io/(?P<cpu>{'|'.join(_CPUS)})/(?P<rest>[^/]+)")
#: Programs that an image with a shell has.
_USUAL = frozenset({
    "awk", "bash", "cat", "cp", "curl", "dd", "echo", "env", "false", "grep", "httpd", "ls", "nc", "nslookup",
    "python3", "sed", "sh", "sleep", "tail", "test", "timeout", "touch", "true", "wget",
})  # fmt: skip


class Images(Protocol):
    """Which images a node has."""

    def present(self, node: str, image: str, now: float) -> bool:
        """Check whether the image (normalised name) is on the node at that time."""

    def lacks(self, image: str, program: str) -> bool:
        """Check whether the image is known not to have a program; the empty one is the image's own."""


def is_valid(image: str) -> bool:
    """Check whether the name can be parsed as an image reference."""
    return _REFERENCE.match(image) is not None


def explain_invalid(image: str) -> str:
    """Explain what is wrong with a name that is not valid, in the runtime's words."""
    if not is_valid(image.lower()):
        return "invalid reference format"
    head, slash, rest = image.partition("/")
    hosted = bool(slash) and (bool(set(".:") & set(head)) or head == "localhost")
    path = rest if hosted else image if slash else f"library/{image}"
    name, _, _ = path.partition("@")[0].partition(":")
    return f"invalid reference format: repository name ({name}) must be lowercase"


def make_image_id(image: str) -> str:
    """Make repository and digest; the digest is a hash of the name, so the same image has the same one everywhere."""
    name = normalize_image(image)
    repository, at, digest = name.partition("@")
    head, _, last = repository.rpartition("/")
    repository = f"{head}/{last.partition(':')[0]}"
    return f"{repository}@{digest if at else 'sha256:' + hashlib.sha256(name.encode()).hexdigest()}"


def is_pause(image: str) -> bool:
    """Check whether it is the image of a process that does nothing but hold a pod's place."""
    return normalize_image(image).rpartition("/")[2].startswith("pause:")


def find_multi_arch_image(image: str) -> str:
    """Find the image of which this one is the part for a single CPU: Docker publishes official images that way."""
    found = _ONE_CPU.match(normalize_image(image))
    return f"docker.io/library/{found['rest']}" if found else image


def is_foreign(image: str, node: Object) -> bool:
    """Check whether the image is for one CPU only, and for another than the node's; False where either is not known."""
    found = _ONE_CPU.match(normalize_image(image))
    labels = node.get("metadata", {}).get("labels") or {}
    own = labels.get("kubernetes.io/arch") or ((node.get("status") or {}).get("nodeInfo") or {}).get("architecture")
    return found is not None and bool(own) and _CPUS[found["cpu"]] != own


def pull_seconds(image: str) -> float:
    """Return how long pulling takes, 0.4 to 1.4 s by a hash of the name: a registry that is near."""
    return 0.4 + hashlib.sha256(normalize_image(image).encode()).digest()[0] / 256


def size_bytes(image: str) -> int:
    """Return the size in the kubelet's message, 20 to 170 MB by a hash of the name."""
    return 20_000_000 + int.from_bytes(hashlib.sha256(normalize_image(image).encode()).digest()[1:4], "big") * 9


def explain_not_found(image: str) -> str:
    """Explain what containerd says when no registry knows the reference."""
    name = normalize_image(image)
    return (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{name}": '
        f'failed to resolve reference "{name}": {name}: not found'
    )


class ImageCache:
    """The images that nodes have pulled so far. Rebuilt from the statuses of the pods after a restart.

    ``scope`` separates worlds: a trial must not start faster because another one ran before. Within a world every node
    counts as having what any node pulled, because placement is not reproducible and start times have to be.
    """

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], float] = {}
        self._programs: dict[tuple[str, str], set[str]] = {}

    def of(self, scope: str) -> Images:
        """Return the view of one world."""
        return _Scoped(self._since, self._programs, scope)

    def add(self, scope: str, image: str, at: float) -> None:
        """Add an image, present from that time on."""
        key = (scope, normalize_image(image))
        self._since[key] = min(at, self._since.get(key, at))

    def learn(self, scope: str, image: str, program: str) -> None:
        """Learn that the image has this program: a container that was started with it runs. The empty one is the
        image's own.
        """
        self._programs.setdefault((scope, normalize_image(image)), set()).add(program)

    def forget(self, scope: str) -> None:
        """Forget a world that is gone."""
        for key in [key for key in self._programs if key[0] == scope]:
            del self._programs[key]
        for key in [key for key in self._since if key[0] == scope]:
            del self._since[key]


class _Scoped:
    def __init__(
        self, since: dict[tuple[str, str], float], programs: dict[tuple[str, str], set[str]], scope: str
    ) -> None:
        self._since = since
        self._programs = programs
        self._scope = scope

    def present(self, node: str, image: str, now: float) -> bool:
        """See ``ImageCache``: the node makes no difference."""
        del node
        return self._since.get((self._scope, normalize_image(image)), now + 1) <= now

    def lacks(self, image: str, program: str) -> bool:
        """Check what is missing by what containers of the world ran with the image: no registry tells what is in it.

        An image that never ran has everything. Later it has its own program, those that ran, and the usual tools.
        """
        known = self._programs.get((self._scope, normalize_image(image)))
        usual = not program or program.rpartition("/")[2] in _USUAL
        return known is not None and not usual and program not in known
