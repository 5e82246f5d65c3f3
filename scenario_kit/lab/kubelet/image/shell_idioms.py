"""Outcomes of common shell idioms, parsed from the command: file checks, waits for files, filling memory.

Only recognised idioms are decided here; all else is left to the simulation of the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from scenario_kit.model.re2 import compile_pattern
from scenario_kit.model.runtime.process import InitState

#: The size of the runtime's default mount at /dev/shm, in bytes.
SHARED_MEMORY = 64 * 2**20
#: The maximum length of a parsed command; parsing time is quadratic.
_READ = 4096
_GREP = re.compile(r"\bgrep\s+-\w*q\w*\s+(['\"])(?P<pattern>.+?)\1\s+(?P<path>/[^\s;|&]+)(?P<rest>.*)", re.DOTALL)
_FILE = re.compile(r"\b(?:until|while\s+!)\s+(?:\[|test)\s+-[efs]\s+(?P<path>/[^\s\];]+)")
_DD = re.compile(r"\bdd\b(?P<words>[^;|&]*\bof=(?P<path>/dev/shm/[^\s;|&]+)[^;|&]*)")
_ECHO = re.compile(r"\becho\s+(['\"])(?P<text>.+?)\1")
_EXIT = re.compile(r"\bexit\s+(?P<code>[1-9]\d{0,8})\b")
_SLEEP = re.compile(
    r"(?:^|[;&|\n({])\s*(?:/\S*/)?sleep\s+(?P<number>\d{1,9}(?:\.\d{1,9})?)(?P<unit>[smhd]?)(?=\s|[;&|)}]|$)"
)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SHELLS = ("sh", "bash", "ash", "dash")
_UNITS = {"": 1, "k": 2**10, "K": 2**10, "M": 2**20, "G": 2**30}


def evaluate_script(words: Sequence[str], read: Callable[[str], str | None]) -> InitState | None:
    """Return the state of a command that checks or waits for a file; None for any other command.

    ``read`` returns the text of a mounted file.
    """
    text = " ".join(words)[:_READ]
    if found := _FILE.search(text):
        return InitState("Running" if read(found["path"]) is None else "Succeeded")
    if found := _GREP.search(text):
        content = read(found["path"])
        try:
            if content is not None and any(map(compile_pattern(found["pattern"]).found_in, content.splitlines())):
                return InitState("Succeeded")
        except ValueError:
            return None  # not a Python-compatible pattern
        alternative = found["rest"].partition("||")[2]
        code = _EXIT.search(alternative)
        missing = [f"grep: {found['path']}: No such file or directory"] if content is None else []
        lines = (*missing, *(echo["text"] for echo in _ECHO.finditer(alternative)))
        if alternative and code is None:
            return InitState("Succeeded", 0, lines)
        return InitState("Failed", int(code["code"]) if code else 1, lines)
    return None


def measure_sleep(words: Sequence[str]) -> float:
    """Return how many seconds a command sleeps, alone or in the script of a shell; 0 for any other command."""
    program = words[0].rpartition("/")[2] if words else ""
    script = " ".join(("sleep", *words[1:2])) if program == "sleep" else ""
    if program in _SHELLS and len(words) > 2 and words[1].startswith("-") and words[1].endswith("c"):
        script = words[2]
    found = _SLEEP.finditer(script[:_READ])
    return sum(float(each["number"]) * _SECONDS[each["unit"]] for each in found)


def format_overflow(words: Sequence[str], capacity: Callable[[str], float]) -> str:
    """Return the error of ``dd`` if it exceeds the capacity of shared memory in bytes; empty otherwise."""
    found = _DD.search(" ".join(words)[:_READ])
    if found is None:
        return ""
    options = dict(word.split("=", 1) for word in found["words"].split() if "=" in word)
    block = re.fullmatch(r"(?P<number>\d{1,18})(?P<unit>[kKMG]?)", options.get("bs", "512"))
    count = options.get("count", "")
    desired = (
        int(block["number"]) * _UNITS[block["unit"]] * int(count)
        if block and re.fullmatch(r"\d{1,18}", count)
        else float("inf")
    )
    return f"dd: error writing '{found['path']}': No space left on device" if desired > capacity(found["path"]) else ""
