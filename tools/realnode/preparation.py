"""What is built before the run, while there is a network: the toolchain, the app's program, all images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scenario_kit.lab.toolchain import install, install_optional
from scenario_kit.model.base import Value
from tools.image.build import BuildOptions, build_archive
from tools.image.layout import verify_archive
from tools.image.recipes import LAB as LAB_RECIPE
from tools.image.recipes import OPERATOR as OPERATOR_RECIPE
from tools.realnode.images import CHAOS_IMAGES, IMAGES, LAB, OPERATOR, PARCELS, build_images
from tools.realnode.programs import STRESSORS, build_program
from tools.realnode.stopwatch import Stage, Stopwatch

#: Parts of the toolchain that no lab needs.
_OPTIONAL = ("kubelet", "kube-proxy", "coredns", "otelcol", "prometheus-kubernetes")


class Preparation(Value, frozen=True, kw_only=True):
    """Binaries by name, the name of the operator's image, archives of all images, and how long they took.

    ``chaos``: whether Chaos Mesh is among them. ``lab``: the name of the image with the lab, empty without one.
    """

    binaries: dict[str, str]
    operator: str
    chaos: bool
    archives: tuple[str, ...]
    stages: tuple[Stage, ...]
    lab: str = ""

    def find_binaries(self) -> dict[str, Path]:
        """Find the binaries by name."""
        return {name: Path(path) for name, path in self.binaries.items()}


def prepare(
    folder: Path, operator: Path | None, chaos: bool, say: Callable[[str], None], *, lab: bool = False
) -> Preparation:
    """Build everything that is missing; ``operator`` is an existing archive of its image.

    With ``lab``, the image with the lab is built, too.

    Raises:
        ToolchainError: something cannot be had here.
    """
    watch = Stopwatch(say)
    with watch.measure("toolchain"):
        binaries = dict(install())
        for name in (*_OPTIONAL, *(["chaos-daemon"] if chaos else [])):
            binaries[name] = install_optional(name)
    with watch.measure("the app's program and images"):
        binaries[PARCELS] = build_program(PARCELS, folder, say)
        binaries[STRESSORS] = build_program(STRESSORS, folder, say)
        archives = build_images((*IMAGES, *CHAOS_IMAGES) if chaos else IMAGES, binaries)
    if operator is None:
        operator = folder / "operator.tar"
        with watch.measure("the operator's image"):
            build_archive(OPERATOR_RECIPE, BuildOptions(name=OPERATOR, latest=True), operator, say)
    labs = [folder / "lab.tar"] if lab else []
    for archive in labs:
        with watch.measure("the image with the lab"):
            build_archive(LAB_RECIPE, BuildOptions(name=LAB, latest=True), archive, say)
    return Preparation(
        binaries={name: str(path) for name, path in binaries.items()},
        operator=verify_archive(operator).name,
        chaos=chaos,
        archives=tuple(str(path) for path in (*archives, operator, *labs)),
        stages=watch.stages,
        lab=LAB if lab else "",
    )
