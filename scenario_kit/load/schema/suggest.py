"""Suggestions for misspelled words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.model.shortening import shorten_list

#: Scenario folders in the working directory, in order of preference.
COLLECTIONS: Final = (Path("catalog") / "scenarios", Path("scenarios"))


def suggest(word: str, candidates: Iterable[str], *, least: float = 0.8) -> tuple[str, ...]:
    """Return the candidates closest to ``word``, best first; empty if none has the similarity ``least``."""
    from rapidfuzz import distance, process, utils  # imported late: only needed for files with mistakes

    found = process.extract(
        word,
        sorted(set(candidates)),
        scorer=distance.JaroWinkler.normalized_similarity,
        processor=utils.default_process,
        limit=3,
        score_cutoff=least,
    )
    return tuple(name for name, _, _ in found)


def suggest_path(path: Path) -> str:
    """Suggest an existing path for a missing one; empty if none is close.

    A bare name may also be that of a scenario in a collection.
    """
    folders = [path.parent, *(COLLECTIONS if path == Path(path.name) else ())]
    found = [
        str(folder / name) for folder in folders if folder.is_dir() for name in suggest(path.name, _list_folder(folder))
    ]
    return "did you mean " + " or ".join(f"`{each}`" for each in found[:3]) + "?" if found else ""


def _list_folder(folder: Path) -> list[str]:
    try:
        return [each.name for each in folder.iterdir() if not each.name.startswith(".")]
    except OSError:
        return []


def find_only(word: str, candidates: Iterable[str]) -> str | None:
    """Return the only candidate that ``word`` can mean.

    That is one equal except for case and punctuation; the only close one; or one that differs in a few letters while
    all others differ in at least twice as many.
    """
    known = sorted(set(candidates))
    same = [name for name in known if _strip_word(name) == _strip_word(word)]
    close = same or suggest(word, known)
    return close[0] if len(close) == 1 else _find_slip(word, close)


def _find_slip(word: str, close: Sequence[str]) -> str | None:
    from rapidfuzz.distance import OSA  # imported late, as above

    far = sorted((OSA.distance(word, name), name) for name in close)
    if len(far) < 2 or far[0][0] > max(1, len(word) // 5):
        return None
    return far[0][1] if far[1][0] >= 2 * far[0][0] else None


def _strip_word(word: str) -> str:
    return "".join(c for c in word.lower() if c.isalnum())


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return a fix for a misspelled word: the best candidates, or the first ones if none is close."""
    known = sorted(set(candidates))
    close = suggest(word, known)
    if close:
        return "did you mean " + " or ".join(f"`{name}`" for name in close) + "?"
    if not known:
        return "there are no candidates"
    return f"use one of {shorten_list([f'`{name}`' for name in known], 12)}"
