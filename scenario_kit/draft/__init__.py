"""Verb *draft*: a few answers to a complete scenario file. Pure; the command ``new`` asks and writes."""

from scenario_kit.draft.accept import accepted, edges_to, observed
from scenario_kit.draft.answers import Aimed, Answers, BreakableEntity, aimed, entities, faults_for, name_for
from scenario_kit.draft.document import Draft, check_name, draft, join_drafts
from scenario_kit.draft.header import schema_header, schema_text

__all__ = [
    "Aimed",
    "Answers",
    "Draft",
    "BreakableEntity",
    "accepted",
    "aimed",
    "check_name",
    "draft",
    "edges_to",
    "entities",
    "faults_for",
    "join_drafts",
    "name_for",
    "observed",
    "schema_header",
    "schema_text",
]
