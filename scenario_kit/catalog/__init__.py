"""Discovery of apps, fault types, scenarios and alert packs: a folder is the registration, and its name the id."""

from scenario_kit.catalog.alerts import find_longest_range
from scenario_kit.catalog.index import Catalog
from scenario_kit.catalog.loader import UnknownEntry, find_collections, find_data_root, suggest_entry

__all__ = ["Catalog", "UnknownEntry", "find_collections", "find_data_root", "find_longest_range", "suggest_entry"]
