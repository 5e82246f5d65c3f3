"""The work of each component, by its spans."""

from scenario_kit.model import App, Component, Reference
from scenario_kit.model.runtime.observation import Work
from scenario_kit.observe.span_throughput import measure_work
from scenario_kit.testing import FakeMetrics

APP = App(
    name="shop", version="1", namespace="shop", entry="web",
    components=tuple(Component(name=n, workload=Reference("Deployment", n)) for n in ("web", "cart", "store")),
)  # fmt: skip
CALLS = [
    ({"service_name": "web", "status_code": "STATUS_CODE_UNSET"}, 590.0),
    ({"service_name": "web", "status_code": "STATUS_CODE_ERROR"}, 10.0),
    ({"service_name": "cart", "status_code": "STATUS_CODE_UNSET"}, 30.0),
    ({"service_name": "somebody-else", "status_code": "STATUS_CODE_UNSET"}, 30.0),
]
TOOK = [
    ({"service_name": "web", "le": "+Inf"}, 600.0),
    ({"service_name": "web", "le": "100.0"}, 580.0),
    ({"service_name": "web", "le": "10.0"}, 300.0),
]


def test_work_is_counted_per_instrumented_component():
    metrics = FakeMetrics.matching({"calls_total": lambda _: CALLS, "duration": lambda _: TOOK})
    assert measure_work(metrics, ("shop-1", "shop-1-jobs"), APP, 1000.0, 1300.0) == {
        "web": Work(seconds=300, requests=600.0, errors=10.0, within=((10.0, 300.0), (100.0, 580.0))),
        "cart": Work(seconds=300, requests=30.0),
    }
    assert all("[300s]" in e and 'namespace=~"shop-1|shop-1-jobs"' in e and "SERVER" in e for e in metrics.queries)


def test_single_namespace_without_samples_gives_nothing():
    metrics = FakeMetrics.matching({})
    assert measure_work(metrics, ("shop-1",), APP, 1000.0, 1300.0) == {}
    assert all('namespace="shop-1"' in e for e in metrics.queries)
