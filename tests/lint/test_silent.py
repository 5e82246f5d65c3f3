"""SK324: a silent incident needs a check that shows a consequence."""

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_text

FILE = Path(__file__).parents[1] / "fixtures" / "language" / "silent" / "scenario.yaml"
CATALOG = Catalog()
SILENT = "    silent: true\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SILENT, "", "no expected alert has the class MustFire"),
        ("      withinSeconds: 300\n", "      withinSeconds: 300\n      stays: true\n", "no check that shows it"),
        (
            SILENT,
            f"{SILENT}    alerts: [{{name: HighRequestLatency}}]\n",
            "must fire, but the incident is declared as silent",
        ),
        ("    rootCauses:\n", "    outcome: Benign\n    rootCauses:\n", "`silent` has no meaning"),
    ],
)
def test_mistakes_in_silent_incidents_are_sk324(old: str, new: str, message: str) -> None:
    text = FILE.read_text()
    assert old in text
    found = [each.finding for each in lint_text(text.replace(old, new), FILE, CATALOG) if each.finding.code == "SK324"]
    assert [message in finding.message for finding in found] == [True]


REPEATED = {
    "what the fault patched": "object: {ref: Deployment/product-catalog, path: spec.replicas, equals: 0}",
    "a series of it": "query: {expr: 'sum(kube_deployment_spec_replicas)', is: AtMost, value: 30}",
    "an event of every change": "event: {entity: Deployment/product-catalog, reason: ScalingReplicaSet}",
}
CONSEQUENCES = {
    "endpoints": "endpoints: {service: Service/product-catalog, atMost: 0}",
    "a port": "probe: {target: Service/product-catalog, port: 8080, succeeds: false}",
    "what a controller counts": "object: {ref: Deployment/product-catalog, path: status.readyReplicas, exists: false}",
}


def find_in_scaled_down(check: str) -> list[str]:
    """List the findings about an incident that one check shows."""
    head, _, rest = FILE.read_text().partition("    - query:\n")
    tail = rest[rest.index("  groundTruth:") :]
    head = head.replace("type: network-delay", "type: deployment-scaled-to-zero").replace(
        "    parameters: {latencyMilliseconds: 100}\n", ""
    )
    text = f"{head}    - {check}\n      describe: it is so\n{tail}"
    return [each.finding.message for each in lint_text(text, FILE, CATALOG) if each.finding.code == "SK324"]


@pytest.mark.parametrize("check", REPEATED.values(), ids=REPEATED)
def test_checks_that_repeat_writes_prove_nothing(check: str) -> None:
    assert find_in_scaled_down(check) == ["the checks that show a silent incident only repeat what the faults write"]


@pytest.mark.parametrize("check", CONSEQUENCES.values(), ids=CONSEQUENCES)
def test_one_consequence_is_enough(check: str) -> None:
    assert find_in_scaled_down(check) == []
    assert find_in_scaled_down(f"{check}\n      describe: it is so\n    - {REPEATED['what the fault patched']}") == []
