"""The scope of a contribution: one scenario and nothing else (rules SK001, SK002, SK004, SK006). Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scenario_kit.model import Finding, Severity, Value
from scenario_kit.model.shortening import shorten_list

SCENARIOS: Final = "catalog/scenarios/"
#: Files of a scenario's folder that only the maintainers' machine writes, after the merge.
_EVIDENCE: Final = re.compile(r"evidence(?:\.json)?(?:/.*)?", re.DOTALL)
#: Where the kit reads a scenario and its fault types.
_DOCUMENTS: Final = re.compile(r"scenario\.yaml|faults/[^/]+/fault\.yaml")
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
#: Names that people or file systems take for those of the files that the kit reads.
_RESERVED: Final = {
    **{name: name for name in ("scenario.yaml", "fault.yaml", "evidence.json")},
    "scenario.yml": "scenario.yaml",
    "fault.yml": "fault.yaml",
}
_SYMLINK, _SUBMODULE = "120000", "160000"
_SHOWN: Final = 3


class FileChange(Value, frozen=True, kw_only=True):
    """A file that differs from the base: its path, its status (A, M, D), and its new mode."""

    path: str
    status: str
    mode: str = "100644"

    @property
    def is_link(self) -> bool:
        """Return whether it refers to files outside the change: a symbolic link or a submodule."""
        return self.mode in (_SYMLINK, _SUBMODULE)


class Commit(Value, frozen=True, kw_only=True):
    """A commit of the contribution: abbreviated hash and full message."""

    hash: str
    message: str


class PullRequestScope(Value, frozen=True, kw_only=True):
    """The scenario that a contribution changes, empty for none, and findings on its scope."""

    scenario: str = ""
    removed: bool = False
    findings: tuple[Finding, ...] = ()


def determine_scope(changes: Sequence[FileChange], *, scenarios: str = SCENARIOS) -> PullRequestScope:
    """Determine the scope of a set of changed files.

    A contribution without a scenario has no findings. One with a scenario may only touch this scenario's folder.
    """
    names = list(dict.fromkeys(n for c in changes if (n := _find_scenario(c.path, scenarios))))
    if not names:
        inside = [c for c in changes if _fold(c.path).startswith(_fold(scenarios))]
        return PullRequestScope(findings=(*_check_links(inside), *_check_spelling(inside, scenarios)))
    if len(names) > 1:
        message = f"this pull request changes {len(names)} scenarios: {_join_names(names)}"
        return PullRequestScope(
            findings=(_build_finding("SK001", message, "one", "open one pull request per scenario"),)
        )
    folder = f"{scenarios}{names[0]}/"
    others = [c.path for c in changes if not c.path.startswith(folder)]
    if others:
        message = f"this pull request touches files outside {folder}: {_join_names(others)}"
        return PullRequestScope(
            scenario=names[0],
            findings=(
                _build_finding(
                    "SK002", message, f"changes in {folder} only", "move everything else to a separate pull request"
                ),
            ),
        )
    gone = any(c.path == f"{folder}scenario.yaml" and c.status == "D" for c in changes)
    removed = gone and all(c.status == "D" for c in changes)
    findings = [*_check_links(changes), *_check_evidence(changes, folder, removed=removed)]
    if not _NAME.fullmatch(names[0]):
        message = f"'{_make_printable(names[0])}' is not a valid scenario name"
        findings.append(_build_finding("SK106", message, "lower-case letters, digits and hyphens", "rename the folder"))
    findings = findings or [*_check_spelling(changes, scenarios), *_check_names(changes, folder)]
    return PullRequestScope(scenario=names[0], removed=removed, findings=tuple(findings))


def report_missing_scenario(name: str, *, scenarios: str = SCENARIOS) -> Finding:
    """Report SK002 for a scenario folder without ``scenario.yaml``."""
    return _build_finding(
        "SK002",
        f"{scenarios}{_make_printable(name)}/ has no scenario.yaml",
        "a folder with scenario.yaml, or no folder",
        "add the file, or remove the whole folder",
    )


def check_sign_off(commits: Iterable[Commit]) -> list[Finding]:
    """Report SK004 for each commit whose message has no ``Signed-off-by`` trailer."""
    return [
        _build_finding(
            "SK004",
            f"commit {c.hash} is not signed off: {_make_printable(c.message.splitlines()[0] if c.message else '')}",
            "a last line 'Signed-off-by: Name <address>'",
            "run `git rebase --signoff` on the base, then push again",
        )
        for c in commits
        if not re.search(r"^Signed-off-by: .+ <[^<>\s]+@[^<>\s]+>\s*$", c.message, re.MULTILINE)
    ]


def _find_scenario(path: str, scenarios: str) -> str:
    if not path.startswith(scenarios):
        return ""
    name, slash, _ = path.removeprefix(scenarios).partition("/")
    return name if slash else ""


def _check_links(changes: Iterable[FileChange]) -> list[Finding]:
    found = []
    for change in changes:
        if change.is_link:
            what = "a symbolic link" if change.mode == _SYMLINK else "a submodule"
            message = f"{_make_printable(change.path)} is {what}"
            found.append(_build_finding("SK002", message, "regular files", "replace it with the file itself"))
    return found


def _fold(path: str) -> str:
    """Return a path as file systems compare it that ignore case and composition."""
    return unicodedata.normalize("NFC", path).casefold()


def _check_spelling(changes: Iterable[FileChange], scenarios: str) -> list[Finding]:
    """Report paths that some file systems would not distinguish from the catalogue's, or would not keep."""
    return [
        _build_finding(
            "SK002",
            f"{_make_printable(c.path)!r} is not a path that every file system keeps",
            f"printable paths below {scenarios}, without blanks at their ends",
            "rename the file",
        )
        for c in changes
        if c.status != "D" and (not c.path.startswith(scenarios) or not _is_portable(c.path))
    ]


