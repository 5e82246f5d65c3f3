"""Stored results: a summary and the compressed report per scenario."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

import msgspec

from scenario_kit.errors import InfrastructureError
from scenario_kit.model import Object, Value, Verdict
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.report import Report
from scenario_kit.report.document import dump_report
from scenario_kit.report.truncation import truncate_report
from scenario_kit.shards.compression import decompress
from scenario_kit.shards.content_digest import digest_bytes

RESULT_VERSION: Final = 1
#: Label with the work list of an object.
WORK_LABEL: Final = f"{GROUP}/work"
#: Label with the digest of catalogue, plan, seed and version, shortened.
CATALOGUE_LABEL: Final = f"{GROUP}/catalogue"
SCENARIO_LABEL: Final = f"{GROUP}/scenario"
STATE_LABEL: Final = f"{GROUP}/state"
SUMMARY_KEY: Final = "result.json"
REPORT_KEY: Final = "report.json.gz"
#: Labels have at most 63 characters, a SHA-256 has 64.
LABEL_DIGITS: Final = 40
#: Maximum size of a compressed report; a ConfigMap holds it in base64, with its summary.
_MAX_REPORT_BYTES: Final = 700_000
_LABEL_VALUE: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
#: How far a scenario has come. Begun: it is being validated, or that was interrupted. Failed: infrastructure failed, so
#: that it is validated again. Ended: there is a verdict.
Progress = Literal["Begun", "Failed", "Ended"]


class UnreadableResult(InfrastructureError):
    """A stored result that is damaged, or of another format."""


class ShardResult(Value, frozen=True, kw_only=True):
    """The summary of a scenario's result.

    Attributes:
        work, catalogue: name of the work list, and digest of what its scenarios share.
        digest: that of the work item.
        attempts: how often its validation was begun and not preempted.
        verdict: set if it has ended.
        message: why there is no report, or what infrastructure lacked.
        pod: where it ran.
        seconds: its wall time.
        report_digest: SHA-256 of the report's text; empty without a report.
    """

    schema_version: int
    work: str
    catalogue: str
    scenario: str
    digest: str
    shard: int
    state: Progress
    attempts: int = 1
    verdict: Verdict | None = None
    message: str = ""
    pod: str = ""
    at: str = ""
    seconds: float = 0.0
    report_digest: str = ""


class StoredResult(NamedTuple):
    """A summary with the compressed report; the report is empty if there is none."""

    result: ShardResult
    packed: bytes = b""


def pack_report(report: Report) -> tuple[bytes, str]:
    """Return a report compressed to fit a ConfigMap, and the digest of its text. Large parts are left out if needed."""
    text = dump_report(report).encode()
    packed = gzip.compress(text, mtime=0)
    if len(packed) > _MAX_REPORT_BYTES:
        text = truncate_report(report, _MAX_REPORT_BYTES).encode()
        packed = gzip.compress(text, mtime=0)
    return packed, digest_bytes(text)


def unpack_report(stored: StoredResult) -> Report | None:
    """Return the report of a result, None if it has none.

    Raises:
        UnreadableResult: it is damaged, or its digest differs.
    """
    if not stored.packed and not stored.result.report_digest:
        return None
    try:
        text = decompress(stored.packed)
        if digest_bytes(text) != stored.result.report_digest:
            raise UnreadableResult("the report's digest differs")
        report = Report.from_json(json.loads(text))
        datetime.fromisoformat(report.created).astimezone(UTC)  # by which its folder is named
    except (zlib.error, ValueError, OverflowError, RecursionError, msgspec.ValidationError) as error:
        raise UnreadableResult(f"the report cannot be read: {error}") from error
    return report


def parse_result(data: bytes) -> ShardResult:
    """Parse a summary.

    Raises:
        UnreadableResult: it is damaged, or of another version.
    """
    try:
        result = ShardResult.from_json(msgspec.json.decode(data))
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        raise UnreadableResult(f"not a result of this version: {error}") from error
    if result.schema_version != RESULT_VERSION:
        raise UnreadableResult(f"the format has version {result.schema_version}, expected {RESULT_VERSION}")
    return result


def derive_result_name(work: str, scenario: str) -> str:
    """Derive the name of the stored result of a scenario: readable, valid for objects and files, and unique."""
    readable = re.sub(r"[^a-z0-9]+", "-", scenario.lower())[:60].strip("-")
    return f"{work}-{readable or 'scenario'}-{digest_bytes(scenario.encode())[:8]}"


def build_config_map(stored: StoredResult, namespace: str) -> Object:
    """Build the ConfigMap of a result."""
    result = stored.result
    labels = {
        WORK_LABEL: result.work,
        CATALOGUE_LABEL: result.catalogue[:LABEL_DIGITS],
        SCENARIO_LABEL: result.scenario if _LABEL_VALUE.fullmatch(result.scenario) else "",
        STATE_LABEL: result.state,
    }
    metadata = {
        "name": derive_result_name(result.work, result.scenario), "namespace": namespace, "labels": labels,
    }  # fmt: skip
    packed = {"binaryData": {REPORT_KEY: base64.b64encode(stored.packed).decode()}} if stored.packed else {}
    return {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
        "data": {SUMMARY_KEY: result.to_bytes().decode()}, **packed,
    }  # fmt: skip


def parse_config_map(config_map: Object) -> StoredResult:
    """Parse the ConfigMap of a result.

    Raises:
        UnreadableResult: it is damaged, or of another version.
    """
    summary = (config_map.get("data") or {}).get(SUMMARY_KEY)
    if not isinstance(summary, str):
        raise UnreadableResult(f"the ConfigMap has no {SUMMARY_KEY}")
    try:
        packed = base64.b64decode((config_map.get("binaryData") or {}).get(REPORT_KEY) or "", validate=True)
    except ValueError as error:
        raise UnreadableResult(f"the report is damaged: {error}") from error
    return StoredResult(parse_result(summary.encode()), packed)
