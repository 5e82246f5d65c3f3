"""Builds an image: downloads, unpacks, selects and compiles files, and writes layers and archive."""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scenario_kit import __version__
from scenario_kit.errors import ToolchainError, UsageError
from scenario_kit.load.folders import find_cache_folder
from tools.image import debian, wheels
from tools.image.bytecode import compile_files, plan_compilations, remove_sources
from tools.image.debian import DebianMirrors, DebianPackage
from tools.image.layer import FileEntry, ImageLayer, collect_entries, write_layer
from tools.image.layout import ArchiveDigests, ImageConfig, write_archive
from tools.image.recipes import (
    ARCHITECTURES,
    CACHE,
    FOLDER,
    LAUNCHER,
    PACKAGES,
    PYTHON,
    USER,
    ImageRecipe,
    is_debian_file_kept,
    is_wheel_file_kept,
)
from tools.image.source import SourceRevision, read_revision, select_files
from tools.image.wheels import PinnedWheel

ROOT: Final = Path(__file__).resolve().parents[2]
CONTENTS: Final = "usr/share/doc/scenario-kit/contents.json"
_LINKS: Final = {
    "bin": "usr/bin",
    "lib": "usr/lib",
    "lib64": "usr/lib64",
    "usr/bin/python": f"python{PYTHON}",
    "usr/bin/python3": f"python{PYTHON}",
}
_ACCOUNTS: Final = {
    "etc/group": f"root:x:0:\nscenario-kit:x:{USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
    "etc/passwd": f"root:x:0:0:root:/:/none\nscenario-kit:x:{USER}:{USER}::/tmp:/none\n",
    "etc/os-release": f'ID=debian\nNAME="Debian GNU/Linux"\nPRETTY_NAME="scenario-kit {__version__}"\n'
    f'VERSION_CODENAME={debian.SUITE}\nVERSION_ID="13"\n',
}


@dataclass(frozen=True)
class BuildOptions:
    """Build options; ``latest`` ignores the locked versions and uses Debian's current ones."""

    name: str = ""
    latest: bool = False
    mirrors: DebianMirrors | None = None
    downloads: Path = field(default_factory=lambda: locate_downloads())


@dataclass(frozen=True)
class ImageTree:
    """The files of an image by layer: title, entries and modification time."""

    parts: Sequence[tuple[str, Sequence[FileEntry], int]]
    revision: SourceRevision


def locate_downloads() -> Path:
    """Return the folder in which packages and wheels are cached between builds."""
    return find_cache_folder() / "image"


def detect_architecture() -> str:
    """Detect the machine's architecture, which is also the image's.

    Raises:
        UsageError: there is no lock for it.
    """
    found = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    if found not in ARCHITECTURES:
        raise UsageError(f"this machine is {found}; images are built for {' and '.join(ARCHITECTURES)}")
    return found


def describe_image(recipe: ImageRecipe, name: str, architecture: str, revision: SourceRevision) -> ImageConfig:
    """Build the configuration of an image."""
    labels = {
        "org.opencontainers.image.title": recipe.title,
        "org.opencontainers.image.version": __version__,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.base.name": f"debian {debian.SUITE}, python {PYTHON}",
    }
    if revision.revision:
        labels["org.opencontainers.image.revision"] = revision.revision
    return ImageConfig(
        name=name or f"{recipe.name}:{__version__}",
        architecture=architecture,
        user=f"{USER}:{USER}",
        entrypoint=recipe.entrypoint,
        arguments=recipe.arguments,
        environment=recipe.environment,
        labels=labels,
    )


def build_archive(
    recipe: ImageRecipe, options: BuildOptions, target: Path, say: Callable[[str], None]
) -> ArchiveDigests:
    """Build an image and write its archive.

    Raises:
        ToolchainError: a package, wheel or program is not available.
    """
    architecture = detect_architecture()
    with tempfile.TemporaryDirectory(prefix="scenario-kit-image-") as work:
        tree = build_tree(recipe, options, Path(work), say)
        layers: list[ImageLayer] = []
        for number, (title, entries, epoch) in enumerate(tree.parts):
            say(f"layer {number + 1} of {len(tree.parts)}: {title}")
            layers.append(write_layer(title, entries, epoch, Path(work) / f"layer-{number}"))
        image = describe_image(recipe, options.name, architecture, tree.revision)
        return write_archive(image, layers, tree.revision.epoch, target)


