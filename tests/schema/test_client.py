"""Clients of stores: which entry of an app's definition a command is an instance of, and what that does."""

import pytest

from scenario_kit.model import Client, StoreEffect
from scenario_kit.model.runtime.client import match_command

SET = ["cli", "-h", "{host}", "CONFIG", "SET", "requirepass", "{password}"]
LOCK = ["psql", "-c", "LOCK TABLE {table}; SELECT pg_sleep({seconds})"]
CLIENT = Client.from_json(
    {
        "name": "store",
        "store": "store",
        "image": "store:1",
        "address": "redis://{host}:6379",
        "commands": [
            {"command": SET, "does": {"setPassword": "{password}"}},
            {"command": LOCK, "choices": {"table": ["a.b"]}, "does": {"lockTable": "{table}"}},
            {"command": ["cli", "PING"]},
        ],
    }
)


@pytest.mark.parametrize(
    ("pattern", "words", "expected"),
    [
        (["a", "{x}"], ["a", "b c"], {"x": "b c"}),
        (["a", "{x}"], ["a", ""], {"x": ""}),
        (["SET {x} TO {y}"], ["SET p TO q"], {"x": "p", "y": "q"}),
        (["a.b"], ["axb"], None),
        (["a", "{x}"], ["a"], None),
        (["{x}", "{x}"], ["1", "1"], {"x": "1"}),
        (["{x}", "{x}"], ["1", "2"], None),
        (["{x}={x}"], ["1=2"], None),
        (["head -c {x} /dev/zero"], ["head -c 1048576 /dev/zero"], {"x": "1048576"}),
        (["head -c {x} /dev/zero"], ["head -c $(id) /dev/zero"], None),
        (["ALTER ROLE {x} LOGIN"], ["ALTER ROLE a; DROP TABLE b; ALTER ROLE c LOGIN"], None),
    ],
)
def test_command_is_an_instance_of_a_pattern(pattern, words, expected):
    assert match_command(pattern, words) == expected


@pytest.mark.parametrize(
    ("words", "does"),
    [
        ([*SET[:2], "valkey", *SET[3:6], "x{y}"], StoreEffect(set_password="x{y}")),
        ([*SET[:2], "valkey", *SET[3:6], ""], StoreEffect(set_password="")),
        (["psql", "-c", "LOCK TABLE a.b; SELECT pg_sleep(9)"], StoreEffect(lock_table="a.b")),
        (["cli", "PING"], StoreEffect()),
        (["psql", "-c", "LOCK TABLE a.c; SELECT pg_sleep(9)"], None),
        (["cli", "FLUSHALL"], None),
    ],
)
def test_command_matches_its_declared_effect(words, does):
    found = CLIENT.matched(words)
    assert (found and found[0].does.filled(found[1])) == does


def test_lasting_effects_belong_to_sessions():
    assert StoreEffect(lock_table="a.b").lasts
    assert StoreEffect(hold_connections="9").lasts
    assert not StoreEffect(set_password="").lasts
