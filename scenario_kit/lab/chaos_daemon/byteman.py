"""Parser for the Byteman rules that JVMChaos sends to the daemon.

A script is a sequence of rules, with each clause on its own line. Supported is what the Chaos Mesh manager generates
(sleep, throw, return, stressors, garbage collection), at the entry of a method and without a condition that would have
to be evaluated. Everything else is rejected, so that an unsupported rule is never mistaken for one without effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.lab.chaos_daemon.network import NotSimulated

_CLAUSE: Final = re.compile(
    r"(RULE|INTERFACE|CLASS|METHOD|HELPER|AT|AFTER|BIND|IF|DO|ENDRULE|IMPORT|COMPILE|NOCOMPILE)\b\s*(.*)"
)
_HELPERS: Final = {
    "": "",
    "org.jboss.byteman.rule.helper.Helper": "",
    "org.chaos_mesh.byteman.helper.GCHelper": "gc",
    "org.chaos_mesh.byteman.helper.StressHelper": "stress",
}
_SLEEP: Final = re.compile(r"(?:(?:java\.lang\.)?Thread\.sleep|delay)\(\s*(\d{1,18})[lL]?\s*\)")
_THROW: Final = re.compile(r'(?:throw|THROW)\s+new\s+([\w.$]+)\s*\(\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\)')
_RETURN: Final = re.compile(r"(?:return|RETURN)\b\s*(.*)", re.DOTALL)
_CPU: Final = re.compile(r'injectCPUStress\(\s*"[^"]*"\s*,\s*(\d{1,9})\s*\)')
_MEMORY: Final = re.compile(r'injectMemStress\(\s*"[^"]*"\s*,\s*"(\w+)"\s*\)')
_STATEMENT: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^;"])+')
#: Unchecked exceptions by package. Byteman disables a rule that throws a checked one the method does not declare.
_UNCHECKED: Final = {
    "java.lang": "RuntimeException ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException "
    "ClassCastException IllegalArgumentException IllegalMonitorStateException IllegalStateException "
    "IndexOutOfBoundsException NegativeArraySizeException NullPointerException NumberFormatException "
    "SecurityException StringIndexOutOfBoundsException UnsupportedOperationException",
    "java.util": "ConcurrentModificationException EmptyStackException InputMismatchException NoSuchElementException",
    "java.util.concurrent": "CancellationException RejectedExecutionException",
    "java.time": "DateTimeException",
}
_CHECKED: Final = {
    "java.lang": "Exception Throwable ClassNotFoundException CloneNotSupportedException InterruptedException "
    "NoSuchFieldException NoSuchMethodException",
    "java.io": "IOException EOFException FileNotFoundException",
    "java.net": "ConnectException NoRouteToHostException SocketException SocketTimeoutException UnknownHostException",
    "java.sql": "SQLException SQLTimeoutException",
    "java.util.concurrent": "BrokenBarrierException TimeoutException",
}


def parse_rules(script: str) -> list[dict[str, Any]]:
    """Parse the rules of a script: ``name``, ``class``, ``method``, and ``actions`` in order.

    An action is one of ``{sleepSeconds: 3.0}``, ``{throws: "java.lang.IllegalStateException: why"}``,
    ``{returns: "null"}``, ``{threads: 8}`` (busy ones), ``{fills: "heap"}``, ``{collects: true}``. A rule that Byteman
    accepts but never runs has no actions.

    Raises:
        ValueError: not a script of rules.
        NotSimulated: a valid script whose effect is not simulated.
    """
    found = [_parse_rule(clauses) for clauses in _split_script(script)]
    if not found:
        raise ValueError("the script contains no rule, expected one from RULE to ENDRULE")
    return found


def _split_script(script: str) -> Iterator[dict[str, str]]:
    clauses: dict[str, str] | None = None
    last = ""
    for line in script.splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _CLAUSE.fullmatch(text)
        if match is None:
            if clauses is None or not last:
                raise ValueError(f"{text!r} is outside of any rule")
            clauses[last] = f"{clauses[last]}\n{text}".strip()
            continue
        last, rest = match.groups()
        if last == "RULE":
            if clauses is not None:
                raise ValueError(f"rule {clauses['RULE']!r} has no ENDRULE")
            clauses = {}
        elif clauses is None and last not in ("IMPORT", "HELPER", "COMPILE", "NOCOMPILE"):
            raise ValueError(f"{text!r} is outside of any rule")
        if last == "ENDRULE" and clauses is not None:
            yield clauses
            clauses, last = None, ""
        elif clauses is not None:
            clauses[last] = rest
    if clauses is not None:
        raise ValueError(f"rule {clauses['RULE']!r} has no ENDRULE")


def _parse_rule(clauses: dict[str, str]) -> dict[str, Any]:
    name = clauses["RULE"]
    for clause in ("METHOD", "IF", "DO"):
        if not clauses.get(clause):
            raise ValueError(f"rule {name!r} has no {clause}")
    if "INTERFACE" in clauses or clauses.get("CLASS", "").startswith("^"):
        raise NotSimulated(f"rule {name!r}: matching of subclasses and implementations is not simulated")
    if not clauses.get("CLASS"):
        raise ValueError(f"rule {name!r} has no CLASS")
    if clauses.get("AT", "ENTRY") not in ("ENTRY", "") or "AFTER" in clauses:
        raise NotSimulated(f"rule {name!r}: locations other than AT ENTRY are not simulated")
    if "(" in clauses["METHOD"]:
        raise NotSimulated(f"rule {name!r}: method signatures are not simulated, omit the parameters")
    helper = _HELPERS.get(clauses.get("HELPER", ""))
    if helper is None:
        raise NotSimulated(f"rule {name!r}: helper {clauses['HELPER']} is not simulated")
    actions = list(_parse_actions(name, helper, clauses["DO"])) if _holds(name, clauses) else []
    return {"name": name, "class": clauses["CLASS"], "method": clauses["METHOD"], "actions": actions}


def _holds(name: str, clauses: dict[str, str]) -> bool:
    """Return whether the condition is true; its only known variable is bound by the manager's templates."""
    condition = clauses["IF"].strip()
    bound: dict[str, str] = dict(re.findall(r"(\w+)\s*:\s*boolean\s*=\s*(true|false)\s*;?", clauses.get("BIND", "")))
    truth = bound.get(condition, condition).lower()
    if truth not in ("true", "false"):
        raise NotSimulated(f"rule {name!r}: the condition {condition!r} is not simulated, only true and false are")
    return truth == "true"


