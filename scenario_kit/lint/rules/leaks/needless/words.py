"""Words for naming things that work: they describe a purpose, not a defect."""

from __future__ import annotations

from typing import Final

from scenario_kit.load.package_data import read_package_data

_WORDS: Final = read_package_data(__file__)

#: A name with other words must come from the app.
NEUTRAL: Final = frozenset(_WORDS["neutral"].split())
#: Words in the usual output of programs.
OUTPUT: Final = frozenset(_WORDS["output"].split())
