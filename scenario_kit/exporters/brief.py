"""What the solver of an exported task is told. It is the same text whether something is broken or not."""

from __future__ import annotations

from typing import Final

from scenario_kit.solver.investigation import ANSWER_FORM

_TASK: Final = """\
# You are on call

{brief}

The page may be a false alarm: it happens that nothing is wrong.

## What there is

`{snapshot}` holds what was recorded of the app {app} (namespace {namespaces}) until now. Times are UTC; the end of the
recording is now.

- `alerts/`: what fires, minute by minute, as Prometheus lists alerts
- `k8s_events_raw.tsv`, `k8s_objects_raw.tsv`: events and objects of Kubernetes; the column `Body` is JSON
- `otel_logs_raw.tsv`, `otel_traces_raw.tsv`: log lines and spans
- `metrics/`: series of each pod and each service
- `topology_information/`: the app and its objects as graphs
- `lite/`: shorter tables of the same

Tables are separated by tabs and quoted as CSV, so that fields may hold line ends. Some of this may be missing.

## What to do

Find the root cause: the object, as `namespace/Kind/name`, whose change would end the trouble. Do not name what merely
suffers. Write your answer to `{answer}` as one JSON document:

```
{form}
```

The score is 0 if a root cause is missing, else the share of the named objects that are root causes. If nothing is
wrong, an answer that names nothing scores 1. Without a file the score is 0.
"""


def render_instruction(brief: str, app: str, namespaces: tuple[str, ...], snapshot: str, answer: str) -> str:
    """Render the text; ``snapshot`` and ``answer`` are paths as the solver sees them."""
    return _TASK.format(
        brief=brief, app=app, namespaces=" and ".join(namespaces), snapshot=snapshot, answer=answer, form=ANSWER_FORM
    )