def build_tree(recipe: ImageRecipe, options: BuildOptions, work: Path, say: Callable[[str], None]) -> ImageTree:
    """Build the files of an image in a folder; dependencies are dated 1970, so that their layers are shared."""
    architecture = detect_architecture()
    revision = read_revision(ROOT)
    packages, pinned = _have_packages(architecture, options, say), read_wheels(recipe)
    base, libraries, kit = work / "base", work / "libraries", work / "kit"
    say(f"unpacking {len(packages)} packages of Debian")
    for package in packages:
        text = debian.unpack_package(debian.locate_package(package, options.downloads), base, is_debian_file_kept)
        _write(base / "var/lib/dpkg/status.d" / package.name, text)
    for link, to in _LINKS.items():
        (base / link).parent.mkdir(parents=True, exist_ok=True)
        (base / link).symlink_to(to)
    for name, text in _ACCOUNTS.items():
        _write(base / name, text)
    (base / "tmp").mkdir()
    (base / "tmp").chmod(0o1777)
    say(f"wheels: {len(pinned)}")
    for file in wheels.download_wheels(pinned, PYTHON, architecture, options.downloads / architecture):
        wheels.unpack_wheel(file, libraries / PACKAGES, is_wheel_file_kept)
    for entry in select_files(ROOT, recipe.kit):
        _write(kit / entry.path, entry.content if isinstance(entry.content, bytes) else entry.content.read_bytes())  # type: ignore[union-attr]
    _write(kit / CONTENTS, json.dumps(list_contents(packages, pinned, revision), indent=1) + "\n")
    say("compiling")
    replaced = [*plan_compilations(base, replaces=True), *plan_compilations(libraries, replaces=True)]
    compile_files(base, [*replaced, *plan_compilations(kit, replaces=False)])
    remove_sources(replaced)
    parts: list[tuple[str, Sequence[FileEntry], int]] = [
        (f"Python {PYTHON} of Debian {debian.SUITE}", collect_entries(base), 0),
        (f"wheels of {recipe.wheels_lock}", collect_entries(libraries), 0),
    ]
    if recipe.toolchain:
        parts.append(("the lab's toolchain", select_toolchain(), 0))
        _write(kit / "usr/bin/scenario-kit", LAUNCHER)
        (kit / "usr/bin/scenario-kit").chmod(0o755)
    parts.append((f"scenario-kit {__version__}, with its catalogue", collect_entries(kit), revision.epoch))
    return ImageTree(parts, revision)


def copy_tree(tree: ImageTree, target: Path) -> None:
    """Copy the files of an image to a folder, as they would be in a container; ``target`` must not exist."""
    target.mkdir(parents=True)
    for _, entries, _ in tree.parts:
        for entry in sorted(entries, key=lambda each: each.path):
            path = target / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            if entry.link:
                path.symlink_to(entry.link)
            elif entry.content is None:
                path.mkdir(exist_ok=True)
                path.chmod(entry.mode)
            elif isinstance(entry.content, bytes):
                path.write_bytes(entry.content)
                path.chmod(entry.mode)
            else:
                shutil.copyfile(entry.content, path)
                path.chmod(entry.mode)


def select_toolchain() -> list[FileEntry]:
    """Select the lab's binaries at their toolchain paths, installing them first if needed.

    Raises:
        ToolchainError: one is not available.
    """
    from scenario_kit.lab import toolchain  # only this image needs it

    binaries = {**toolchain.install(), "promtool": toolchain.install_optional("promtool")}
    entries = []
    for part in (*toolchain.PARTS, *toolchain.OPTIONAL):
        if part.name in binaries:
            place = f"{CACHE}/toolchain/{part.name}/{part.version}"
            entries.append(FileEntry(f"{place}/{part.name}", 0o755, binaries[part.name]))
            if part.name == "kubectl":
                entries.append(FileEntry("usr/bin/kubectl", 0o777, link=f"/{place}/kubectl"))
            if part.name == "chaos-controller-manager":
                assets = toolchain.chaos_assets()
                files = [
                    assets / toolchain.CHAOS_PROTO,
                    *(assets / "crds").iterdir(),
                    *(assets / "definitions").iterdir(),
                ]
                entries += [FileEntry(f"{place}/{f.relative_to(assets).as_posix()}", 0o644, f) for f in files]
    return entries


def read_wheels(recipe: ImageRecipe) -> tuple[PinnedWheel, ...]:
    """Read the wheels of an image from its lock."""
    return wheels.parse_wheels((FOLDER / recipe.wheels_lock).read_text(), recipe.wheels_lock)


def list_contents(
    packages: Sequence[DebianPackage], pinned: Sequence[PinnedWheel], revision: SourceRevision
) -> dict[str, Any]:
    """List an image's components, with versions and checksums."""
    return {
        "scenario-kit": {"version": __version__, "revision": revision.revision},
        "debian": [{"name": p.name, "version": p.version, "sha256": p.sha256} for p in sorted(packages)],
        "wheels": [{"name": w.name, "version": w.version, "sha256": sorted(w.hashes)} for w in pinned],
    }


def _have_packages(architecture: str, options: BuildOptions, say: Callable[[str], None]) -> list[DebianPackage]:
    """Download the packages if needed: the locked or, with ``latest``, the current versions."""
    options.downloads.mkdir(parents=True, exist_ok=True)
    locked = [p for p in debian.parse_lock(debian.LOCK.read_text(), debian.LOCK.name) if p.architecture == architecture]
    if not locked:
        raise ToolchainError(f"{debian.LOCK.name} has no packages for {architecture}", fix="ci/image --lock")
    debian.check_programs()
    missing = [p for p in locked if options.latest or not debian.is_there(p, options.downloads)]
    if not missing:
        return locked
    say("querying the Debian archive")
    with debian.open_archive(architecture, options.mirrors or debian.find_mirrors()) as archive:
        desired = [archive.find(p.name) for p in locked] if options.latest else locked
        for package, before in zip(desired, locked, strict=True):
            if package != before:
                say(f"{package}: the lock has {before.version}")
            if not debian.is_there(package, options.downloads):
                archive.download(package, options.downloads)
    return desired


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
