"""Replace a site's folder as a whole: two renames, so there is no mixture of old and new files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from scenario_kit.errors import UsageError
from scenario_kit.load.staged_folders import stage_folders, write_files
from scenario_kit.publication.site.pages import MARK


def check_output(output: Path) -> None:
    """Check that a site may be written there.

    Raises:
        UsageError: the path exists and is neither an empty folder nor a site.
    """
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise UsageError(f"{output} is not a folder", fix="name another one with --out")
    if output.is_dir() and any(output.iterdir()) and not (output / MARK).is_file():
        raise UsageError(
            f"{output} contains files but no {MARK}, so it is not a site that may be replaced",
            fix="name another folder with --out, or empty this one",
        )


def write_site(files: Mapping[str, str], output: Path) -> None:
    """Write the files to a temporary folder, then swap it in.

    Raises:
        UsageError: the output is not a site, or a file's path leads out of the folder.
    """
    check_output(output)
    for name in files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(f"'{name}' is not a valid page name", fix="give the scenario another name")
    with stage_folders((output,), replace=True) as (new,):
        write_files(new, files)
