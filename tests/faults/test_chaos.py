"""The faults of Chaos Mesh and the feature flags, rendered for targets of the shipped apps."""

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import FaultUse, Recurrence
from scenario_kit.render import render_fault
from scenario_kit.render.faults.applicability import offer
from scenario_kit.render.faults.first_offer import render_objects_for

CATALOG = Catalog()
DEMO, HOTEL = ("otel-demo", "hotel-reservation")


@pytest.fixture(scope="module")
def use():
    """Render a fault with its defaults and given changes."""
    known = {}

    def render(fault, target, parameters=None, app=DEMO):
        if (fault, app) not in known:
            found = CATALOG.app(app, CATALOG.versions(app)[0])
            known[fault, app] = (found, render_objects_for(CATALOG.fault(fault), found, CATALOG))
        return offer(CATALOG.fault(fault), *known[fault, app], Reference.parse(target), parameters)

    return render


def experiment(found):
    return next(c.operation.manifest for c in found.fault.changes if c.operation.manifest)


#: Restarting the target quiets an alert for a while, so it is no decoy of these.
NO_DECOY = ("memory-stress", "network-partition")
CART, FRONTEND, AD, FLAGD = (f"Deployment/{name}" for name in ("cart", "frontend", "ad", "flagd"))
MONGO, POSTGRES = "Deployment/mongodb-reservation", "Deployment/postgresql"
VALKEY = "Deployment/valkey-cart"

