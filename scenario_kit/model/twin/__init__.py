"""The definition of an app's twin, as values: what ``twin.yaml`` says, one module for each concern.

Every field carries its description, unit and bounds; the editor schema and the reference page are made from them.
"""

from scenario_kit.model.twin.decode import DefinitionError, decode, spell
from scenario_kit.model.twin.definition import Assumption, Place, TwinDefinition, TwinDocument

__all__ = ["Assumption", "DefinitionError", "Place", "TwinDefinition", "TwinDocument", "decode", "spell"]
