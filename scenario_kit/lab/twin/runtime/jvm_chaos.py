"""JVMChaos: the effects of agent rules in Java processes.

A rule applies where requests run through its class and method: the request handler, or a method whose result matters,
as named in the app's definition. Other methods are never reached. A rule ends with its process: a restarted container
is a new JVM without rules. Stressors and collections run in a thread of the agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from scenario_kit.lab.twin.process.logs import LogBuffer
from scenario_kit.lab.twin.process.process import Process, identify, list_injected
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.model.authored.app import App, Jvm
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.effects import Ledger
from scenario_kit.model.runtime.process import SeriesId
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.java import JavaModel

_MIB = 2.0**20
#: The trigger of stressors and collections: an agent thread calls it every five seconds.
_TRIGGER: Final = ("org.chaos_mesh.chaos_agent.TriggerThread", "triggerFunc")
#: The default maximum heap: half the memory of a small container, a quarter of a large one, this in between.
_SMALL_HEAP: Final = 126.0 * _MIB
_HEAP: Final = "java.lang.OutOfMemoryError: Java heap space"
#: The GC metric of OpenTelemetry's Java agent, and its bounds in seconds (semantic conventions for the JVM).
_COLLECTIONS: Final = "jvm_gc_duration_seconds"
_BOUNDS: Final = (0.01, 0.1, 1.0, 10.0)

#: A rule in the ledger: ``name``, ``class``, ``method`` and ``actions``.
Rule = Mapping[str, Any]


class _JvmImpact(NamedTuple):
    """An active rule, for this share of the requests, or in the agent's thread."""

    rule: Rule
    share: float
    by_requests: bool = True


class Java:
    """The Java programs of an app."""

    def __init__(self, app: App, parameters: TwinDefinition) -> None:
        self._parameters = parameters
        self._jvms = {c.name: c.jvm for c in app.components if c.jvm is not None}

    def explain_attach_failure(self, spec: Object) -> Literal["", "NoJava", "NoShell"]:
        """Return why no agent can be loaded into a container's program; empty if one can."""
        found = identify(self._parameters, spec)
        if found.model is None or found.component not in self._jvms:
            return "NoJava"
        return "" if found.model.java.has_shell else "NoShell"

    def unknown(self, spec: Object, rules: Sequence[Rule]) -> str:
        """Return which rules change results in ways that the app's definition does not model; empty if none."""
        jvm = self._jvms[identify(self._parameters, spec).component]
        for rule in rules:
            known = jvm.returns
            values = {action["returns"] for action in rule["actions"] if "returns" in action}
            if known is not None and _is(rule, known.class_name, known.method):
                values -= {known.value}
            elif not _is(rule, jvm.class_name, jvm.method):
                values = set()
            if values:
                return f"the effect of {rule['method']} returning {min(values) or 'at once'} is not simulated"
        return ""

    def effects(self, process: Process, ledger: Ledger, start: float, logs: LogBuffer) -> tuple[Active, ...]:
        """Return the effects of rules in a process during the tick that starts at ``start``."""
        jvm, model = self._jvms.get(process.component), process.model
        if jvm is None or model is None:
            return ()
        installed = [(port, rule) for port, rules in _list_installed(process, ledger) for rule in rules]
        if not installed and not process.rules:
            return ()
        before = process.rules
        process.rules = frozenset(_identify(rule) for _, rule in installed)
        found: list[Active] = []
        for port, rule in installed:
            met = _meet_rule(rule, jvm, model.java)
            fresh = _identify(rule) not in before
            if fresh:
                _announce(process, rule, port, met, start, logs)
            if met is not None:
                found += _activate_rule(met, jvm, model.java, process, start if fresh else None)
        process.answer = next((effect.answer for effect in found if effect.answer), "")
        return tuple(found)

    def samples(self, processes: Iterable[Process], namespace: str, now: float) -> dict[SeriesId, float]:
        """Return the processes' own GC series."""
        result: dict[SeriesId, float] = {}
        for process in processes:
            model = process.model.java if process.model is not None else None
            if model is None or not model.collector or not process.exports or not process.serves(now):
                continue
            count, took = model.collections + process.collections, model.collection_seconds
            labels = {
                "namespace": namespace,
                "job": f"{namespace}/{process.component}",
                "service_name": process.component,
                "jvm_gc_action": "end of major GC",
                "jvm_gc_name": model.collector,
            }
            for bound in (*_BOUNDS, float("inf")):
                le = "+Inf" if bound == float("inf") else f"{bound:g}"
                _add(result, f"{_COLLECTIONS}_bucket", {**labels, "le": le}, count if took <= bound else 0.0)
            _add(result, f"{_COLLECTIONS}_count", labels, count)
            _add(result, f"{_COLLECTIONS}_sum", labels, count * took)
        return result