CASES = [
    ("pod-kill", DEMO, CART, "PodChaos", {"action": "pod-kill", "gracePeriod": 0}),
    ("pod-kill", HOTEL, MONGO, "PodChaos", {"action": "pod-kill"}),
    ("container-kill", DEMO, FLAGD, "PodChaos", {"action": "container-kill", "containerNames": ["flagd"]}),
    ("container-kill", HOTEL, MONGO, "PodChaos", {"containerNames": ["hotel-reserv-reservation-mongo"]}),
    ("network-loss", DEMO, CART, "NetworkChaos", {"loss": {"loss": "40", "correlation": "0"}, "direction": "to"}),
    ("network-loss", HOTEL, MONGO, "NetworkChaos", {"action": "loss"}),
    ("network-corrupt", DEMO, CART, "NetworkChaos", {"corrupt": {"corrupt": "40", "correlation": "0"}}),
    ("network-corrupt", HOTEL, MONGO, "NetworkChaos", {"action": "corrupt"}),
    ("network-duplicate", DEMO, CART, "NetworkChaos", {"duplicate": {"duplicate": "80", "correlation": "0"}}),
    ("network-duplicate", HOTEL, MONGO, "NetworkChaos", {"action": "duplicate"}),
    (
        "network-reorder",
        DEMO,
        CART,
        "NetworkChaos",
        {
            "action": "delay",
            "delay": {
                "latency": "2000ms",
                "jitter": "0ms",
                "correlation": "0",
                "reorder": {"reorder": "25", "correlation": "0", "gap": 1},
            },
        },
    ),
    ("network-reorder", HOTEL, MONGO, "NetworkChaos", {"direction": "to"}),
    (
        "network-bandwidth",
        DEMO,
        CART,
        "NetworkChaos",
        {"bandwidth": {"rate": "8kbit", "limit": 1000000, "buffer": 1600}},
    ),
    ("network-bandwidth", HOTEL, MONGO, "NetworkChaos", {"action": "bandwidth"}),
    (
        "network-partition",
        DEMO,
        CART,
        "NetworkChaos",
        {
            "direction": "both",
            "target": {
                "mode": "all",
                "selector": {
                    "namespaces": ["otel-demo"],
                    "labelSelectors": {"opentelemetry.io/name": "frontend"},
                },
            },
        },
    ),
    ("network-partition", HOTEL, MONGO, "NetworkChaos", {"action": "partition"}),
    ("cpu-stress", DEMO, CART, "StressChaos", {"stressors": {"cpu": {"workers": 20, "load": 100}}}),
    ("cpu-stress", HOTEL, MONGO, "StressChaos", {"containerNames": ["hotel-reserv-reservation-mongo"]}),
    (
        "memory-stress",
        DEMO,
        "Deployment/kafka",
        "StressChaos",
        {"stressors": {"memory": {"workers": 1, "size": "1024MiB", "oomScoreAdj": -1000}}},
    ),
    ("memory-stress", HOTEL, "Deployment/load-generator", "StressChaos", {"containerNames": ["load-generator"]}),
    # The image of PostgreSQL declares a volume, the pod mounts none.
    (
        "io-latency",
        DEMO,
        POSTGRES,
        "IOChaos",
        {
            "action": "latency",
            "volumePath": "/var/lib/postgresql/data",
            "path": "/var/lib/postgresql/data/**/*",
            "delay": "1000ms",
        },
    ),
    (
        "io-error",
        HOTEL,
        MONGO,
        "IOChaos",
        {"action": "fault", "errno": 5, "percent": 100, "containerNames": ["hotel-reserv-reservation-mongo"]},
    ),
    ("io-attr-override", DEMO, POSTGRES, "IOChaos", {"action": "attrOverride", "attr": {"perm": 0}}),
    ("io-mistake", DEMO, POSTGRES, "IOChaos", {"methods": ["read"]}),
    (
        "io-mistake",
        DEMO,
        POSTGRES,
        "IOChaos",
        {"mistake": {"filling": "random", "maxOccurrences": 10, "maxLength": 100}},
    ),
    ("http-abort", DEMO, FRONTEND, "HTTPChaos", {"target": "Request", "port": 8080, "path": "*", "abort": True}),
    ("http-abort", HOTEL, FRONTEND, "HTTPChaos", {"port": 5000}),
    ("http-delay", DEMO, FRONTEND, "HTTPChaos", {"delay": "3000ms"}),
    ("http-tamper", DEMO, FRONTEND, "HTTPChaos", {"target": "Response", "replace": {"code": 500, "headers": {}}}),
    ("dns-error", DEMO, "Deployment/checkout", "DNSChaos", {"action": "error", "patterns": []}),
    ("dns-error", HOTEL, "Deployment/load-generator", "DNSChaos", {"action": "error"}),
    ("dns-random", DEMO, "Deployment/checkout", "DNSChaos", {"action": "random"}),
    ("dns-random", HOTEL, "Deployment/load-generator", "DNSChaos", {"mode": "all"}),
    ("clock-skew", DEMO, CART, "TimeChaos", {"timeOffset": "-86400s", "clockIds": ["CLOCK_REALTIME"]}),
    ("clock-skew", HOTEL, MONGO, "TimeChaos", {"mode": "all"}),
    ("jvm-latency", DEMO, AD, "JVMChaos", {"method": "getAds", "latency": 3000, "port": 9277}),
    ("jvm-latency", DEMO, "Deployment/kafka", "JVMChaos", {"class": "kafka.server.KafkaApis"}),
    ("jvm-exception", DEMO, AD, "JVMChaos", {"exception": 'java.lang.IllegalStateException("not available")'}),
    ("jvm-exception", DEMO, "Deployment/kafka", "JVMChaos", {"method": "handleProduceRequest"}),
    ("jvm-return", DEMO, AD, "JVMChaos", {"method": "getRandomAds", "returnValue": "null"}),
    ("jvm-stress", DEMO, AD, "JVMChaos", {"memType": "heap"}),
    ("jvm-stress", DEMO, "Deployment/kafka", "JVMChaos", {"action": "stress"}),
    ("jvm-gc", DEMO, AD, "JVMChaos", {"action": "gc"}),
    ("jvm-gc", DEMO, "Deployment/kafka", "JVMChaos", {"action": "gc"}),
    ("jvm-rule", DEMO, AD, "JVMChaos", {"action": "ruleData"}),
    ("jvm-rule", DEMO, "Deployment/kafka", "JVMChaos", {"action": "ruleData"}),
]


@pytest.mark.parametrize(("fault", "app", "target", "kind", "part"), CASES)
def test_experiment_is_complete(use, fault, app, target, kind, part):
    found = use(fault, target, app=app)
    manifest = experiment(found)
    assert manifest["kind"] == kind
    assert len(manifest["metadata"]["name"]) <= 20
    spec = manifest["spec"]
    assert spec["mode"] == "all"
    assert spec["selector"]["namespaces"]
    assert "duration" not in spec
    assert part.items() <= spec.items()
    cause = found.fault.causes[0]
    assert cause.ref == f"{kind}.chaos-mesh.org/{manifest['metadata']['name']}"
    assert [c.operation.keyword for c in cause.fix] == ["delete"]
    assert found.fault.effect[0].object.ref == cause.ref == found.fault.undone[0].object.ref
    assert any(e.ref == target for e in found.fault.entities)
    assert [c for c in found.fault.effect if c.query]


