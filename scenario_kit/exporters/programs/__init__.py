"""Standalone programs, copied verbatim into exports. They import nothing from scenario_kit."""
