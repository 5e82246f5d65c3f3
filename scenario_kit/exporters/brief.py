"""The instruction of an exported task; incidents and controls get the same text."""

from __future__ import annotations

from typing import Final

from scenario_kit.solver.investigation import ANSWER_FORM

_TASK: Final = """\
# You are on call

{brief}

The page may be a false alarm: sometimes nothing is wrong.

## What there is

`{snapshot}` holds the recorded state and telemetry of the app {app} (namespace {namespaces}). Times are UTC; the end of
the recording is now.

- `alerts/`: active alerts, minute by minute, in the format of Prometheus's `/api/v1/alerts`
- `k8s_events_raw.tsv`, `k8s_objects_raw.tsv`: Kubernetes events and objects; the column `Body` is JSON
- `otel_logs_raw.tsv`, `otel_traces_raw.tsv`: log lines and spans
- `metrics/`: time series per pod and per service
- `topology_information/`: the app and its objects as graphs
- `lite/`: condensed tables of the same data

Tables are tab-separated with CSV quoting, so a field may contain newlines. Some files may be missing.

## What to do

Find the root cause: the object, as `namespace/Kind/name`, whose repair would end the incident. Do not name objects
that are only affected. Write your answer to `{answer}` as one JSON document:

```
{form}
```

The score is 0 if a root cause is missing, else the share of the named objects that are root causes. If nothing is
wrong, an answer that names nothing scores 1. Without a file the score is 0.
"""


def render_instruction(brief: str, app: str, namespaces: tuple[str, ...], snapshot: str, answer: str) -> str:
    """Render the instruction; ``snapshot`` and ``answer`` are paths in the solver's container."""
    return _TASK.format(
        brief=brief, app=app, namespaces=" and ".join(namespaces), snapshot=snapshot, answer=answer, form=ANSWER_FORM
    )
