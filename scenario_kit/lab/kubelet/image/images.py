"""Image names, IDs, pull times and registry errors."""

from __future__ import annotations

import hashlib
import re
from typing import Final, Protocol

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.image import normalize_image

_HOST: Final = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_COMPONENT: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
#: The grammar of references (distribution/reference), which the kubelet parses.
_REFERENCE: Final = re.compile(
    rf"(?:{_HOST}/)?{_COMPONENT}(?:/{_COMPONENT})*(?::\w[\w.-]{{0,127}})?"
    r"(?:@(?P<algorithm>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*):(?P<digest>[0-9a-fA-F]{32,}))?",
    re.ASCII,
)
#: How many hexadecimal digits the digests of known algorithms have.
_DIGITS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}
#: Repositories of Docker's official single-architecture images, and the architecture's name in Kubernetes.
_CPUS = {
    "amd64": "amd64", "i386": "386", "arm32v5": "arm", "arm32v6": "arm", "arm32v7": "arm", "arm64v8": "arm64",
    "ppc64le": "ppc64le", "riscv64": "riscv64", "s390x": "s390x",
}  # fmt: skip
_ONE_CPU = re.compile(rf"docker\.io/(?P<cpu>{'|'.join(_CPUS)})/(?P<rest>[^/]+)")
#: Programs in every image with a shell.
_USUAL = frozenset({
    "awk", "bash", "cat", "cp", "curl", "dd", "echo", "env", "false", "grep", "httpd", "ls", "nc", "nslookup",
    "python3", "sed", "sh", "sleep", "tail", "test", "timeout", "touch", "true", "wget",
})  # fmt: skip


class Images(Protocol):
    """The images present on a node."""

    def present(self, node: str, image: str, now: float) -> bool:
        """Return whether the image (normalised name) is on the node at that time."""

    def lacks(self, image: str, program: str) -> bool:
        """Return whether the image is known not to have a program; an empty name is the image's entrypoint."""


def is_valid(image: str) -> bool:
    """Return whether the name is a valid image reference."""
    return not explain_invalid(image)


def explain_invalid(image: str) -> str:
    """Return the runtime's error for an invalid name; empty for a valid one."""
    found = _REFERENCE.fullmatch(image)
    if found is not None:
        return _explain_digest(found["algorithm"], found["digest"]) if found["digest"] else ""
    if _REFERENCE.fullmatch(image.lower()) is None:
        return "invalid reference format"
    head, slash, rest = image.partition("/")
    hosted = bool(slash) and (bool(set(".:") & set(head)) or head == "localhost")
    path = rest if hosted else image if slash else f"library/{image}"
    name, _, _ = path.partition("@")[0].partition(":")
    return f"invalid reference format: repository name ({name}) must be lowercase"


def _explain_digest(algorithm: str, digest: str) -> str:
    if algorithm not in _DIGITS:
        return "unsupported digest algorithm"
    if len(digest) != _DIGITS[algorithm]:
        return "invalid checksum digest length"
    return "" if digest == digest.lower() else "invalid checksum digest format"


def make_image_id(image: str) -> str:
    """Make repository and digest; the digest is a hash of the name, so an image has the same ID on all nodes."""
    name = normalize_image(image)
    repository, at, digest = name.partition("@")
    head, _, last = repository.rpartition("/")
    repository = f"{head}/{last.partition(':')[0]}"
    return f"{repository}@{digest if at else 'sha256:' + hashlib.sha256(name.encode()).hexdigest()}"


def is_pause(image: str) -> bool:
    """Return whether this is the pause image, whose process only holds a pod's namespaces."""
    return normalize_image(image).rpartition("/")[2].startswith("pause:")


def find_multi_arch_image(image: str) -> str:
    """Find the multi-arch image of a single-architecture one: Docker publishes official images that way."""
    found = _ONE_CPU.match(normalize_image(image))
    return f"docker.io/library/{found['rest']}" if found else image


def is_foreign(image: str, node: Object) -> bool:
    """Return whether the image is for another architecture than the node's; False if either is unknown."""
    found = _ONE_CPU.match(normalize_image(image))
    labels = node.get("metadata", {}).get("labels") or {}
    own = labels.get("kubernetes.io/arch") or ((node.get("status") or {}).get("nodeInfo") or {}).get("architecture")
    return found is not None and bool(own) and _CPUS[found["cpu"]] != own


def pull_seconds(image: str) -> float:
    """Return the pull time, 0.4 to 1.4 s by a hash of the name, as from a nearby registry."""
    return 0.4 + hashlib.sha256(normalize_image(image).encode()).digest()[0] / 256


def size_bytes(image: str) -> int:
    """Return the size for the kubelet's message, 20 to 170 MB by a hash of the name."""
    return 20_000_000 + int.from_bytes(hashlib.sha256(normalize_image(image).encode()).digest()[1:4], "big") * 9


def explain_not_found(image: str) -> str:
    """Return containerd's error for a reference unknown to the registry."""
    name = normalize_image(image)
    return (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{name}": '
        f'failed to resolve reference "{name}": {name}: not found'
    )


class ImageCache:
    """The images pulled so far, rebuilt from pod statuses after a restart.

    ``scope`` separates worlds: a trial must not start faster because of an earlier one. Within a world, an image pulled
    by one node is present on all: placement is not reproducible, but start times must be.
    """

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], float] = {}
        self._programs: dict[tuple[str, str], set[str]] = {}

    def of(self, scope: str) -> Images:
        """Return the view of one world."""
        return _Scoped(self._since, self._programs, scope)

    def add(self, scope: str, image: str, at: float) -> None:
        """Add an image that is present from that time on."""
        key = (scope, normalize_image(image))
        self._since[key] = min(at, self._since.get(key, at))

    def learn(self, scope: str, image: str, program: str) -> None:
        """Record that the image has a program, as a container runs it. An empty name is the image's entrypoint."""
        self._programs.setdefault((scope, normalize_image(image)), set()).add(program)

    def forget(self, scope: str) -> None:
        """Drop the images of a closed world."""
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
        """See ``ImageCache``: the node does not matter."""
        del node
        return self._since.get((self._scope, normalize_image(image)), now + 1) <= now

    def lacks(self, image: str, program: str) -> bool:
        """Return whether the image lacks a program, going by containers that ran it: no registry lists contents.

        An image that never ran lacks nothing. Afterwards it has its entrypoint, the programs that ran, and usual tools.
        """
        known = self._programs.get((self._scope, normalize_image(image)))
        usual = not program or program.rpartition("/")[2] in _USUAL
        return known is not None and not usual and program not in known
