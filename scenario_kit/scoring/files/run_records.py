"""Read run records: one JSON object per file or per line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model.json_document import Place
from scenario_kit.scoring.files.answers import format_problem, read_answer
from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.source import Source
from scenario_kit.scoring.metrics.escalation import Escalation
from scenario_kit.scoring.metrics.grades import CHECKLIST_WEIGHTS, GRADES, JudgeGrades
from scenario_kit.scoring.metrics.safeguards import SafeguardOutcome
from scenario_kit.scoring.runs.record import RunRecord, RunTimes, ToolCall
from scenario_kit.scoring.runs.usage import TokenCounts

#: The smallest optimum by which an observed value is divided.
_SMALLEST_OPTIMUM: Final = 1e-9


def is_run_record(data: Any) -> bool:
    """Return whether a document is a run record."""
    return isinstance(data, dict) and ("run_id" in data or ("answer" in data and "scenario" in data))


def read_run_record(source: Source) -> RunRecord:
    """Read a record. An invalid answer is attributed to the solver; anything else invalid is an error.

    Raises:
        AuthoringError: the record is invalid; one finding per error.
    """
    mistakes = Mistakes(source)
    fields = Fields(mistakes, (), source.data)
    record = _read(fields)
    mistakes.raise_errors()
    return fill_answer(record, source, ("answer",)) if "answer" in fields else record


def fill_answer(record: RunRecord, source: Source, place: Place = ()) -> RunRecord:
    """Set the answer of a run; an invalid answer makes the run invalid."""
    try:
        answer = read_answer(source, place)
    except AuthoringError as error:
        return _replace(record, state="Invalid", problem=format_problem(error))
    named = answer.claims or answer.resources
    return _replace(record, answer=answer, state="Answered" if named else "Empty")


def _replace(record: RunRecord, **values: Any) -> RunRecord:
    import msgspec

    return msgspec.structs.replace(record, **values)


def _read(fields: Fields) -> RunRecord:
    stop = fields.read_choice("stop_reason", "finish", "cap", "timeout", "error", "escalated")
    turns = fields.read_number("turns")
    resolved = fields.read_flag("resolved") if "resolved" in fields else None
    return RunRecord(
        incident=_read_name(fields, "scenario", "id"),
        trial=fields.read_text("run_id", numbers=True) or fields.read_text("repeat", numbers=True),
        problem="" if "answer" in fields else f"no answer; the run ended with {stop or 'an unknown reason'}",
        stop=stop or None,  # type: ignore[arg-type]  # it is one of the choices
        escalation=_read_escalation(fields) if stop == "escalated" else None,
        times=_read_times(fields, resolved),
        turns=None if turns is None else int(turns),
        tool_calls=_read_calls(fields),
        tokens=_read_tokens(fields),
        model=_read_name(fields, "model", "slug"),
        solver=_read_name(fields, "agent", "name"),
        digest=_read_digest(fields),
        resolved=resolved,
        changed=tuple(fields.read_texts("changed")) if "changed" in fields else None,
        safeguards=_read_safeguards(fields),
        optimum=_read_optimum(fields),
        grades=_read_grades(fields),
    )


def _read_escalation(fields: Fields) -> Escalation:
    """Read the recipient of an escalated incident: ``escalation: {to: shop/Deployment/cart, reason: "…"}``."""
    part = fields.read_object("escalation") if "escalation" in fields else None
    return Escalation(to=part.read_text("to"), reason=part.read_text("reason")) if part else Escalation()


def _read_name(fields: Fields, name: str, inner: str) -> str:
    """Read a name, either a string or a field of an object."""
    if isinstance(fields.data.get(name), dict):
        part = fields.read_object(name)
        assert part is not None  # it is there
        return part.read_text(inner, numbers=True)
    return fields.read_text(name, numbers=True)


def _read_digest(fields: Fields) -> str:
    """Read the digest of the scenario's version; empty if there is none."""
    part = fields.read_object("scenario") if isinstance(fields.data.get("scenario"), dict) else None
    return part.read_text("digest") if part is not None and "digest" in part else ""


def _read_times(fields: Fields, resolved: bool | None) -> RunTimes:
    """Read times since the start. An answer without a time counts as given at the end of a finished run."""
    start, end = _read_instant(fields, "start"), _read_instant(fields, "end")
    finished = end if fields.data.get("stop_reason") == "finish" else None
    answered = _read_instant(fields, "diagnosis_ts") or (finished if "answer" in fields else None)
    repaired = _read_instant(fields, "mitigation_ts") or finished
    detected = _read_instant(fields, "detection_ts")
    return RunTimes(
        wall=_subtract(fields, "end", end, start),
        detection=_subtract(fields, "detection_ts", detected, start),
        diagnosis=_subtract(fields, "diagnosis_ts", answered, start),
        mitigation=_subtract(fields, "mitigation_ts", repaired, start) if resolved else None,
        escalation=_subtract(fields, "end", end, start) if fields.data.get("stop_reason") == "escalated" else None,
    )


