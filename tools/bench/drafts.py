"""Valid scenarios in any number, drafted from the catalogue."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft, name_for
from scenario_kit.errors import ScenarioKitError
from scenario_kit.render import render_catalog_app
from scenario_kit.render.faults.applicability import list_targets


def generate_drafts(count: int) -> Iterator[tuple[str, str]]:
    """Yield name and text of that many valid scenarios, cycling through faults and targets."""
    catalog = Catalog()
    apps = [catalog.app(name, catalog.versions(name)[0]) for name in catalog.apps()]
    objects = {a.name: render_catalog_app(a, catalog) for a in apps}
    left = [
        (app, fault, deque(list_targets(catalog.fault(fault), app, objects[app.name])))
        for fault in catalog.faults()
        for app in apps
    ]
    made = 0
    while left and made < count:
        for app, fault, aims in left:
            if made < count and aims:
                answers = Answers(app.name, app.version, aims.popleft(), fault, author="bench")
                name = f"{name_for(answers)[:45].rstrip('-')}-{made:04d}"
                try:
                    yield name, draft(replace(answers, name=name), catalog).text
                    made += 1
                except ScenarioKitError:
                    continue  # the fault has no effect on this target
        left = [entry for entry in left if entry[2]]
