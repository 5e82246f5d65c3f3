"""Verb *draft*: a few answers to a complete scenario file. Pure; the command ``new`` asks and writes."""

from scenario_kit.draft.accept import draw_edges, select_observed, write_accepted
from scenario_kit.draft.answers import Aimed, Answers, BreakableEntity, aim_fault, find_faults, list_entities, name_for
from scenario_kit.draft.document import Draft, check_name, draft, join_drafts
from scenario_kit.draft.header import build_schema_header, dump_schema

__all__ = [
    "Aimed",
    "Answers",
    "Draft",
    "BreakableEntity",
    "write_accepted",
    "aim_fault",
    "check_name",
    "draft",
    "draw_edges",
    "list_entities",
    "find_faults",
    "join_drafts",
    "name_for",
    "select_observed",
    "build_schema_header",
    "dump_schema",
]
