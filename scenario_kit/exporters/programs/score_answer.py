"""Score one answer by the rules beside this file, as scenario-kit does (docs/export.md).

This file is copied verbatim into exported tasks and needs only Python 3.9. The answer is compared with ``rules.json``,
which scenario-kit wrote; a test verifies that both implementations score alike.

Usage: python3 score_answer.py --rules FILE (--answer FILE | --record FILE) [--reward FILE] [--decisions FILE]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

#: Maximum size of an answer; a larger file counts as no answer.
MAX_ANSWER_BYTES = 16 * 1024 * 1024
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_SCHEDULED = ("chaos", "workflow")
_WRONG = ("OtherEntity", "Unmatched", "Ambiguous", "Unreadable", "Duplicate")


class UnusableAnswer(Exception):
    """There is no answer, or it is malformed; none of it counts."""


class ClaimedName(NamedTuple):
    """An object named by an answer; ``namespace`` is empty if the answer gives none."""

    namespace: str
    kind: str
    name: str


def score_answer(rules: dict[str, Any], text: str | None) -> dict[str, Any]:
    """Score the text of an answer, None if there is none: ``reward``, its components, and the decision on each claim.

    For an incident the reward is the recall-gated precision: 0 if a root cause is missing, else the share of right
    claims. For a control it is 1 if there is an answer and it claims nothing.
    """
    try:
        claims, claimed = read_claims(text)
    except UnusableAnswer as problem:
        rewards = {"reward": 0.0, "answered": 0.0}
        return {"rewards": rewards, "decisions": [], "problem": str(problem)}
    decisions = decide_claims(rules, claims)
    if not rules["incident"]:
        rewards = {"reward": float(not claimed), "answered": 1.0, "hallucination": float(claimed)}
    else:
        rewards = {"answered": 1.0, **_count(rules, [each["verdict"] for each in decisions])}
    return {"rewards": rewards, "decisions": decisions, "problem": ""}


def score_record(rules: dict[str, Any], text: str | None) -> dict[str, Any]:
    """Score the record of a live run: its answer, and whether the incident was resolved.

    ``reward`` is the mean of both; for a control, which has nothing to resolve, it is the score of the answer.
    """
    try:
        record = json.loads(text or "")
    except (ValueError, RecursionError):
        record = None
    record = record if isinstance(record, dict) else {}
    answer = record.get("answer")
    result = score_answer(rules, None if answer is None else json.dumps(answer))
    rewards = result["rewards"]
    rewards["diagnosis"] = rewards["reward"]
    if rules["incident"]:
        rewards["mitigation"] = float(record.get("resolved") is True)
        rewards["reward"] = (rewards["diagnosis"] + rewards["mitigation"]) / 2
    return result


def _count(rules: dict[str, Any], verdicts: list[str]) -> dict[str, float]:
    roots = sum(each["root"] for each in rules["classes"])
    right = verdicts.count("RootCause")
    wrong = sum(verdicts.count(each) for each in _WRONG)
    precision = right / (right + wrong) if right else 0.0
    recall = right / roots
    return {
        "reward": precision if right == roots else 0.0,
        "root_cause_precision": precision,
        "root_cause_recall": recall,
        "root_cause_f1": 2 * precision * recall / (precision + recall) if right else 0.0,
    }


def read_claims(text: str | None) -> tuple[list[str], bool]:
    """Read the claims of an answer in order, and whether it claims anything.

    Raises:
        UnusableAnswer: there is no answer, or it is malformed.
    """
    if text is None or not text.strip():
        raise UnusableAnswer("there is no answer")
    try:
        data = json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UnusableAnswer(f"the answer is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise UnusableAnswer("the answer is not an object")
    if "entities" in data:
        return _mark_claimed(_read_entities(data))
    if "contributing_factors" in data:
        return _mark_claimed([_get_text(each, "name") for each in _list_objects(data, "contributing_factors")])
    if "root_causes" in data:
        return _mark_claimed(_read_root_causes(data))
    if "resource" in data:
        resources = _list_objects(data, "resource")
        for each in resources:
            _get_text(each, "name"), _get_text(each, "type")
        return [], bool(resources)
    raise UnusableAnswer("the answer has none of: entities, contributing_factors, root_causes, resource")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _mark_claimed(claims: list[str]) -> tuple[list[str], bool]:
    return claims, bool(claims)


def _read_entities(data: dict[str, Any]) -> list[str]:
    entities = _list_objects(data, "entities", required=True)
    paper = data.get("alert_start_time") is not None or any(
        each.get("id") is not None and each.get("name") is None for each in entities
    )
    name, flag = ("id", "root_cause") if paper else ("name", "contributing_factor")
    claims = [_get_text(each, name) for each in entities if _read_flag(each, flag) is True]
    for each in entities:
        _get_text(each, name)
    for edge in _list_objects(data, "propagations", required=True):
        _get_text(edge, "source"), _get_text(edge, "target")
    if not paper:
        _list_objects(data, "alerts_explained", required=True)
    return claims


def _read_root_causes(data: dict[str, Any]) -> list[str]:
    claims = [_spell(each) for each in _list_objects(data, "root_causes")]
    for link in _get_list(data, "propagation_chain"):
        if isinstance(link, str):
            continue
        if not isinstance(link, dict):
            raise UnusableAnswer("propagation_chain: expected only strings and objects")
        if link.get("source") is not None or link.get("target") is not None:
            _get_text(link, "source"), _get_text(link, "target")
        else:
            _spell(link)
    return claims


def _spell(data: dict[str, Any]) -> str:
    name = _get_text(data, "name")
    parts = (_get_text(data, "namespace", required=False), _get_text(data, "kind", required=False), name)
    return name if "/" in name else "/".join(part for part in parts if part)


def _get_list(data: dict[str, Any], name: str, *, required: bool = False) -> list[Any]:
    value = data.get(name)
    if value is None and not required:
        return []
    if not isinstance(value, list):
        raise UnusableAnswer(f"{name} is not a list")
    return value


def _list_objects(data: dict[str, Any], name: str, *, required: bool = False) -> list[dict[str, Any]]:
    values = _get_list(data, name, required=required)
    if not all(isinstance(each, dict) for each in values):
        raise UnusableAnswer(f"{name}: expected only objects")
    return values


def _get_text(data: dict[str, Any], name: str, *, required: bool = True) -> str:
    value = data.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise UnusableAnswer(f"{name} is not a string")
    return value


def _read_flag(data: dict[str, Any], name: str) -> bool:
    value = data.get(name)
    if value is not None and not isinstance(value, bool):
        raise UnusableAnswer(f"{name} is neither true nor false")
    return bool(value)


def decide_claims(rules: dict[str, Any], claims: list[str]) -> list[dict[str, str]]:
    """Decide on each claim in order: which class it names, and whether an earlier claim named it."""
    seen: set[tuple[str, ...]] = set()
    return [_decide(rules, claim, seen) for claim in claims]


def _decide(rules: dict[str, Any], claim: str, seen: set[tuple[str, ...]]) -> dict[str, str]:
    name = parse_name(rules, claim)
    spelling = ("object", name.namespace, name.kind.lower(), name.name) if name else ("object", claim.strip())
    if spelling in seen:
        return {"claim": claim, "verdict": "Duplicate"}
    seen.add(spelling)
    if name is None:
        return {"claim": claim, "verdict": "Unreadable"}
    fitting = fit_name(rules, name)
    found = list(dict.fromkeys(each["id"] for each, _, _ in fitting))
    if len(found) > 1:
        return {"claim": claim, "verdict": "Ambiguous"}
    if not found:
        return {"claim": claim, "verdict": "Unmatched"}
    matched, group, direct = fitting[0]
    verdict = "RootCause" if matched["root"] else "OtherEntity"
    if direct and ("group", group["id"]) in seen:
        verdict = "Duplicate"
    elif ("class", matched["id"]) in seen:
        verdict = "Alias"
    seen.add(("class", matched["id"]))
    if direct:
        seen.add(("group", group["id"]))
    return {"claim": claim, "verdict": verdict, "group": group["id"]}


def parse_name(rules: dict[str, Any], text: str) -> ClaimedName | None:
    """Parse ``[namespace/]Kind[.group]/name``; None for a bare name. A trailing UID is dropped."""
    short = re.sub(rf"(?:\s*/\s*{_UUID}|\s*\(\s*(?:uid:?\s*)?{_UUID}\s*\))$", "", text.strip())
    parts = [part.strip() for part in short.split("/")]
    if not all(parts) or not 2 <= len(parts) <= 3:
        return None
    if not re.match(r"[A-Za-z][A-Za-z0-9]*(?:\.[a-z0-9][-a-z0-9.]*)?$", parts[-2]):
        return None
    kind = parts[-2].partition(".")[0]
    namespace = parts[0] if len(parts) == 3 and kind.lower() not in rules["clusterScoped"] else ""
    return ClaimedName(namespace, kind, parts[-1])


def fit_name(rules: dict[str, Any], name: ClaimedName) -> list[tuple[dict[str, Any], dict[str, Any], bool]]:
    """Find the classes and groups a name matches, by the strongest rule with a match; the flag marks direct matches."""
    for fits, needs_alias, direct in ((_fits_kind, False, True), (_fits_alias, True, False), (_fits_run, False, False)):
        found = [
            (each, group, direct)
            for each in rules["classes"]
            if each["declared"] or not needs_alias
            for group in each["groups"]
            if _shares_namespace(rules, name, group) and fits(rules, name, group)
        ]
        if found:
            return found
    return []


def _shares_namespace(rules: dict[str, Any], name: ClaimedName, group: dict[str, Any]) -> bool:
    if group["kind"].lower() in rules["clusterScoped"] or not name.namespace or not group["namespace"]:
        return True
    return bool(name.namespace == group["namespace"])


def _fits_kind(_: dict[str, Any], name: ClaimedName, group: dict[str, Any]) -> bool:
    return name.kind.lower() == group["kind"].lower() and name.name in group["names"]


def _fits_alias(rules: dict[str, Any], name: ClaimedName, group: dict[str, Any]) -> bool:
    """Match workloads, pods and Services with one another, ignoring generated name suffixes."""
    if not {name.kind.lower(), group["kind"].lower()} <= set(rules["workloads"]):
        return False
    return any(each in group["names"] for each in (name.name, *_list_stems(rules, name)))


def _list_stems(rules: dict[str, Any], name: ClaimedName) -> list[str]:
    short = re.sub(rf"-{_UUID}$", "", name.name)
    found = [short] if short != name.name else []
    for pattern in rules["generated"].get(name.kind.lower(), ()):
        stem = re.sub(pattern, "", short)
        if stem and stem != short:
            found.append(stem)
    return found


def _fits_run(_: dict[str, Any], name: ClaimedName, group: dict[str, Any]) -> bool:
    """Match a Chaos Mesh Schedule with the experiments it spawned, and vice versa."""
    kinds = name.kind.lower(), group["kind"].lower()
    if kinds[0] == "schedule" and kinds[1].endswith(_SCHEDULED):
        return any(name.name in (each, _drop_suffix(each)) for each in group["names"])
    if kinds[1] == "schedule" and kinds[0].endswith(_SCHEDULED):
        return any(each in group["names"] for each in (name.name, _drop_suffix(name.name)))
    return False


def _drop_suffix(name: str) -> str:
    return re.sub(r"-[a-z0-9]{5}$", "", name)


def read_text(path: Path) -> str | None:
    """Read an answer; None if the file is missing, too large or not text."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_ANSWER_BYTES:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def main() -> int:
    """Score a file; print and write the rewards."""
    parser = argparse.ArgumentParser(description="Score an answer.")
    parser.add_argument("--rules", type=Path, required=True)
    parser.add_argument("--answer", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--reward", type=Path)
    parser.add_argument("--decisions", type=Path)
    given = parser.parse_args()
    if bool(given.answer) == bool(given.record):
        parser.error("expected exactly one of --answer and --record")
    rules = json.loads(given.rules.read_text(encoding="utf-8"))
    score = score_record if given.record else score_answer
    result = score(rules, read_text(given.record or given.answer))
    if given.decisions:
        given.decisions.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if given.reward:
        given.reward.write_text(json.dumps(result["rewards"]) + "\n", encoding="utf-8")
    print(json.dumps(result["rewards"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
