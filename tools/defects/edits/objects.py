"""Objects of an app that defects change."""

from __future__ import annotations

from tools.defects.kind import needs
from tools.defects.subject import Subject


def find_file(subject: Subject) -> tuple[str, str]:
    """Find a ConfigMap that the app reads at startup, and that the incident does not concern, and a key of it."""
    flags = subject.case.app.flags.config_map if subject.case.app and subject.case.app.flags else ""
    held = {o: subject.objects[o].get("data") or {} for o in subject.objects if o.startswith("ConfigMap/")}
    files = [o for o, data in held.items() if data and o not in subject.concerned and o != f"ConfigMap/{flags}"]
    file = needs(files, "the app reads no file")[0]
    return file, next(iter(held[file]))
