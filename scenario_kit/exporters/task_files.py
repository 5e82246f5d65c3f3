"""Files of exported tasks, from ``templates/tasks``; incidents and controls get the same instruction."""

from __future__ import annotations

from functools import cache
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from scenario_kit import __version__
from scenario_kit.catalog import find_data_root
from scenario_kit.exporters.rules import RULES_FILE, VERIFIER_FILE
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.solver.investigation import ANSWER_FORM

#: Base image of all containers; the same as the kit's own (Containerfile).
BASE_IMAGE: Final = (
    "docker.io/library/debian:trixie-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f"
)


def render_task_file(template: str, /, **values: str) -> str:
    """Render a template, given by its path below ``templates/tasks``.

    Raises:
        jinja2.UndefinedError: the template has a variable without a value.
    """
    constants = {
        "base": BASE_IMAGE, "canary": CANARY, "form": ANSWER_FORM, "rules": RULES_FILE, "verifier": VERIFIER_FILE,
        "version": __version__,
    }  # fmt: skip
    return _load_templates().get_template(template).render(constants, **values)


def render_instruction(brief: str, app: str, namespaces: tuple[str, ...], snapshot: str, answer: str) -> str:
    """Render the instruction; ``snapshot`` and ``answer`` are paths in the solver's container."""
    return render_task_file(
        "instruction.md.j2", brief=brief, app=app, namespaces=" and ".join(namespaces), snapshot=snapshot, answer=answer
    )


@cache
def _load_templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(find_data_root() / "templates" / "tasks"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
