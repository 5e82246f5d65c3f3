"""SK138: names that nothing has, values that exclude one another, and fields without an effect."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from scenario_kit.lab.twin.client_errors.by_language import describe_cause
from scenario_kit.lab.twin.definition_checks import DefinitionMistake, find_mistakes
from scenario_kit.lab.twin.definition_references import find_missing_flags
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from tests.lab.twin import tiny
from tests.lab.twin.tiny import TWIN

Change = Callable[[dict[str, Any]], object]


def find(change: Change) -> list[DefinitionMistake]:
    twin = copy.deepcopy(TWIN)
    change(twin)
    return list(find_mistakes(tiny.app(**twin)))


def read_step(twin: dict[str, Any]) -> dict[str, Any]:
    step: dict[str, Any] = twin["components"]["gate"]["operations"]["read"]["steps"][0]
    return step


def box(**fields: Any) -> Change:
    return lambda twin: twin["components"]["box"].update(fields)


def register(**fields: Any) -> Change:
    return lambda twin: twin.update(registries=[{"component": "api", **fields}])


def flag(**effect: Any) -> Change:
    effects = {"slow": [{"component": "api", **effect}]}
    return lambda twin: twin.update(flags={"component": "box", "configMap": "c", "key": "k", "effects": effects})


def step(**fields: Any) -> Change:
    return lambda twin: read_step(twin).update(fields)


def edge(**fields: Any) -> Change:
    return lambda twin: twin["edges"][2].update(fields)


def draw(**distribution: float) -> Change:
    return lambda twin: twin["load"]["routes"]["read"].update(draws={"n": {k[1:]: v for k, v in distribution.items()}})


STEP = "components.gate.operations.read.steps[0]"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            register(heartbeatSeconds=30, leaseSeconds=10),
            "registries[0].leaseSeconds: a lease of 10 s ends before it is renewed, every 30 s (`heartbeatSeconds`)",
        ),
        (
            register(heartbeatSeconds=30, leaseSeconds=30),
            "registries[0].leaseSeconds: a lease of 30 s ends before it is renewed, every 30 s (`heartbeatSeconds`)",
        ),
        (
            register(leaseSeconds=10),
            "registries[0].leaseSeconds: entries end after 10 s, and without `heartbeatSeconds` nobody renews them",
        ),
        (
            lambda twin: twin.update(registries=[{"component": "api"}, {"component": "api"}]),
            "registries[1]: it repeats registries[0], and only one of them would count",
        ),
        (
            lambda twin: twin["edges"].append(twin["edges"][2]),
            "edges[3]: it repeats edges[2], and only one of them would count",
        ),
        (
            lambda twin: twin.update(constants={"retransmitSeconds": 200}),
            "constants.retransmitSeconds: the first timeout, 200, is above the longest, 120 (`retransmitLimitSeconds`)",
        ),
        (draw(_1=0.5, _2=0.2), "load.routes.read.draws.n: the probabilities add up to 0.7, and not to 1"),
        (draw(_few=1.0), "load.routes.read.draws.n.few: what is drawn must be a number, but is 'few'"),
        (
            lambda twin: twin["load"].update(spawnRate={"default": 0}),
            "load.spawnRate: no user would ever come: the rate is 0, and no variable holds another",
        ),
        (
            lambda twin: twin["load"].update(connections={"default": 0}),
            "load.connections: all requests would be dropped: there is no connection",
        ),
        (
            lambda twin: twin["load"]["routes"]["read"].update(perIteration=0),
            "load.routes: no user would send a request: there is no route with `perIteration` above 0",
        ),
        (edge(product="rabbitmq"), "edges[2].product: 'rabbitmq' speaks tcp, but the `protocol` of the edge is sql"),
        (edge(name="srv"), "edges[2].name: it has no effect without `registry`"),
        (edge(timeoutFallbackSeconds=5), "edges[2].timeoutFallbackSeconds: it has no effect without `timeoutEnv`"),
        (edge(service="inner"), "edges[2].service: no operation of 'api' has the `service` 'inner'"),
        (
            lambda twin: twin["edges"][2]["address"].update(component="bx"),
            "edges[2].address.component: there is no component 'bx'",
        ),
        (box(start={"keys": {"port": "no port"}}), "components.box.start.keys: it has no effect without `config`"),
        (
            box(logins=[{"user": "me", "userEnv": "BOX_USER"}]),
            "components.box.logins[0].userEnv: it has no effect without `passwordEnv`",
        ),
        (
            lambda twin: twin.update(images=["example.org/Box:1"]),
            "images[0]: 'example.org/Box:1' is not the name of an image, such as registry.example/a:1.4",
        ),
        (
            lambda twin: twin.update(idleImages=["*/pause:*", "*/pause@*", "registry.example/[ab]/x?", "Pause 3"]),
            "idleImages[3]: 'Pause 3' matches no name of an image; a glob is '*/pause:*'",
        ),
        (step(code=3), f"{STEP}.code: it has no effect without `onError: Crash`"),
        (step(batch=True), f"{STEP}.batch: it has no effect without `parallel`"),
        (step(cacheFailures=True), f"{STEP}.cacheFailures: it has no effect without `keys`"),
        (step(keysPerCall=2), f"{STEP}.keysPerCall: it has no effect without `keys` or `invalidEntriesOf`"),
        (
            step(keys=5, keysPerCall=9),
            f"{STEP}.keysPerCall: a call asks for 9 different keys, but there are 5 (`keys`)",
        ),
        (step(invalidEntriesOf="box/gte"), f"{STEP}.invalidEntriesOf: there is no operation 'box/gte'"),
        (step(forEach="box/gte"), f"{STEP}.forEach: there is no operation 'box/gte'"),
        (flag(operation="read"), "flags.effects.slow[0].operation: 'api' has no operation 'read'"),
        (
            flag(replacementOperation="read"),
            "flags.effects.slow[0].replacementOperation: 'api' has no operation 'read'",
        ),
        (
            flag(redirect="gate", redirectTo="gate:80"),
            "flags.effects.slow[0].redirect: there is no edge from 'api' to 'gate'",
        ),
        (flag(redirect="box"), "flags.effects.slow[0].redirect: it has no effect without `redirectTo`"),
        (
            flag(floodRoute="raed", floodPerIteration=1),
            "flags.effects.slow[0].floodRoute: the load has no route 'raed'",
        ),
        (flag(floodPerIteration=1), "flags.effects.slow[0].floodPerIteration: it has no effect without `floodRoute`"),
        (flag(handledErrors="box/gte"), "flags.effects.slow[0].handledErrors: there is no operation 'box/gte'"),
        (flag(component="ap"), "flags.effects.slow[0].component: there is no component 'ap'"),
        (
            lambda twin: twin.update(flags={"component": "bx", "configMap": "c", "key": "k"}),
            "flags.component: there is no component 'bx'",
        ),
        (
            lambda twin: twin.update(exporters=[{"component": "box", "port": 7001}]),
            "exporters[0].port: 'box' does not listen on 7001",
        ),
        (
            lambda twin: twin.update(queues=[{"component": "box", "port": 1, "topics": ["t"]}]),
            "queues[0].port: 'box' does not listen on 1",
        ),
        (
            lambda twin: twin.update(
                exporters=[
                    {"component": "box", "port": 7000, "series": {"up": {"measure": "Calls", "operations": ["gte"]}}}
                ]
            ),
            "exporters[0].series.up.operations[0]: no component has an operation 'gte'",
        ),
        (
            lambda twin: twin.update(
                exporters=[{"component": "box", "port": 7000, "series": {"1up": {"measure": "Calls"}}}]
            ),
            "exporters[0].series.1up: '1up' is not a metric, such as `up`, or one with labels, such as "
            '`up{job="api"}`',
        ),
        (
            box(ports=[{"number": 7000, "protocol": "sql"}, {"protocol": "http"}]),
            "components.box.ports[1]: a port needs a `number`, or an `env` or `key` that holds it",
        ),
        (box(config="conf.json"), "components.box.config: the path must be absolute, but is 'conf.json'"),
        (box(disk={"directory": "data"}), "components.box.disk.directory: the path must be absolute, but is 'data'"),
        (
            box(disk={"directory": "/data", "errors": {"EIO": "I/O error"}}),
            "components.box.disk.errors.EIO: the key must be an error number; EIO is 5",
        ),
        (
            box(disk={"maintenance": [{"everySeconds": 1, "operations": ["gte"], "files": []}]}),
            "components.box.disk.maintenance[0].operations[0]: 'box' has no operation 'gte'",
        ),
        (
            box(java={"heapMib": 10, "heapUsedMib": 15}),
            "components.box.java.heapUsedMib: 15 MiB are in use, but `java.heapMib` is 10",
        ),
        (
            box(java={"heapUsedMib": 50}),
            "components.box.java.heapUsedMib: 50 MiB are in use, but `memoryMib` is 20",
        ),
        (
            box(logins=[{}]),
            "components.box.logins[0]: it names neither a user nor a variable, a word of the command line or a "
            "`pattern`",
        ),
        (
            box(logins=[{"pattern": "(", "configMap": "c", "key": "k"}]),
            "components.box.logins[0].pattern: RE2 cannot parse it (missing ): ()",
        ),
        (
            box(databases=[{"pattern": "x", "configMap": "c", "key": "k"}]),
            "components.box.databases[0].pattern: it has no group 'name', as in (?P<name>…)",
        ),
        (
            box(databases=[{"name": "x", "pattern": "(?P<name>x)"}]),
            "components.box.databases[0]: `configMap`, `key` and `pattern` belong together",
        ),
    ],
)
def test_contradiction_is_reported_alone_with_its_place(change: Change, message: str) -> None:
    assert [mistake.text for mistake in find(change)] == [message]


@pytest.mark.parametrize(
    "change",
    [
        lambda twin: None,
        register(heartbeatSeconds=30, leaseSeconds=90),
        draw(_1=0.5, _2=0.5),
        edge(product="postgresql"),
        edge(timeoutEnv="WAIT", timeoutFallbackSeconds=5),
        step(onError="Crash", code=3),
        step(invalidEntriesOf="box/get", keysPerCall=4),
        flag(redirect="box", redirectTo="box:7000"),
        flag(operation="Read", floodRoute="read", floodPerIteration=1),
        box(disk={"directory": "/data", "errors": {"5": "I/O error"}}),
        box(databases=[{"pattern": "(?P<name>x)", "configMap": "c", "key": "k"}]),
        lambda twin: twin.update(
            exporters=[{"component": "box", "port": 7000, "series": {'up{a="b", c="d"}': {"measure": "Constant"}}}]
        ),
    ],
)
def test_consistent_definition_has_no_mistakes(change: Change) -> None:
    assert find(change) == []


def test_flag_of_a_component_of_another_version_is_no_mistake() -> None:
    twin = copy.deepcopy(TWIN)
    flag(component="old")(twin)
    assert find_mistakes(tiny.app(**twin), known=frozenset({"old"})) == ()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"metadata": {"name": "c"}, "data": {"k": "{}"}}, ""),
        ({"metadata": {"name": "d"}, "data": {"k": "{}"}}, "flags.configMap: the manifests have no ConfigMap 'c'"),
        ({"metadata": {"name": "c"}, "data": {"l": "{}"}}, "flags.key: ConfigMap 'c' has no key 'k'"),
    ],
)
def test_document_of_flags_is_in_the_manifests(document: dict[str, Any], message: str) -> None:
    twin = copy.deepcopy(TWIN)
    flag()(twin)
    found = find_missing_flags(tiny.app(**twin).twin or tiny.DEFINITION, [{"kind": "ConfigMap", **document}])
    assert [mistake.text for mistake in found] == ([message] if message else [])


def test_unknown_name_comes_with_those_that_exist() -> None:
    (mistake,) = find(step(forEach="box/gte"))
    assert (mistake.observed, mistake.allowed) == ("box/gte", ("api/Read", "box/get", "gate/read"))


@pytest.mark.parametrize(
    ("product", "like"), [("mariadb", "mysql"), ("postgresql", "sql"), ("valkey", "redis"), ("redpanda", "kafka")]
)
def test_product_with_another_protocol_has_the_words_of_its_library(product: str, like: str) -> None:
    words = [
        describe_cause("java", ConnectionOutcome.CONNECTION_REFUSED, name, host="store", port=1, ip="10.0.0.1")
        for name in (product, like)
    ]
    assert words[0] == words[1]
