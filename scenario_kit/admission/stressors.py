"""Programs that an experiment starts in the chaos daemon, which is privileged and shares the node's processes.

StressChaos runs stress-ng there. Its options write log files and start programs (stress-ng(1): ``--log-file``,
``--yaml``, ``--exec``), so they reach the node's file system through ``/proc/1/root``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scenario_kit.admission.breach import NODE, Breach
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import find_spec

KIND: Final = "StressChaos"
#: Each worker is a process of the node.
MAX_WORKERS: Final = 1000
_EXPECTED: Final = "`workers`, with `load` or `size`"


def check_stressors(obj: Object) -> Iterator[Breach]:
    """Check options of stress-ng, and the number of its workers."""
    found = find_spec(obj, KIND)
    if found is None:
        return
    keys, spec = found
    if text := spec.get("stressngStressors"):
        yield Breach("SK202", (*keys, "stressngStressors"), text, *_describe_options("stressngStressors"))
    stressors = spec.get("stressors")
    for kind, stressor in stressors.items() if isinstance(stressors, Mapping) else ():
        if not isinstance(stressor, Mapping):
            continue
        place = (*keys, "stressors", kind)
        if options := stressor.get("options"):
            yield Breach("SK202", (*place, "options"), options, *_describe_options("options"))
        workers = stressor.get("workers")
        if isinstance(workers, int) and workers > MAX_WORKERS:
            note = f"starts {workers} processes on a node (`workers`)"
            yield Breach("SK226", (*place, "workers"), workers, note, expected=f"at most {MAX_WORKERS}")


def _describe_options(field: str) -> tuple[str, str, str]:
    return f"has `{field}`, options of a program in the privileged chaos daemon", NODE, _EXPECTED