def _parse_actions(name: str, helper: str, body: str) -> Iterator[dict[str, Any]]:
    for part in _STATEMENT.findall(body):
        statement = part.strip()
        if not statement or statement == "NOTHING":
            continue
        if match := _SLEEP.fullmatch(statement):
            yield {"sleepSeconds": int(match[1]) / 1000.0}
        elif match := _THROW.fullmatch(statement):
            if thrown := _resolve_exception(name, match[1]):
                yield {"throws": f"{thrown}: {match[2]}" if match[2] else thrown}
            return
        elif match := _RETURN.fullmatch(statement):
            yield {"returns": match[1].strip()}
            return
        elif helper == "stress" and (match := _CPU.fullmatch(statement)):
            yield {"threads": int(match[1])}
        elif helper == "stress" and (match := _MEMORY.fullmatch(statement)):
            if match[1] != "heap":
                raise NotSimulated(f"rule {name!r}: a program's limit of threads is not simulated")
            yield {"fills": match[1]}
        elif helper == "gc" and statement == "gc()":
            yield {"collects": True}
        else:
            raise NotSimulated(f"rule {name!r}: the statement {statement!r} is not simulated")


def _resolve_exception(name: str, spelled: str) -> str:
    """Return the full name of an unchecked exception; empty for a checked one.

    Byteman checks this when a rule first triggers, logs to the program's output, and continues without the rule.
    """
    package, _, simple = spelled.rpartition(".")
    package = package or "java.lang"  # imported by default
    if simple in _UNCHECKED.get(package, "").split():
        return f"{package}.{simple}"
    if simple in _CHECKED.get(package, "").split():
        return ""
    raise NotSimulated(f"rule {name!r}: class {spelled} is not a known exception; other classes are not simulated")
