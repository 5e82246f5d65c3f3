"""Commands and environments of containers that nobody means well with: the lab reads on."""

from __future__ import annotations

import time

import pytest

from scenario_kit.lab.kubelet.image import shell_idioms
from scenario_kit.lab.twin.cluster.environment import expand
from scenario_kit.lab.twin.startup.init_wait import Script, waits

DIGITS = "9" * 5_000


@pytest.mark.parametrize(
    "command",
    [
        f"sleep {DIGITS}", f"exit {DIGITS}", f"nc -z store {DIGITS}", f"curl http://store:{DIGITS}/", "curl " * 50_000,
        "nc -z " * 50_000, "dd " * 80_000 + "of=x", f"dd if=/dev/zero of=/dev/shm/x bs={DIGITS} count={DIGITS}",
        f"grep -q a /etc/x || exit {DIGITS}", "grep -q '((a+)+)+$' /etc/x", "until [ -f " * 20_000,
    ],
)  # fmt: skip
def test_command_is_read_soon(command: str) -> None:
    before = time.process_time()

    waits(Script(command, "wait"))
    shell_idioms.evaluate_script(["sh", "-c", command], lambda _path: "a" * 5_000 + "!")
    shell_idioms.format_overflow(["sh", "-c", command], lambda _path: 1.0)

    assert time.process_time() - before < 2


def test_recursive_variables_are_bounded() -> None:
    known = {"V0": "x" * 10}
    for i in range(1, 30):
        known[f"V{i}"] = expand(f"$(V{i - 1})" * 10, known)

    assert len(known["V3"]) == 10**4
    assert len(known["V29"]) == 128 * 1024
    assert expand("a$(V0)b$$(V0)$(NOBODY)", known) == "a" + "x" * 10 + "b$(V0)$(NOBODY)"
