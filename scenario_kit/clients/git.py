"""A reader of Git repositories: changes of a branch against its base. Runs nothing from the repository.

The repository's hooks, file-system monitors, external diff programs, filters and replacement objects are disabled;
paths are NUL-separated, so that no file name is ambiguous.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from scenario_kit.contribution import Commit, FileChange
from scenario_kit.errors import UsageError

_QUIET: Final = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat",
    "-c", "protocol.allow=never", "-c", "log.showSignature=false", "--no-replace-objects", "--literal-pathspecs",
)  # fmt: skip
_SECONDS: Final = 60


class Repository:
    """A checkout, read by the installed ``git``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def base(self, reference: str) -> str:
        """Return the merge base of the current branch and ``reference``.

        Raises:
            UsageError: not a repository, an unknown reference, or no common ancestor.
        """
        if reference.startswith("-"):
            raise UsageError(f"'{reference}' is not a branch or commit", fix="--base origin/main")
        self._git("rev-parse", "--git-dir", because="this is not a Git repository", fix="run it in a checkout")
        found = self._git(
            "merge-base", reference, "HEAD",
            because=f"'{reference}' and this branch have no common ancestor in this checkout",
            fix="fetch its history (in CI, check out with full depth), or choose another base: --base",
        )  # fmt: skip
        return found.decode().strip()

    def root(self) -> Path:
        """Return the root directory of the checkout."""
        found = self._git("rev-parse", "--show-toplevel", because="this is not a Git repository", fix="")
        return Path(found.decode().rstrip("\n"))

    def changes(self, base: str) -> list[FileChange]:
        """Return the files that differ between ``base`` and HEAD; a renamed one is removed and added.

        A `.gitmodules` file may ask Git to ignore submodules, which would hide them.
        """
        plain = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=none")
        out = self._git("diff", "--raw", "-z", *plain, base, "HEAD")
        parts = out.decode(errors="surrogateescape").split("\0")
        found = []
        for reported, path in zip(parts[0::2], parts[1::2], strict=False):
            _, mode, _, _, status = reported.split(" ")
            found.append(
                FileChange(
                    path=path.encode(errors="surrogateescape").decode(errors="replace"), status=status[0], mode=mode
                )
            )
        return found

    def commits(self, base: str) -> list[Commit]:
        """Return the non-merge commits since ``base``, newest first."""
        out = self._git("log", "--no-merges", "-z", "--format=%h%x01%B", f"{base}..HEAD")
        reported = [part.partition("\x01") for part in out.decode(errors="replace").split("\0") if part]
        return [Commit(hash=short, message=message) for short, _, message in reported]

    def text(self, commit: str, path: str) -> str | None:
        """Return a file's content in a commit; None if it does not exist there."""
        listed = self._git("ls-tree", "-z", commit, "--", path)
        if not listed:
            return None
        blob = listed.decode(errors="replace").split("\t")[0].split(" ")[2]
        return self._git("cat-file", "blob", blob).decode(errors="replace")

    def has_uncommitted(self) -> bool:
        """Return whether tracked files differ from HEAD."""
        return bool(self._git(*self._list_filter_options(), "status", "--porcelain", "-z", "--untracked-files=no"))

    def _list_filter_options(self) -> list[str]:
        """List options that disable the filters configured on this machine: the branch's attributes could run them."""
        listed = self._git(
            "config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$", ok=(1,)
        )
        names = {name.rpartition(".")[0] for name in listed.decode(errors="replace").split("\0") if name}
        off = ("clean=", "smudge=", "process=", "required=false")
        return [part for name in sorted(names) for each in off for part in ("-c", f"{name}.{each}")]

    def _git(self, *arguments: str, because: str = "git failed", fix: str = "", ok: Sequence[int] = ()) -> bytes:
        try:
            done = subprocess.run(
                ["git", *_QUIET, *arguments], cwd=self._folder, capture_output=True, timeout=_SECONDS, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except FileNotFoundError as error:
            if not self._folder.is_dir():
                raise UsageError(
                    f"folder {self._folder} does not exist", fix="name the folder of a checkout"
                ) from error
            raise UsageError("git is not installed", fix="install git") from error
        except subprocess.TimeoutExpired as error:
            raise UsageError(
                f"git {arguments[0]} took more than {_SECONDS} s", fix="check the repository's size and file system"
            ) from error
        if done.returncode and done.returncode not in ok:
            reported = done.stderr.decode(errors="replace").strip().splitlines()
            raise UsageError(f"{because}: {reported[-1] if reported else arguments[0]}", fix=fix)
        return done.stdout
