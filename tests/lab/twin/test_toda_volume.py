"""Rules of chaos in files: which operations they concern, as the injector's own filter decides."""

from typing import Any

import pytest

from scenario_kit.lab.twin.process.toda_volume import IoRule, Volume, is_within, parse_rules

_ERROR = {"type": "fault", "faults": [{"errno": 5, "weight": 1}]}


def _rule(**fields: Any) -> IoRule:
    (rule,) = parse_rules([{**_ERROR, **fields}])
    return rule


@pytest.mark.parametrize(
    ("glob", "path", "meets"),
    [
        ("", "/d/a", True),
        ("/d/*", "/d/a", True),
        ("/d/*", "/d/a/b", False),
        ("/d/**/*", "/d/a", True),
        ("/d/**/*", "/d/a/b/c", True),
        ("/d/**/*", "/e/a", False),
        ("/d/**", "/d/a/b", True),
        ("/d/a?", "/d/ab", True),
        ("/d/a?b", "/d/a/b", False),
        ("/d/[ab]*", "/d/b1", True),
        ("/d/[!ab]*", "/d/b1", False),
        ("/d/[!a]b", "/d//b", False),
        ("/d/a.b", "/d/axb", False),
        ("/d/a**", "/e", True),  # no glob: the injector then takes every path
        ("/d/[a", "/e", True),
    ],
)
def test_paths(glob: str, path: str, meets: bool) -> None:
    assert _rule(path=glob).matches(path, "read") == meets


@pytest.mark.parametrize(
    ("methods", "method", "meets"),
    [
        (None, "fsync", True),
        ([], "fsync", True),
        (["READ", "write"], "write", True),
        (["READ", "write"], "read", True),
        (["read"], "write", False),
        (["scribble"], "write", False),  # names that it does not know count, but concern nothing
    ],
)
def test_methods(methods: list[str] | None, method: str, meets: bool) -> None:
    assert _rule(methods=methods).matches("/d/a", method) == meets


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ({"type": "latency", "delaySeconds": 2.0, "percent": 30}, {"delay_seconds": 2.0, "share": 0.3}),
        ({"type": "fault", "faults": [{"errno": 5, "weight": 1}, {"errno": 28, "weight": 3}]},
         {"errors": ((5, 0.25), (28, 0.75))}),
        ({"type": "mistake", "mistake": {"filling": "zero", "maxOccurrences": 1, "maxLength": 1}},
         {"falsifies": True, "methods": frozenset({"read"})}),
        ({"type": "attrOverride", "perm": 0}, {"errors": ((13, 1.0),), "methods": frozenset({"open"})}),
    ],
)  # fmt: skip
def test_actions(action: dict[str, Any], expected: dict[str, Any]) -> None:
    (rule,) = parse_rules([action])
    assert {name: getattr(rule, name) for name in expected} == expected


@pytest.mark.parametrize(
    "action",
    [
        {"type": "fault", "faults": []},
        {"type": "mistake", "mistake": {"maxOccurrences": 0, "maxLength": 9}},
        {"type": "mistake", "methods": ["write"], "mistake": {"maxOccurrences": 1, "maxLength": 9}},
        {"type": "attrOverride", "perm": 0o644},
        {"type": "attrOverride", "size": 0},
    ],
)
def test_actions_without_effect_are_dropped(action: dict[str, Any]) -> None:
    assert parse_rules([action]) == ()


def test_only_paths_on_the_volume_are_affected() -> None:
    volume = Volume()
    assert volume.over("/d/a", "read") == []
    volume.meet("/d", [_rule()])
    assert [len(volume.over(path, "read")) for path in ("/d/a", "/d", "/da", "/e/a")] == [1, 1, 0, 0]
    assert is_within("/a", "/")


def test_changed_rules_release_waiting_calls() -> None:
    volume = Volume()
    volume.meet("/d", [_rule()])
    volume.waits["f"] = 9.0
    volume.meet("/d", [_rule()])
    assert volume.waits == {"f": 9.0}
    volume.meet("", [])
    assert volume.waits == {}
