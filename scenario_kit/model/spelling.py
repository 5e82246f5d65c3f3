"""Suggestions for misspelled words: one measure of closeness, one phrase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scenario_kit.model.shortening import shorten_list


def suggest(word: str, candidates: Iterable[str], *, least: float = 0.8) -> tuple[str, ...]:
    """Return the candidates closest to ``word``, best first; empty if none has the similarity ``least``.

    References such as ``Deployment/cart`` resemble each other because of their kind, so their names are compared with
    those of the same kind, and must be equal to those of another.
    """
    known = sorted(set(candidates))
    kind, slash, name = word.rpartition("/")
    alike = [each.removeprefix(f"{kind}/") for each in known if slash and each.rpartition("/")[0] == kind]
    if not alike:
        return _find_close(word, known, least)
    elsewhere = [each for each in known if each.rpartition("/")[2] == name]
    return (*(f"{kind}/{each}" for each in _find_close(name, alike, least)), *elsewhere)[:3]


def did_you_mean(word: str, candidates: Iterable[str], *, default: str = "") -> str:
    """Return a fix for a misspelled word: the closest candidates, else ``default``, else the first candidates."""
    known = sorted(set(candidates))
    if question := ask_which(suggest(word, known)):
        return question
    if default:
        return default
    if not known:
        return "there are no candidates"
    return f"use one of {shorten_list([f'`{name}`' for name in known], 12)}"


def ask_which(names: Iterable[str]) -> str:
    """Ask which of some names is meant; empty without any."""
    shown = " or ".join(f"`{name}`" for name in names)
    return f"did you mean {shown}?" if shown else ""


def find_only(word: str, candidates: Iterable[str]) -> str | None:
    """Return the only candidate that ``word`` can mean.

    That is one equal except for case and punctuation; the only close one; or one that differs in a few letters while
    all others differ in at least twice as many.
    """
    known = sorted(set(candidates))
    same = [name for name in known if _strip_word(name) == _strip_word(word)]
    close = same or suggest(word, known)
    return close[0] if len(close) == 1 else _find_slip(word, close)


def _find_close(word: str, known: Sequence[str], least: float) -> tuple[str, ...]:
    from rapidfuzz import distance, process, utils  # imported late: only needed for files with mistakes

    found = process.extract(
        word,
        known,
        scorer=distance.JaroWinkler.normalized_similarity,
        processor=utils.default_process,
        limit=3,
        score_cutoff=least,
    )
    return tuple(name for name, _, _ in found)


def _find_slip(word: str, close: Sequence[str]) -> str | None:
    from rapidfuzz.distance import OSA  # imported late, as above

    far = sorted((OSA.distance(word, name), name) for name in close)
    if len(far) < 2 or far[0][0] > max(1, len(word) // 5):
        return None
    return far[0][1] if far[1][0] >= 2 * far[0][0] else None


def _strip_word(word: str) -> str:
    return "".join(c for c in word.lower() if c.isalnum())
