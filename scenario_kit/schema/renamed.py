"""Former names of fields: files and objects with them are rejected, and ``lint --fix`` renames them in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: kubectl reads YAML 1.1, in which ``on`` is true: objects that it stored have that as the field's name.
_ON: Final = {"on": "entity", "true": "entity"}
#: By the definition that has the field: its name by the former one.
RENAMED_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "AlertExpectation": _ON,
    "BackgroundAlert": _ON,
    "EventCheck": _ON,
    "LogCheck": _ON,
    "OnAlert": _ON,
    "Symptom": _ON,
}
#: The same for the types of ``twin.yaml``.
RENAMED_TWIN_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Access": {
        "afterSeconds": "exitDelaySeconds",
        "answer": "errorResponse",
        "waits": "blocking",
        "wrong": "corruptResponse",
        "wrongLog": "corruptLog",
    },
    "AddressSource": {
        "of": "component",
    },
    "ComponentModel": {
        "blind": "unsetStatus",
        "consumes": "consumers",
        "registers": "registrations",
    },
    "Consumer": {
        "commitSeconds": "commitIntervalSeconds",
        "copyLog": "duplicateLog",
        "keeps": "retryRefusedWrites",
        "latest": "startAtLatest",
        "pollRecords": "maxPollRecords",
        "pollSeconds": "maxPollIntervalSeconds",
    },
    "DiskModel": {
        "upkeep": "maintenance",
    },
    "Edge": {
        "acknowledged": "waitForAck",
        "dialSeconds": "connectTimeoutSeconds",
        "firstOnly": "traceFirstConnectionOnly",
        "oneByOne": "serializeConnects",
        "refusedMs": "refusalMs",
        "remembers": "useStaleAddress",
        "shared": "reuseConnection",
        "sharedAnswers": "matchResponsesByOrder",
        "silentSeconds": "keepaliveTimeoutSeconds",
        "timeoutElse": "timeoutFallbackSeconds",
        "unchecked": "ignoreStatus",
        "unconnected": "connectionErrorText",
    },
    "FlagEffect": {
        "absorbs": "handledErrors",
        "becomes": "replacementOperation",
        "copies": "extraRecords",
        "empties": "emptyResponses",
        "flood": "floodRoute",
        "paused": "stopLoad",
        "relayed": "propagateValue",
        "shareIsValue": "shareFromValue",
        "timesValue": "scaleByValue",
        "unanswered": "whenUnavailable",
        "unhealthy": "failHealthChecks",
        "whileOff": "whenOff",
    },
    "FlagModel": {
        "hangSeconds": "evaluationTimeoutSeconds",
    },
    "JavaModel": {
        "answer": "exceptionResponse",
        "heldMib": "heapUsedMib",
        "shell": "hasShell",
        "thrown": "exceptionLog",
        "wrong": "wrongResult",
    },
    "LoadModel": {
        "crowds": "userClasses",
    },
    "Need": {
        "later": "lazy",
        "nameOnly": "resolveOnly",
    },
    "Operation": {
        "approved": "setStatusOk",
        "blind": "unsetStatus",
        "flagsSeconds": "flagTimeoutSeconds",
        "internal": "internalSpans",
        "refuses": "alwaysFail",
        "shrugSeconds": "ignoreFailureAfterSeconds",
    },
    "TwinConstants": {
        "connectionDeathSeconds": "tcpTimeoutSeconds",
    },
    "Port": {
        "asks": "healthChecks",
    },
    "QueueModel": {
        "sessionSeconds": "sessionTimeoutSeconds",
    },
    "Signal": {
        "of": "measure",
        "plus": "offset",
        "times": "factor",
    },
    "Snapshots": {
        "after": "saveAfter",
        "refusal": "errorResponse",
        "success": "successLog",
    },
    "Start": {
        "afterSeconds": "exitDelaySeconds",
        "needs": "dependencies",
    },
    "Step": {
        "atOnce": "batch",
        "blind": "unsetStatus",
        "eachOf": "forEach",
        "patienceSeconds": "deadlineSeconds",
        "rejectLog": "invalidEntryLog",
        "rejects": "invalidEntriesOf",
        "spoils": "cacheFailures",
        "words": "causeText",
    },
    "TwinDocument": {
        "physics": "constants",
    },
}


def explain_renaming(old: str, new: str) -> str:
    """Say in a message what the field is called today."""
    shown = "`on`, which kubectl reads as `true`," if old == "true" else f"`{old}`"
    return f"{shown} is now `{new}`"


#: The fix of every former name in a file.
FIX_RENAMED: Final = "run `scenario-kit lint --fix` on the file, which writes the new name"
