"""Draft a complete scenario from a few answers. Pure; the command ``new`` does the I/O."""

from scenario_kit.draft.accept import draw_edges, select_observed, write_accepted
from scenario_kit.draft.answers import (
    Answers,
    aim_fault,
    find_faults,
    list_entities,
    list_names,
    list_settings_with,
    name_for,
)
from scenario_kit.draft.compose import check_name, draft
from scenario_kit.draft.document import Draft
from scenario_kit.draft.header import build_schema_header, dump_schema
from scenario_kit.draft.join import join_drafts

__all__ = [
    "Answers", "Draft", "write_accepted", "aim_fault", "check_name", "draft", "draw_edges", "list_entities",
    "list_names", "list_settings_with", "find_faults", "join_drafts", "name_for", "select_observed",
    "build_schema_header", "dump_schema",
]  # fmt: skip
