"""Records of Stirrup (0.2): what ``session.run`` returns, dumped as one object.

``{"finish_params": …, "history": [[message, …], …], "metadata": {…}}``, messages as its models dump them, and whatever
a harness adds: ``scenario`` (or ``incident``) and ``run_id``. https://github.com/ArtificialAnalysis/Stirrup
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.scoring.files.answers import format_problem
from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.run_records import fill_answer
from scenario_kit.scoring.files.source import Source, parse_source
from scenario_kit.scoring.runs.record import RunRecord, RunTimes, ToolCall
from scenario_kit.scoring.runs.usage import TokenCounts

#: Fields of a run's final parameters that may contain the answer.
_WRAPPED: Final = ("answer", "diagnosis", "output")


def is_stirrup_record(data: Any) -> bool:
    """Return whether a document is a record of Stirrup."""
    return isinstance(data, dict) and isinstance(data.get("history"), list) and "finish_params" in data


def read_stirrup_record(source: Source) -> RunRecord:
    """Read a record. A run that reached its cap has no ``finish_params``, and so no answer.

    Turns are assistant messages; tools of sub-agents are part of the tool that started them.

    Raises:
        AuthoringError: with every mistake of the record; an answer that cannot be read is the solver's mistake.
    """
    mistakes = Mistakes(source)
    fields = Fields(mistakes, (), source.data)
    messages = list(_list_messages(fields))
    replies = [each for each in messages if each.data.get("role") == "assistant"]
    finished = "finish_params" in fields
    record = RunRecord(
        incident=fields.read_text("scenario", numbers=True) or fields.read_text("incident", numbers=True),
        trial=fields.read_text("run_id", numbers=True),
        problem="" if finished else "no answer; the run ended by its cap of turns",
        stop="finish" if finished else "cap",
        times=_measure_times(messages, finished=finished),
        turns=len(replies),
        tool_calls=tuple(_list_calls(replies, messages)),
        tokens=_sum_tokens(replies),
        model=_read_model(fields),
        solver=fields.read_text("agent") or "stirrup",
    )
    mistakes.raise_errors()
    return _fill_finish(record, source) if finished else record


def _list_messages(fields: Fields) -> Iterator[Fields]:
    """List messages in order, without repetitions in a summarised history."""
    seen: set[str] = set()
    for number, stretch in enumerate(fields.read_values("history")):
        inner = stretch if isinstance(stretch, list) else [stretch]
        for place, message in enumerate(inner):
            where = ("history", number, place) if isinstance(stretch, list) else ("history", number)
            each = Fields(fields.mistakes, where, message)
            identity = str(each.data.get("id") or each.data.get("tool_call_id") or "")
            if identity and (key := f"{each.data.get('role')} {identity}") in seen:
                continue
            if identity:
                seen.add(key)
            yield each


def _measure_times(messages: list[Fields], *, finished: bool) -> RunTimes:
    starts = [at for each in messages if (at := each.read_number("request_start_time")) is not None]
    ends = [
        at
        for each in messages
        for name in ("request_end_time", "tool_end_time")
        if (at := each.read_number(name)) is not None
    ]
    if not starts or not ends:
        return RunTimes()
    wall = max(max(ends) - min(starts), 0.0)
    return RunTimes(wall=wall, diagnosis=wall if finished else None)


def _sum_tokens(replies: list[Fields]) -> TokenCounts | None:
    """Sum the tokens; Stirrup does not report cached ones. Before 0.2, ``answer`` was called ``output``."""
    used = [usage for each in replies if (usage := each.read_object("token_usage")) is not None]
    if not used:
        return None

    def add(*names: str) -> int:
        return sum(int(next((n for name in names if (n := each.read_number(name)) is not None), 0)) for each in used)

    return TokenCounts(input=add("input"), output=add("answer", "output"), reasoning=add("reasoning"))


def _list_calls(replies: list[Fields], messages: list[Fields]) -> Iterator[ToolCall]:
    """List calls with their results; a call without a result failed."""
    results = {each.read_text("tool_call_id"): each for each in messages if each.data.get("role") == "tool"}
    for message in replies:
        blocks = message.read_list("blocks") if "blocks" in message else message.read_list("tool_calls")
        for block in blocks:
            if block.data.get("kind", "tool_call") != "tool_call" or "name" not in block:
                continue
            result = results.get(block.read_text("tool_call_id") or block.read_text("id"))
            output = result.data.get("content") if result is not None else ""
            text = output if isinstance(output, str) else json.dumps(output)
            yield ToolCall(
                name=block.read_text("name", required=True), text=f"{block.data.get('arguments', '')} {text}",
                valid=result is None or result.read_flag("args_was_valid", True),
                ok=result is not None and result.read_flag("success", True),
            )  # fmt: skip


def _read_model(fields: Fields) -> str:
    metadata = fields.read_object("metadata")
    speed = metadata.data.get("_model_speed") if metadata is not None else None
    first = speed[0] if isinstance(speed, list) and speed else speed
    return str(first.get("model_slug") or "") if isinstance(first, dict) else ""


def _fill_finish(record: RunRecord, source: Source) -> RunRecord:
    """Add the final answer: the parameters themselves, or an object or text in one of their fields."""
    ended = source.data["finish_params"]
    name = next((each for each in _WRAPPED if isinstance(ended, dict) and ended.get(each) is not None), None)
    if name is None:
        return fill_answer(record, source, ("finish_params",))
    if not isinstance(ended[name], str):
        return fill_answer(record, source, ("finish_params", name))
    try:
        inner = parse_source(ended[name], f"{source.path}#finish_params.{name}")
    except AuthoringError as error:
        return msgspec.structs.replace(record, state="Invalid", problem=format_problem(error))
    return fill_answer(record, inner)