def _list_installed(process: Process, ledger: Ledger) -> Iterator[tuple[int, Sequence[Rule]]]:
    for effect in list_injected(process, ledger, "JVM"):
        yield effect.arguments["port"], effect.arguments["rules"]


def _identify(rule: Rule) -> tuple[str, str, str]:
    return rule["name"], rule["class"], rule["method"]


def _is(rule: Rule, class_name: str, method: str) -> bool:
    """Return whether a rule applies to this method; a class without package matches any package."""
    return rule["method"] == method and rule["class"] in (class_name, class_name.rpartition(".")[2])


def _meet_rule(rule: Rule, jvm: Jvm, model: JavaModel) -> _JvmImpact | None:
    if _is(rule, *_TRIGGER):
        return _JvmImpact(rule, 1.0, by_requests=False)
    if _is(rule, jvm.class_name, jvm.method):
        return _JvmImpact(rule, 1.0)
    if jvm.returns is not None and _is(rule, jvm.returns.class_name, jvm.returns.method):
        return _JvmImpact(rule, model.wrong_result.share if model.wrong_result is not None else 1.0)
    return None


def _activate_rule(
    met: _JvmImpact, jvm: Jvm, model: JavaModel, process: Process, fresh: float | None
) -> Iterator[Active]:
    """Return the effects of one rule; ``fresh`` is when it first triggered, if that is now."""
    rule, serves = met.rule, (jvm.class_name, jvm.method)
    for action in rule["actions"]:
        if "threads" in action:
            yield Active(busy_cores=float(action["threads"]))
        elif "fills" in action:
            # No CPU is left for requests, and collections without garbage keep a core busy.
            yield Active(
                held_bytes=max(_compute_heap(process, model) - model.heap_used_mib * _MIB, 0.0), busy_cores=1.0
            )
            yield _build_failure(1.0, model, _HEAP, *serves)
        elif "collects" in action and fresh is not None:
            process.collections += 1
            yield Active(still_until=fresh + model.collection_seconds)
        elif met.by_requests and "sleepSeconds" in action:
            yield Active(share=met.share, delay_seconds=action["sleepSeconds"])
        elif met.by_requests and "throws" in action:
            yield _build_failure(met.share, model, action["throws"], rule["class"], rule["method"])
        elif met.by_requests and "returns" in action and jvm.returns is not None and model.wrong_result is not None:
            wrong = model.wrong_result
            yield Active(share=met.share, delay_seconds=wrong.delay_seconds)
            if wrong.exception:
                yield _build_failure(met.share, model, wrong.exception, *serves)


def _compute_heap(process: Process, model: JavaModel) -> float:
    """Return the maximum heap in bytes; 0 if it depends on the node."""
    limit = process.limit("memory")
    if model.heap_mib or limit is None:
        return model.heap_mib * _MIB
    return limit / 2.0 if limit / 2.0 < _SMALL_HEAP else max(limit / 4.0, _SMALL_HEAP)


def _build_failure(share: float, model: JavaModel, exception: str, class_name: str, method: str) -> Active:
    """Build a failure of a share of requests by an uncaught exception, ``type: message``."""
    log = model.exception_log
    for place, words in {"{exception}": exception, "{class}": class_name, "{method}": method}.items():
        log = log.replace(place, words)
    return Active(share=share, error_share=1.0, thrown=exception, answer=model.exception_response, log=log)


def _announce(process: Process, rule: Rule, port: int, met: _JvmImpact | None, at: float, logs: LogBuffer) -> None:
    """Print the agent's output at the installation of a rule and its first trigger; Chaos Mesh enables verbose mode."""
    name = rule["name"]
    lines = [] if process.agent else [f"TransformListener() : accepting requests on localhost:{port}"]
    lines.append(f"TransformListener() : handling connection on port {port}")
    if met is not None:
        lines += [
            f"retransforming {rule['class']}",
            f"org.jboss.byteman.agent.Transformer : possible trigger for rule {name} in class {rule['class']}",
            f"org.jboss.byteman.agent.Transformer : inserted trigger for {name} in class {rule['class']}",
            f"Rule.execute called for {name}_0:0",
        ]
    if met is not None and any("collects" in action for action in rule["actions"]):
        lines.append("byteman gc helper trigger gc")
    process.agent = True
    for line in lines:
        logs.line(process, at, line)


def _add(result: dict[SeriesId, float], name: str, labels: Mapping[str, str], value: float) -> None:
    result[name, tuple(sorted(labels.items()))] = value
