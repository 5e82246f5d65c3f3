"""The images for the node as archives, each with a single static program."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scenario_kit import __version__
from scenario_kit.lab.toolchain.components import CHAOS_MESH, COREDNS, OPENTELEMETRY_COLLECTOR, PROMETHEUS
from tools.image.build import detect_architecture, locate_downloads
from tools.image.layer import FileEntry, write_layer
from tools.image.layout import ImageConfig, write_archive
from tools.image.recipes import USER

REGISTRY: Final = "registry.example"
#: Image tags must not contain a plus.
CHAOS_TAG: Final = CHAOS_MESH.replace("+", "-")
CHAOS_MANAGER: Final = f"{REGISTRY}/chaos-controller-manager:{CHAOS_TAG}"
CHAOS_DAEMON: Final = f"{REGISTRY}/chaos-daemon:{CHAOS_TAG}"
PAUSE: Final = f"{REGISTRY}/pause:1.0.0"
OPERATOR: Final = f"{REGISTRY}/scenario-kit:{__version__}"
LAB: Final = f"{REGISTRY}/scenario-kit-lab:{__version__}"
#: The name of the app's program among the binaries.
PARCELS: Final = "parcels"
_ROLES: Final = ("desk", "intake", "tracking", "ledger", "belt", "sorter", "load-generator")
_ROOT: Final = "0:0"


@dataclass(frozen=True)
class ProgramImage:
    """An image of one program, with symbolic ``links`` next to it.

    ``binary`` is its name among the built binaries; ``arguments`` come first.
    """

    name: str
    binary: str
    arguments: Sequence[str] = ()
    user: str = f"{USER}:{USER}"
    links: Mapping[str, str] = field(default_factory=dict)


#: CoreDNS listens on port 53, which requires root in a container.
IMAGES: Final = (
    *(ProgramImage(f"{REGISTRY}/parcels/{role}:1.0.0", PARCELS, (role,)) for role in _ROLES),
    ProgramImage(f"{REGISTRY}/parcels/collector:{OPENTELEMETRY_COLLECTOR}", "otelcol"),
    ProgramImage(PAUSE, PARCELS, ("pause",)),
    ProgramImage(f"{REGISTRY}/coredns:{COREDNS}", "coredns", user=_ROOT),
    ProgramImage(f"{REGISTRY}/prometheus:{PROMETHEUS}", "prometheus-kubernetes"),
)
#: Chaos Mesh. The daemon calls C programs, which use the libraries of the machine's mounted /usr.
CHAOS_IMAGES: Final = (
    ProgramImage(CHAOS_MANAGER, "chaos-controller-manager"),
    ProgramImage(
        CHAOS_DAEMON, "chaos-daemon", user=_ROOT, links={"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64"}
    ),
)


def build_images(images: Iterable[ProgramImage], binaries: Mapping[str, Path]) -> list[Path]:
    """Build the archives of images, reusing cached ones of the same programs."""
    return [_build_image(image, binaries[image.binary]) for image in images]


def _build_image(image: ProgramImage, binary: Path) -> Path:
    with binary.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    named = hashlib.sha256(repr((image, content)).encode()).hexdigest()
    archive = locate_downloads() / "programs" / f"{named}.tar"
    if not archive.exists():
        config = ImageConfig(
            name=image.name, architecture=detect_architecture(), user=image.user,
            entrypoint=[f"/{image.binary}", *image.arguments],
        )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="scenario-kit-image-") as folder:
            files = [FileEntry(image.binary, 0o755, binary), FileEntry("tmp", 0o1777)]
            files += [FileEntry(path, 0o777, link=to) for path, to in image.links.items()]
            layer = write_layer(image.binary, files, 0, Path(folder) / "layer")
            write_archive(config, [layer], 0, archive)
    return archive
