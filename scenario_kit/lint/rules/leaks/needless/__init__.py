"""What a fault writes although no symptom needs it: marks, settings, names and texts that only a reader would notice.

A field is needed if something acts on it: an API, a controller, a selector, a program of the app. Everything else is
free to say anything, and so must not be there.
"""

from scenario_kit.lint.rules.leaks.needless.object_checks import Needless, find_needless
from scenario_kit.lint.rules.leaks.needless.surroundings import ObjectSurroundings

__all__ = ["Needless", "ObjectSurroundings", "find_needless"]
