"""Find data that a fault writes although no symptom needs it: labels, settings, names and texts for readers only.

A field is needed if something acts on it: an API, a controller, a selector, a program of the app. Any other field could
contain a hint, and so must not exist.
"""

from scenario_kit.lint.rules.leaks.needless.object_checks import Needless, find_needless
from scenario_kit.lint.rules.leaks.needless.surroundings import ObjectSurroundings

__all__ = ["Needless", "ObjectSurroundings", "find_needless"]