@pytest.mark.parametrize("fault", sorted({case[0] for case in CASES}))
def test_self_healing_fault_has_no_fix(use, fault):
    app, target = next((c[1], c[2]) for c in CASES if c[0] == fault)
    found = use(fault, target, app=app).fault
    passing = fault in ("pod-kill", "container-kill", "jvm-gc")
    assert (found.persistence, found.mitigation) == (("OneShot", "None") if passing else ("Workload", "Native"))
    assert bool(found.solutions) is not passing
    assert bool(found.decoys) is not (passing or fault in NO_DECOY)


@pytest.mark.parametrize(
    ("fault", "target", "parameters", "part"),
    [
        ("network-partition", CART, {"peer": CART}, "one and the same"),
        ("network-partition", CART, {"peer": "Deployment/crt"}, "did you mean"),
        ("network-partition", "Deployment/otel-collector", {}, "nothing to cut"),
        ("network-loss", CART, {"lossPercent": 10}, "less than the minimum"),
        ("network-reorder", CART, {"latencyMilliseconds": 0}, "less than the minimum"),
        ("network-duplicate", CART, {"duplicatePercent": 1}, "less than the minimum"),
        ("cpu-stress", CART, {"workers": 0}, "less than the minimum"),
        ("cpu-stress", CART, {"container": "crt"}, "no container 'crt'"),
        ("memory-stress", "Deployment/llm", {}, "no memory limit"),
        ("memory-stress", CART, {"percentOfLimit": 10}, "less than the minimum"),
        ("io-error", CART, {}, "mounts no volume"),
        ("io-error", FLAGD, {}, "mounts no volume"),  # read when it starts, and when flags are changed
        ("io-error", "Deployment/kafka", {}, "mounts no volume"),
        ("io-latency", VALKEY, {}, "mounts no volume on whose files its answers wait"),
        ("io-mistake", VALKEY, {}, "mounts no volume from which it reads"),
        ("io-attr-override", VALKEY, {}, "mounts no volume in which it opens files"),
        ("io-error", FLAGD, {"volumePath": "/data"}, "nothing is mounted at /data"),
        ("io-error", VALKEY, {"errorNumber": 0}, "less than the minimum"),
        ("http-abort", FRONTEND, {"port": 81}, "no container of its pods listens"),
        ("http-abort", CART, {}, "speaks something else"),
        ("http-abort", "Deployment/accounting", {}, "listens on no port"),
        ("http-tamper", FRONTEND, {"statusCode": 200}, "less than the minimum"),
        ("dns-error", CART, {"patterns": ["*.local"]}, "does not match"),
        ("dns-random", CART, {"patterns": ["cart", "cart"]}, "non-unique"),
        ("network-corrupt", CART, {"correlationPercent": 100}, "greater than the maximum"),
        ("clock-skew", CART, {"offsetSeconds": 5}, "programs tolerate"),
        ("jvm-latency", CART, {}, "does not run in a JVM"),
        ("jvm-gc", CART, {}, "does not run in a JVM"),
        ("jvm-stress", CART, {}, "does not run in a JVM"),
        ("jvm-rule", CART, {}, "does not run in a JVM"),
        ("jvm-rule", AD, {"rule": "CLASS x"}, "does not match"),
        ("jvm-return", "Deployment/kafka", {}, "names no method"),
        ("feature-flag-changed", "ConfigMap/product-catalog-x", {}, "ConfigMap/"),
        ("feature-flag-changed", "ConfigMap/flagd-config", {"flag": "adFailed"}, "no flag adFailed"),
        ("feature-flag-changed", "ConfigMap/flagd-config", {"flag": "adFailure", "variant": "50%"}, "no variant 50%"),
        ("feature-flag-changed", "ConfigMap/flagd-config", {"flag": "adFailure", "variant": "off"}, "already"),
        ("feature-flag-changed", "ConfigMap/flagd-config", {"flag": "imageSlowLoad"}, "without load profile browser"),
        ("feature-flag-changed", "ConfigMap/flagd-config", {"flag": "llmInaccurateResponse"}, "nothing can be seen"),
        (
            "feature-flag-changed",
            "ConfigMap/flagd-config",
            {"flag": "emailMemoryLeak", "variant": "10x"},
            "does too little",
        ),
    ],
)
def test_ineffective_chaos_is_refused(use, fault, target, parameters, part):
    with pytest.raises(AuthoringError) as caught:
        use(fault, target, parameters)
    assert part in caught.value.message + "".join(f.fix + f.message for f in caught.value.findings)


