"""Read answers in the common formats; an invalid answer is rejected as a whole."""

from __future__ import annotations

from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Finding
from scenario_kit.model.json_document import Place
from scenario_kit.scoring.entities.answer import AnswerEdge, SolverAnswer
from scenario_kit.scoring.entities.truth import FinopsResource
from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.source import Source

#: The field that identifies each format: ITBench-Lite, ITBench-AA, Harbor's adapter, FinOps.
FORMATS: Final = ("entities", "contributing_factors", "root_causes", "resource")


def read_answer(source: Source, place: Place = ()) -> SolverAnswer:
    """Read an answer in any of the formats.

    Args:
        source: the file.
        place: path to the answer within the file.

    Raises:
        AuthoringError: the answer is invalid; one finding per error.
    """
    mistakes = Mistakes(source)
    data: Any = source.data
    for step in place:
        data = data[step]
    fields = Fields(mistakes, place, data)
    found = next((name for name in FORMATS if name in fields.data), "")
    read = {
        "entities": _read_itbench, "contributing_factors": _read_factors, "root_causes": _read_harbor,
        "resource": _read_resources,
    }.get(found)  # fmt: skip
    if read is None:
        expected = " | ".join(FORMATS)
        message = "unknown answer format"
        mistakes.note_missing(place, message, expected=expected, fix=f"write one of {expected}")
        mistakes.raise_errors()
        raise AssertionError  # there is one
    answer = read(fields)
    mistakes.raise_errors()
    return answer


def build_agent_output(answer: SolverAnswer) -> dict[str, Any]:
    """Build ITBench's ``agent_output.json`` from an answer; free text, which is not scored, is dropped."""
    claimed = set(answer.claims)
    entities = [
        {"name": name, "contributing_factor": name in claimed, "reasoning": "", "evidence": ""}
        for name in dict.fromkeys([*answer.claims, *answer.chain])
    ]
    edges = [{"source": edge.source, "target": edge.target, "condition": "", "effect": ""} for edge in answer.edges]
    return {"entities": entities, "propagations": edges, "alerts_explained": []}


def format_problem(error: AuthoringError) -> str:
    """Format the first problem of an answer in one line, with its position."""
    first: Finding | None = error.findings[0] if error.findings else None
    return f"{first.position}: {first.message}" if first else error.message


def _read_itbench(fields: Fields) -> SolverAnswer:
    """Read an ITBench-Lite answer, or the paper's variant, whose entities have ``id`` and ``root_cause``."""
    entities = fields.read_list("entities", required=True)
    paper = any("id" in each and "name" not in each for each in entities) or "alert_start_time" in fields
    name, flag = ("id", "root_cause") if paper else ("name", "contributing_factor")
    claims, chain = [], []
    for each in entities:
        text, claimed = each.read_text(name, required=True), each.read_flag(flag)
        chain.append(text)
        claims += [text] if claimed else []
    edges = _read_edges(fields)
    if not paper:
        fields.read_list("alerts_explained", required=True)
    return SolverAnswer(claims=tuple(claims), chain=tuple(chain), edges=edges)


def _read_factors(fields: Fields) -> SolverAnswer:
    names = tuple(each.read_text("name", required=True) for each in fields.read_list("contributing_factors"))
    return SolverAnswer(claims=names, chain=names)


def _read_harbor(fields: Fields) -> SolverAnswer:
    claims = tuple(_spell_entity(each) for each in fields.read_list("root_causes"))
    chain, edges = list(claims), []
    for i, link in enumerate(fields.read_values("propagation_chain")):
        if isinstance(link, str):
            chain.append(link)
            continue
        each = Fields(fields.mistakes, (*fields.place, "propagation_chain", i), link)
        if "source" in each or "target" in each:
            ends = (each.read_text("source", required=True), each.read_text("target", required=True))
            edges.append(AnswerEdge(source=ends[0], target=ends[1]))
        else:
            chain.append(_spell_entity(each))
    return SolverAnswer(claims=claims, chain=tuple(chain), edges=tuple(edges))


def _read_resources(fields: Fields) -> SolverAnswer:
    return SolverAnswer(
        resources=tuple(
            FinopsResource(name=each.read_text("name", required=True), type=each.read_text("type", required=True))
            for each in fields.read_list("resource")
        )
    )


def _read_edges(fields: Fields) -> tuple[AnswerEdge, ...]:
    found = fields.read_list("propagations", required=True)
    return tuple(
        AnswerEdge(source=each.read_text("source", required=True), target=each.read_text("target", required=True))
        for each in found
    )


def _spell_entity(fields: Fields) -> str:
    """Format an object as ``namespace/Kind/name``; a name that already has this form is kept."""
    name, kind, namespace = fields.read_text("name", required=True), fields.read_text("kind"), ""
    namespace = fields.read_text("namespace")
    return name if "/" in name else "/".join(part for part in (namespace, kind, name) if part)
