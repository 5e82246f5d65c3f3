"""docs/security.md: writes the generated tables and keeps everything else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from scenario_kit.model import Object
from scenario_kit.schema.writable import EXCEPTIONS, WRITABLE
from tools.admission.attempts import Attempt, load_attempts

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
_NEVER = "nothing"


def update_tables(text: str) -> str:
    """Return the page with current tables."""
    for name, table in (
        ("kinds", _render_kinds()),
        ("exceptions", _render_exceptions()),
        ("attempts", _render_attempts(load_attempts())),
    ):
        begin, end = f"<!-- {name}: written by ci/attempts --page -->", f"<!-- end of {name} -->"
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{table}\n{end}", text, flags=re.S)  # noqa: B023
    return text


def _format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def _render_kinds() -> str:
    groups: dict[tuple[str, str], list[str]] = {}
    for each in WRITABLE:
        groups.setdefault((each.group or "core", each.declared), []).append(each.kind)
    rows = [(group, ", ".join(kinds), _format_declaration(need) or "–") for (group, need), kinds in groups.items()]
    return _format_table(("group", "kinds", "declared by the fault"), rows)


def _format_declaration(need: str) -> str:
    if not need:
        return ""
    return f"`{need}`" if need in EXCEPTIONS else "`scope: Cluster`" if need == "Cluster" else f"`requires: [{need}]`"


def _render_exceptions() -> str:
    return _format_table(("exception", "what it does"), [(f"`{name}`", text) for name, text in EXCEPTIONS.items()])


def _render_attempts(every: Sequence[Attempt]) -> str:
    rows = [
        (str(i), a.name, _format_change(a.changes), a.code, _format_declaration(a.declared) or _NEVER)
        for i, a in enumerate(every, 1)
    ]
    return _format_table(("", "attempt", "change", "code", "allowed by"), rows)


def _format_change(changes: Sequence[Object]) -> str:
    """Format the last change on one line, without boilerplate fields."""
    (operation, body), *until = changes[-1].items()
    if until:
        text = f"{operation} {body['target']} until {json.dumps(until[0][1]['check'])}"
    elif operation == "run":
        text = f"{operation} {body['client']} {json.dumps(body['command'])}"
    elif "kind" in body:
        rest = {k: v for k, v in body.items() if k not in ("apiVersion", "kind", "metadata")}
        text = f"{operation} {body['kind']} {json.dumps(rest)}"
    else:
        text = f"{operation} {body['target']} {json.dumps(body.get('patch', ''))}"
    return f"`{text[:90]}{'…' if len(text) > 90 else ''}`".replace("|", "\\|").replace(' ""', "").replace(" {}", "")
