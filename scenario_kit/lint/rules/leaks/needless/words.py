"""Words of which people name things that work: they say what something is for, and nothing of its being broken."""

from __future__ import annotations

from typing import Final

from scenario_kit.load.package_data import read_package_data

_WORDS: Final = read_package_data(__file__)

#: A name made of other words has to come from the app.
NEUTRAL: Final = frozenset(_WORDS["neutral"].split())
#: Words of which programs make the lines that they print, whatever happens to them.
OUTPUT: Final = frozenset(_WORDS["output"].split())
