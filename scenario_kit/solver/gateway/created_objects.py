"""Count the objects that a solver's commands create, and refuse more than one run may. Pure."""

from __future__ import annotations

import re
from typing import Final

from scenario_kit.solver.gateway.answers import BadCall
from scenario_kit.solver.gateway.kubectl_command import KubectlCommand

#: The most objects that the commands of one run may create or apply.
MOST_OBJECTS: Final = 100
#: Verbs that create an object, or one for each in a manifest.
_CREATING: Final = frozenset({"apply", "autoscale", "create", "expose", "replace", "run"})
#: The start of an object in YAML, alone, in a list or in braces, and in JSON.
_OBJECT: Final = re.compile(r"""(?m)(?:^|[\s{,-])(?:"kind"|'kind'|kind)\s*:""")
#: Values of --dry-run with which something is written.
_REAL: Final = ("", "none")


def count_objects(command: KubectlCommand) -> int:
    """Count the objects that a command may create. References to kinds count as objects too: the limit is generous."""
    if command.verb not in _CREATING or _is_dry(command.arguments):
        return 0
    return max(1, len(_OBJECT.findall(command.stdin)))


def add_objects(created: int, command: KubectlCommand) -> int:
    """Return how many objects a run has created after a command.

    Raises:
        BadCall: it would be more than ``MOST_OBJECTS``.
    """
    more = count_objects(command)
    if created + more > MOST_OBJECTS:
        raise BadCall(
            f"kubectl {command.verb} writes {more} objects, and this run has already written {created}",
            f"at most {MOST_OBJECTS} in one run; patch, scale, set and delete are not counted",
        )
    return created + more


def _is_dry(arguments: tuple[str, ...]) -> bool:
    given = [word.partition("=")[2] for word in arguments if word.partition("=")[0] == "--dry-run" and "=" in word]
    return bool(given) and given[-1] not in _REAL