def test_cpu_stress_sets_a_reachable_limit(use):
    found = use("cpu-stress", CART)
    assert [c.operation.keyword for c in found.fault.changes] == ["patch", "chaos"]
    assert found.fault.effect[1].query.value == 15
    assert [c.operation.keyword for c in use("cpu-stress", CART, {"limitMillicores": 0}).fault.changes] == ["chaos"]


@pytest.mark.parametrize(
    ("app", "target", "limit"),
    [(DEMO, CART, 20), (HOTEL, "Deployment/frontend", 90), (HOTEL, "Deployment/profile", 36)],
)
def test_cpu_stress_limits_by_what_the_container_requests(use, app, target, limit):
    found = use("cpu-stress", target, app=app).fault
    assert found.effect[1].query.value == limit * 3 // 4
    assert [str(e.ref) for e in found.causes][1:] == [target], "either repair ends it"


def test_cpu_stress_below_a_limit_nearly_as_low_has_one_cause(use):
    found = use("cpu-stress", "Deployment/profile", {"limitMillicores": 400}, app=HOTEL).fault
    assert len(found.causes) == 1
    assert [c.operation.keyword for c in found.changes] == ["patch", "chaos"]


def test_effect_of_a_tiny_cpu_limit_is_still_proven(use):
    assert use("cpu-stress", CART, {"limitMillicores": 1}).fault.effect[1].query.value == 7


def test_every_name_may_be_written_as_a_star(use):
    made = use("dns-error", "Deployment/shipping", {"patterns": ["*"]}).fault.experiments
    assert [manifest["spec"]["patterns"] for manifest in made] == [["*"]]


def test_partition_offers_callees_as_peers(use):
    choices = use("network-partition", CART).choices
    assert choices["direction"] == ["to", "from", "both"]
    assert {"Deployment/frontend", "Deployment/checkout", "Deployment/valkey-cart"} <= set(choices["peer"])
    victims = [e.ref for e in use("network-partition", CART, {"peer": "Deployment/valkey-cart"}).fault.entities[1:]]
    assert victims == [CART, "Deployment/valkey-cart"]


@pytest.mark.parametrize(
    ("flag", "variant", "operations", "victim", "part"),
    [
        ("paymentUnreachable", "on", ["setFlag"], "checkout", 'service_name="checkout", status_code='),
        ("paymentFailure", "100%", ["setFlag"], "payment", 'service_name="payment", status_code='),
        ("kafkaQueueProblems", "on", ["setFlag"], "checkout", 'lag_sum_ratio{group="fraud-detection"}'),
        ("adManualGc", "on", ["setFlag"], "ad", "duration_milliseconds_sum"),
        ("adHighCpu", "on", ["patch", "setFlag"], "ad", "duration_milliseconds_sum"),
        ("failedReadinessProbe", "on", ["patch", "setFlag"], "cart", "kube_pod_status_ready"),
        ("emailMemoryLeak", "10000x", ["setFlag"], "email", 'reason="OOMKilled", pod=~"email-.+"'),
        ("recommendationCacheFailure", "on", ["setFlag"], "recommendation", "STATUS_CODE_ERROR"),
        ("loadGeneratorFloodHomepage", "on", ["setFlag"], "load-generator", 'service_name="frontend"'),
    ],
)
def test_flag_effect_follows_from_the_app(use, flag, variant, operations, victim, part):
    found = use("feature-flag-changed", "ConfigMap/flagd-config", {"flag": flag})
    assert found.parameters["variant"] == variant
    assert [c.operation.keyword for c in found.fault.changes] == operations
    assert found.fault.entities[1].ref == f"Deployment/{victim}"
    assert part in found.fault.effect[1].query.expr
    assert found.fault.causes[0].fix[0].operation.variant == "off"


