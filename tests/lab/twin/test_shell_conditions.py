"""Scripts of init containers that depend on the pod's name, or end with an exit code."""

from __future__ import annotations

import pytest

from scenario_kit.lab.twin.startup.init_wait import Script, waits
from scenario_kit.lab.twin.startup.shell_conditions import resolve_conditions

WAIT = "until nc -z db-0.db 5432; do sleep 1; done"
#: A script, and the hosts that db-0 and db-2 wait for.
SCRIPTS = [
    (f'[ "$(hostname)" = db-0 ] || {WAIT}', [], ["db-0.db"]),
    (f'[ "$HOSTNAME" != "db-0" ] && {WAIT}', [], ["db-0.db"]),
    (f"[[ ${{HOSTNAME}} == db-0 ]] && exit 0; {WAIT}", [], ["db-0.db"]),
    (f"if [ `hostname` = db-0 ]; then echo first; else {WAIT}; fi", [], ["db-0.db"]),
    (f"if [ $(hostname -s) != db-0 ]\nthen\n{WAIT}\nfi", [], ["db-0.db"]),
    (f"[ ${{HOSTNAME##*-}} -eq 0 ] || {WAIT}", [], ["db-0.db"]),
    (f"ordinal=${{HOSTNAME##*-}}; if [ $ordinal -gt 1 ]; then {WAIT}; fi", [], ["db-0.db"]),
    (
        "set -ex\n[[ $HOSTNAME =~ -([0-9]+)$ ]] || exit 1\n"
        f"ordinal=${{BASH_REMATCH[1]}}\n[[ $ordinal -eq 0 ]] && exit 0\n{WAIT}",
        [],
        ["db-0.db"],
    ),
    (WAIT, ["db-0.db"], ["db-0.db"]),
    (f"[ -f /data/ready ] || {WAIT}", ["db-0.db"], ["db-0.db"]),
    (f'[ "$MODE" = x ] || {WAIT}', ["db-0.db"], ["db-0.db"]),
]


@pytest.mark.parametrize(("script", "first", "third"), SCRIPTS)
def test_scripts_are_read_for_the_pod_that_runs_them(script: str, first: list[str], third: list[str]) -> None:
    for hostname, hosts in (("db-0", first), ("db-2", third)):
        assert [w.host for w in waits(Script(resolve_conditions(script, hostname), "i"))] == hosts, hostname


@pytest.mark.parametrize(
    ("script", "codes"),
    [
        ("echo broken; exit 3", [3]),
        ("sh -c exit 3", [3]),
        ("test -d /data || exit 1", []),
        ("test -d /data ||  exit 1; chmod 700 /data", []),
        ("if [ -z $A ]; then exit 1; fi", []),
        ("if grep a b\nthen\n echo no\n exit 1\nfi\ncp a b", []),
        ("if grep a b; then echo yes; fi; exit 2", [2]),
        ("case $A in b) exit 1;; esac", []),
    ],
)
def test_only_an_exit_of_the_script_itself_is_a_failure(script: str, codes: list[int]) -> None:
    assert [w.code for w in waits(Script(script, "i"))] == codes


def test_long_scripts_of_strangers_are_read_in_bounded_time() -> None:
    text = "[ a = a ] || " * 400 + "$(hostname)" * 400

    assert len(resolve_conditions(text, "db-0")) <= len(text)
