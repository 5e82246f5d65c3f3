"""The page with every series that a lab has."""

from __future__ import annotations

from scenario_kit.load.series import LABELS, VALUES

_HEAD = """# Series of a lab

Every series that rules and checks can ask for in a lab, whatever the app; a test compares the list with what is
exported. Which components, stores, topics and consumer groups there are depends on the app. A rule over another series,
label or value is SK315.

| series | labels |
|---|---|
"""


def render_series_page() -> str:
    """Return the page: names, labels, and the values of labels that have no others."""
    return _HEAD + "".join(f"| `{name}` | {_describe(name)} |\n" for name in sorted(LABELS))


def _describe(name: str) -> str:
    closed = VALUES.get(name, {})
    return ", ".join(
        f"`{label}`" + (f" ({', '.join(sorted(closed[label]))})" if label in closed else "")
        for label in sorted(LABELS[name])
    )