def test_only_observable_flags_are_offered(use):
    choices = use("feature-flag-changed", "ConfigMap/flagd-config").choices["flag"]
    assert choices[0] == "paymentUnreachable"
    assert len(choices) == 13
    assert not {"llmInaccurateResponse", "imageSlowLoad", "loadGeneratorVUs"} & set(choices)


def test_every_flag_of_the_app_has_a_description(use):
    app = CATALOG.app(DEMO, "2.2.0")
    known = {c.name for c in app.components}
    for trait in app.flags.effects.values():
        assert {trait.component, trait.shows or trait.component} <= known
        assert bool(trait.because) is (trait.effect == "None")


@pytest.fixture
def again():
    """Renders a fault that recurs."""

    def render(fault_name, every, lasting=0, target=CART):
        app = CATALOG.app(DEMO, "2.2.0")
        fault_type = CATALOG.fault(fault_name)
        recurrence = Recurrence(every_seconds=every, for_seconds=lasting)
        use = FaultUse(name="main", type=fault_name, target=Reference.parse(target), recurrence=recurrence)
        return render_fault(fault_type, use, app, render_objects_for(fault_type, app, CATALOG), "otel-demo", "draft")

    return render


def test_recurring_type_that_blames_its_target_has_no_solution_of_its_own():
    """Rules about labels report the type; rendering it is no traceback."""
    app, fault_type = CATALOG.app(DEMO, "2.2.0"), CATALOG.fault("network-loss")
    blamed = {"ref": "{{ target }}", "fix": [{"restart": {"target": "{{ target }}"}}]}
    blames_target = msgspec.structs.replace(fault_type, entities=(blamed,), solutions=())
    recurrence = Recurrence(every_seconds=400, for_seconds=200)
    use = FaultUse(name="main", type="network-loss", target=Reference.parse(CART), recurrence=recurrence)
    found = render_fault(blames_target, use, app, render_objects_for(fault_type, app, CATALOG), "otel-demo", "draft")
    assert [str(e.ref) for e in found.causes] == [CART]
    assert found.solutions == ()


@pytest.mark.parametrize(
    ("name", "target", "every", "lasting", "key"),
    [
        ("pod-kill", CART, 60, 0, "podChaos"),
        ("container-kill", CART, 90, 0, "podChaos"),
        ("network-loss", CART, 400, 200, "networkChaos"),
        ("cpu-stress", CART, 400, 200, "stressChaos"),
        ("io-error", VALKEY, 400, 200, "ioChaos"),
        ("http-abort", FRONTEND, 400, 200, "httpChaos"),
        ("dns-error", CART, 400, 200, "dnsChaos"),
        ("clock-skew", CART, 400, 200, "timeChaos"),
        ("jvm-gc", AD, 400, 200, "jvmChaos"),
    ],
)
def test_every_chaos_kind_may_recur(again, name, target, every, lasting, key):
    found = again(name, every, lasting, target)
    schedule = found.changes[-1].operation.manifest
    assert schedule["kind"] == "Schedule"
    assert schedule["spec"]["schedule"] == f"@every {every}s"
    assert schedule["spec"][key]["mode"] == "all"
    assert schedule["spec"][key].get("duration") == (f"{lasting}s" if lasting else None)
    assert key.lower() == schedule["spec"]["type"].lower()
    root = f"Schedule.chaos-mesh.org/{schedule['metadata']['name']}"
    limited = [target] if name == "cpu-stress" else []  # spare cores would let both run
    assert [e.ref for e in found.causes] == [root, *limited]
    assert found.effect[0].object.ref == found.undone[0].object.ref == root
    assert (found.effect[0].object.path, found.effect[0].object.exists) == ("status.active[0].name", True)
    assert found.solutions[0].changes[0].operation.target == root
    assert (found.mitigation, found.persistence) == ("Native", "Object")
    assert "wall-clock" not in found.requires, "a lab plays Schedules in virtual time"


@pytest.mark.parametrize(
    ("name", "every", "lasting", "part"),
    [
        ("pod-kill", 60, 30, "one-shot action"),
        ("network-loss", 400, 0, "needs `forSeconds`"),
        ("network-loss", 400, 60, "too short to be verified"),
        ("network-loss", 300, 300, "before it ends"),
        ("deployment-scaled-to-zero", 60, 0, "cannot recur"),
    ],
)
def test_invalid_recurrence_is_refused(again, name, every, lasting, part):
    with pytest.raises(AuthoringError, match=part):
        again(name, every, lasting)
