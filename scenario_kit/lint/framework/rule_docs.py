"""Render the documentation of rules: title, reason, bad and good example, fix."""

from __future__ import annotations

from scenario_kit.lint.framework.rule import Rule
from scenario_kit.lint.framework.suppression import SUPPRESSIBLE


def describe_origin(entry: Rule) -> str:
    """Return what finds a code: lint, load, run, validate-pr or nowhere."""
    return "nowhere" if entry.unjudged else "lint" if entry.static else entry.by


def render_rule_page(entry: Rule) -> str:
    """Render one rule as Markdown."""
    by = {
        "lint": "found by `scenario-kit lint`",
        "run": "found by running the scenario",
        "validate-pr": "found by `scenario-kit validate-pr`",
    }
    lines = [
        f"## {entry.code}: {entry.title}",
        "",
        f"{entry.severity}, {by.get(describe_origin(entry), 'found by no check')}.",
        "",
        f"**Why.** {_format_sentence(entry.why)}",
        "",
    ]
    if entry.unjudged:
        return "\n".join([*lines, f"**Not checked.** {_format_sentence(entry.unjudged)}"]) + "\n"
    lines += [
        f"**Bad.** {_format_example(entry.bad)}",
        "",
        f"**Good.** {_format_example(entry.good)}",
        "",
        f"**Fix.** {_format_sentence(entry.fix)}",
    ]
    if entry.static:
        lines += ["", f"**`lint --fix`** {entry.repair or 'leaves it to you'}."]
        lines += ["", f"**Suppress.** {_suppress(entry)}"]
    return "\n".join(lines) + "\n"


def _suppress(entry: Rule) -> str:
    if why := SUPPRESSIBLE.get(entry.code):
        return f"`suppress: [{{code: {entry.code}, reason: …, until: YYYY-MM}}]`, since {why}."
    return "Not possible."


def _format_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _format_example(text: str) -> str:
    return "\n\n```yaml\n" + text + "\n```" if "\n" in text else f"`{text}`"
