"""Updates the locks to the current Debian and Python packages of every architecture."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from scenario_kit.errors import UsageError
from tools.image import debian, wheels
from tools.image.debian import DebianMirrors
from tools.image.recipes import ARCHITECTURES, DEBIAN_LEFT_OUT, DEBIAN_ROOTS, FOLDER, LAB, OPERATOR, PYTHON, ImageRecipe
from tools.image.wheels import PinnedWheel


def list_requirements(project: Path, recipe: ImageRecipe) -> list[str]:
    """List the project's requirements that an image includes.

    Raises:
        UsageError: the image excludes something that the project does not require.
    """
    declared = tomllib.loads(project.read_text())["project"]["dependencies"]
    names = {wheels.parse_name(line): line for line in declared}
    if unknown := sorted(set(recipe.without) - set(names)):
        raise UsageError(
            f"the image {recipe.name} excludes {', '.join(unknown)}, which {project.name} does not require",
            fix="remove it from tools/image/recipes.py",
        )
    return [line for name, line in names.items() if name not in recipe.without]


def write_locks(project: Path, mirrors: DebianMirrors, say: Callable[[str], None]) -> list[Path]:
    """Update all locks; returns those that changed. Nothing is written unless everything was found."""
    texts: dict[Path, str] = {}
    packages = []
    for architecture in ARCHITECTURES:
        say(f"Debian {debian.SUITE}, {architecture}")
        with debian.open_archive(architecture, mirrors) as archive:
            packages += archive.plan(DEBIAN_ROOTS, tuple(DEBIAN_LEFT_OUT))
    texts[debian.LOCK] = debian.format_lock(packages)
    bounds: Sequence[PinnedWheel] = ()
    for recipe in (LAB, OPERATOR):  # the larger one first, so that common wheels have the same version
        say(f"wheels of {recipe.name}")
        bounds = wheels.plan_wheels(list_requirements(project, recipe), bounds, PYTHON, ARCHITECTURES)
        texts[FOLDER / recipe.wheels_lock] = wheels.format_wheels(bounds, PYTHON)
    changed = [path for path, text in texts.items() if not path.is_file() or path.read_text() != text]
    for path in changed:
        path.write_text(texts[path])
    return changed
