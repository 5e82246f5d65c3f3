"""Suggestions for misspelled words."""

import pytest

from scenario_kit.model import Reference
from scenario_kit.model.spelling import ask_which, did_you_mean, suggest

PORTS = ("port", "name", "targetPort")


@pytest.mark.parametrize(
    ("word", "candidates", "fix"),
    [
        ("prot", PORTS, "did you mean `port`?"),
        ("port1", ["port2", "port3", "name"], "did you mean `port2` or `port3`?"),
        ("rabitmq", ["rabbitmq", "rabbitmq", "web"], "did you mean `rabbitmq`?"),
        ("xyz", PORTS, "use one of `name`, `port`, `targetPort`"),
        ("xyz", [], "there are no candidates"),
    ],
)
def test_fix_names_the_closest_candidates_or_lists_all(word: str, candidates: list[str], fix: str) -> None:
    assert did_you_mean(word, candidates) == fix


def test_default_replaces_the_list_but_no_close_candidate() -> None:
    assert did_you_mean("xyz", PORTS, default="remove it") == "remove it"
    assert did_you_mean("prot", PORTS, default="remove it") == "did you mean `port`?"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("Deployment/crt", ("Deployment/cart",)),
        ("Deployment/zzz", ()),
        ("Deployment/store", ("StatefulSet/store",)),
        ("Deploymnt/cart", ("Deployment/cart",)),
        ("data/StatefulSet/stor", ("data/StatefulSet/store",)),
    ],
)
def test_references_are_compared_by_name_within_their_kind(word: str, found: tuple[str, ...]) -> None:
    names = ("Deployment/cart", "Deployment/checkout", "Service/web", "StatefulSet/store", "data/StatefulSet/store")
    refs = [Reference.parse(name) for name in names]
    assert suggest(word, refs)[:1] == found


def test_nothing_is_asked_about_no_names() -> None:
    assert (ask_which(["a", "b"]), ask_which([])) == ("did you mean `a` or `b`?", "")
