"""Apps whose twin differs in one component."""

from typing import Any

from msgspec import structs

from scenario_kit.model import App


def with_component(app: App, name: str, **fields: Any) -> App:
    """The app with other values of fields of one component's model."""
    assert app.twin is not None
    known = app.twin.components
    components = {**known, name: structs.replace(known[name], **fields)}
    return structs.replace(app, twin=structs.replace(app.twin, components=components))
