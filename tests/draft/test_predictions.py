"""Predicted alerts of drafts, by callers of the broken component."""

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.draft.alerts import predict_propagation
from scenario_kit.load import load_scenario
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import AlertExpectation


class Untried(Catalog):
    """The catalogue without trial records: predictions use the call graph only."""

    def matrix(self, app, fault=""):
        return ()


CATALOG = Untried()


@pytest.mark.parametrize(
    ("app", "fault", "target", "alerts"),
    [
        ("otel-demo", "pod-failure", "Deployment/payment",
         ["HighRequestErrorRate on Deployment/checkout", "NoRequestsReceived on Deployment/payment"]),
        # Whoever orders swallows that no mail goes out, but waits for it.
        ("otel-demo", "pod-failure", "Deployment/email", ["NoRequestsReceived on Deployment/email"]),
        ("otel-demo", "network-delay", "Deployment/email", ["HighRequestLatency on Deployment/checkout"]),
        ("otel-demo", "pod-failure", "Deployment/valkey-cart", ["HighRequestErrorRate on Deployment/cart"]),
        # Who only reads records falls silent where none arrives.
        ("otel-demo", "network-policy-deny-egress", "Deployment/fraud-detection",
         ["NoRequestsReceived on Deployment/fraud-detection", "HighRequestErrorRate on Deployment/fraud-detection"]),
        # Nobody asks this store while its cache is warm.
        ("hotel-reservation", "cpu-limit-too-low", "Deployment/mongodb-rate", []),
        ("hotel-reservation", "cpu-limit-too-low", "Deployment/rate",
         ["HighRequestLatency on Deployment/rate", "HighRequestLatency on Deployment/search"]),
    ],
)  # fmt: skip
def test_predicted_alerts_follow_callers(app, fault, target, alerts, tmp_path):
    made = draft(Answers(app, CATALOG.versions(app)[0], Reference.parse(target), fault, author="Ada Lovelace"), CATALOG)
    file = tmp_path / "scenario.yaml"
    file.write_text(made.text)
    spec = load_scenario(file).scenario.spec
    assert [f"{a.name} on {a.entity}" for a in spec.expect.alerts] == alerts
    assert spec.ground_truth.outcome == ("Incident" if alerts else "Benign")


@pytest.mark.parametrize(
    ("flag", "variant", "alerts"),
    [
        ("adFailure", "on",
         ["HighRequestErrorRate on Deployment/ad", "HighRequestErrorRate on Deployment/frontend-proxy"]),
        ("adManualGc", "on",
         ["HighRequestLatency on Deployment/ad", "HighRequestLatency on Deployment/frontend-proxy"]),
        ("emailMemoryLeak", "1000x", ["KubePodCrashLooping on Deployment/email"]),
        ("failedReadinessProbe", "on",
         ["KubePodNotReady on Deployment/cart", "HighRequestErrorRate on Deployment/frontend",
          "HighRequestErrorRate on Deployment/checkout"]),
        ("loadGeneratorFloodHomepage", "on", ["HighRequestLatency on Deployment/frontend-proxy"]),
        # No rule of the default pack looks at the lag of a consumer.
        ("kafkaQueueProblems", "on", []),
    ],
)  # fmt: skip
def test_flag_effect_decides_predicted_alerts(flag, variant, alerts):
    given = {"flag": flag, "variant": variant}
    made = draft(
        Answers("otel-demo", "2.2.0", Reference("ConfigMap", "flagd-config"), "feature-flag-changed", given), CATALOG
    )
    assert [f"{a.name} on {a.entity}" for a in made.alerts] == alerts


@pytest.mark.parametrize(
    ("silent", "edges"),
    [
        ("shipping", ["checkout → shipping"]),
        ("quote", ["checkout → shipping", "shipping → quote"]),
        ("accounting", ["checkout → kafka", "kafka → accounting"]),
    ],
)
def test_silence_propagates_from_work_sources(silent, edges):
    """Orders are what ships and what consumers read; that browsers ask for shipping costs too is no way for silence."""
    app = CATALOG.app("otel-demo", "2.2.0")
    fault = draft(
        Answers("otel-demo", "2.2.0", Reference("Deployment", "currency"), "deployment-scaled-to-zero"), CATALOG
    ).offer.fault
    seen = [
        AlertExpectation(name="HighRequestErrorRate", entity=Reference("Deployment", "checkout")),
        AlertExpectation(name="NoRequestsReceived", entity=Reference("Deployment", silent)),
    ]
    made = predict_propagation(fault, app, app.component("currency"), seen)
    bare = [f"{e.from_}→{e.to}".replace("Deployment/", "").replace("→", " → ") for e in made]
    assert bare == ["currency → checkout", *edges]


def test_every_cause_edge_has_its_own_reason():
    app = CATALOG.app("otel-demo", "2.2.0")
    broken = draft(
        Answers("otel-demo", "2.2.0", Reference("Deployment", "currency"), "pod-ip-pool-exhausted"), CATALOG
    ).offer.fault
    seen = [AlertExpectation(name="HighRequestErrorRate", entity=Reference("Deployment", "checkout"))]
    edges = predict_propagation(broken, app, app.component("currency"), seen)
    assert len(broken.causes) == 2
    assert len({e.because for e in edges}) == len(edges) == 3


def test_every_alert_edge_has_its_own_reason():
    app = CATALOG.app("otel-demo", "2.2.0")
    broken = draft(
        Answers("otel-demo", "2.2.0", Reference("Deployment", "currency"), "pod-failure"), CATALOG
    ).offer.fault
    seen = [AlertExpectation(name="KubePodNotReady", entity=Reference.parse(f"Deployment/other-{n}")) for n in range(3)]
    edges = predict_propagation(broken, app, None, seen)
    assert sorted(e.to for e in edges) == [a.entity for a in seen]
    assert len({e.because for e in edges}) == len(edges)