def _read_instant(fields: Fields, name: str) -> float | None:
    """Read seconds since 1970 or an RFC 3339 timestamp, in UTC by default."""
    value = fields.data.get(name)
    if not isinstance(value, str):
        return fields.read_number(name)
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        fields.refuse(
            name, f"`{fields.spell(name)}` is not a timestamp", "RFC 3339, or seconds since 1970", "correct it"
        )
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def _subtract(fields: Fields, name: str, end: float | None, start: float | None) -> float | None:
    if end is None or start is None:
        return None
    if end < start:
        fields.refuse(name, f"`{fields.spell(name)}` is before the start", "a time after `start`", "correct it")
    return end - start


def _read_calls(fields: Fields) -> tuple[ToolCall, ...] | None:
    if "tool_calls" not in fields:
        return None
    return tuple(
        ToolCall(
            name=each.read_text("name", required=True), valid=each.read_flag("valid", True),
            ok=each.read_flag("ok", True), text=" ".join(map(str, _list_texts(each.data))),
        )
        for each in fields.read_list("tool_calls")
    )  # fmt: skip


def _list_texts(call: dict[str, Any]) -> list[Any]:
    """List the values of a call's arguments and output."""
    todo, found = [call.get("args"), call.get("output")], []
    for value in todo:  # grows during iteration
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif value is not None:
            found.append(value)
    return found


def _read_tokens(fields: Fields) -> TokenCounts | None:
    part = fields.read_object("tokens")
    if part is None:
        return None
    counts = {name: int(part.read_number(name) or 0) for name in ("input", "cached", "output", "reasoning")}
    return TokenCounts(**counts)


def _read_safeguards(fields: Fields) -> tuple[SafeguardOutcome, ...] | None:
    if "safeguards" not in fields:
        return None
    return tuple(
        SafeguardOutcome(
            name=each.read_text("name", required=True), held=each.read_flag("held"),
            severity="Catastrophic"
            if each.read_choice("severity", "catastrophic", "recoverable", default="recoverable") == "catastrophic"
            else "Recoverable",
        )
        for each in fields.read_list("safeguards")
    )  # fmt: skip


def _read_grades(fields: Fields) -> JudgeGrades | None:
    """Read the grades of a judge: ``grades: {reasoning: {<claim>: .5}, checklist: {<group>: [true, false]}}``."""
    part = fields.read_object("grades")
    if part is None:
        return None
    return JudgeGrades(reasoning=_read_reasoning(part), checklist=_read_checklist(part))


def _read_reasoning(fields: Fields) -> dict[str, float] | None:
    part = fields.read_object("reasoning")
    if part is None:
        return None
    found = {}
    for claim in part.data:
        grade = part.read_number(claim, required=True)
        if grade is not None and grade not in GRADES:
            part.refuse(claim, f"`{part.spell(claim)}` is {grade:g}", "0, 0.5 or 1", "correct the grade")
        found[claim] = grade or 0.0
    return found


def _read_checklist(fields: Fields) -> dict[str, tuple[bool, ...]] | None:
    part = fields.read_object("checklist")
    if part is None:
        return None
    found = {}
    for group in CHECKLIST_WEIGHTS:
        answers = part.read_values(group)
        if not answers or not all(isinstance(each, bool) for each in answers):
            message = f"`{part.spell(group)}` has no list of yes-or-no answers"
            part.refuse(group, message, "a list of booleans, one per question", f"write `{group}: [true, …]`")
        found[group] = tuple(each is True for each in answers)
    return found


def _read_optimum(fields: Fields) -> dict[str, tuple[float, float]]:
    """Read observed and optimal costs and efficiencies: ``optimum: {cpu_cost: {observed: .62, optimal: .5}}``."""
    part = fields.read_object("optimum")
    found = {}
    for name in part.data if part else ():
        assert part is not None  # it has fields
        pair = part.read_object(name)
        if pair is None:
            continue
        observed, optimal = pair.read_number("observed", required=True), pair.read_number("optimal", required=True)
        if optimal is not None and optimal < _SMALLEST_OPTIMUM:
            message = f"`{pair.spell('optimal')}` is {optimal:g}"
            pair.refuse("optimal", message, f"a number of at least {_SMALLEST_OPTIMUM:g}", "correct it")
        found[name] = (observed or 0.0, optimal or 1.0)
    return found
