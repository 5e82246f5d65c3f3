"""The page of all series of a lab."""

from __future__ import annotations

from scenario_kit.load.series import LABELS, VALUES

_HEAD = """# Series of a lab

Every series that rules and checks can query in a lab, for any app; a test compares the list with what is exported.
Components, stores, topics and consumer groups depend on the app. A rule over another series, label or value is reported
as SK315.

| series | labels |
|---|---|
"""


def render_series_page() -> str:
    """Render the page: names, labels, and the values of closed labels."""
    return _HEAD + "".join(f"| `{name}` | {_describe(name)} |\n" for name in sorted(LABELS))


def _describe(name: str) -> str:
    closed = VALUES.get(name, {})
    return ", ".join(
        f"`{label}`" + (f" ({', '.join(sorted(closed[label]))})" if label in closed else "")
        for label in sorted(LABELS[name])
    )