def _is_portable(path: str) -> bool:
    parts = path.split("/")
    return path.isprintable() and all(part and part == part.strip() and part not in (".", "..") for part in parts)


def _check_names(changes: Iterable[FileChange], folder: str) -> Iterator[Finding]:
    """Report names that differ only in case, names like those of the kit's files, and files that configure Git."""
    kept: dict[str, str] = {}
    for change in changes:
        if change.status == "D":
            continue
        name, shown = change.path.removeprefix(folder), _make_printable(change.path)
        last = name.rpartition("/")[2]
        other = kept.setdefault(_fold(name), name)
        meant = _RESERVED.get(_fold(last), last)
        if other != name:
            message = f"{shown} and {_make_printable(other)} differ only in letter case"
            yield _build_finding("SK002", message, "names that differ in letters", "rename or remove one of them")
        elif last in ("scenario.yaml", "fault.yaml") and not _DOCUMENTS.fullmatch(name):
            message, expected = f"{shown} is where no {last} is read", "scenario.yaml, and faults/<name>/fault.yaml"
            yield _build_finding("SK002", message, expected, "move or remove it")
        elif meant != last:
            yield _build_finding("SK002", f"{shown} is easily taken for {meant}", meant, "rename or remove it")
        elif _fold(last).startswith(".git"):
            message = f"{shown} configures Git, and so what a reviewer sees"
            yield _build_finding("SK002", message, "files of the scenario", "remove it")


def _check_evidence(changes: Iterable[FileChange], folder: str, *, removed: bool) -> list[Finding]:
    """Report SK006 for evidence that was edited by hand; it may only be removed with its scenario."""
    words = {"A": "added", "D": "removed"}
    return [
        _build_finding(
            "SK006",
            f"{_make_printable(c.path)} was {words.get(c.status, 'changed')} by hand",
            "evidence is written only by ci/evidence, on the maintainers' machine, after the merge",
            "restore this file from the base",
        )
        for c in changes
        if _is_evidence(c.path.removeprefix(folder)) and not (removed and c.status == "D")
    ]


def _is_evidence(name: str) -> bool:
    """Return whether a name is one of evidence, or differs from its folder's in letter case."""
    return bool(_EVIDENCE.fullmatch(name) or _fold(name).startswith(("evidence/", "evidence.json/")))


def _build_finding(code: str, message: str, expected: str, fix: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, message=message, expected=expected, fix=fix)


def _join_names(names: Sequence[str]) -> str:
    return shorten_list([_make_printable(n) for n in names], _SHOWN)


def _make_printable(text: str) -> str:
    """Neutralise control characters in a name from an untrusted repository."""
    return "".join(c if c.isprintable() else "?" for c in text)[:120]
