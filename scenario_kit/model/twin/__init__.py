"""The definition of an app's twin, ``twin.yaml``.

Fields have descriptions, units and bounds, from which the editor schema and the reference page are generated.
"""

from scenario_kit.model.twin.decode import DefinitionError, decode, resolve_assumptions, spell
from scenario_kit.model.twin.definition import Assumption, TwinDefinition, TwinDocument

__all__ = ["Assumption", "DefinitionError", "TwinDefinition", "TwinDocument", "decode", "resolve_assumptions", "spell"]
