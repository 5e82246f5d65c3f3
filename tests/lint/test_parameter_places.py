"""What a parameter makes wrong in an object or an experiment is reported at the parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.lint import lint_text
from scenario_kit.model import Reference

CATALOG = Catalog()


@pytest.mark.parametrize(
    ("fault", "target", "parameters", "code", "named"),
    [
        ("service-selector-mismatch", "Service/cart", {"key": "a b"}, "SK142", "key: a b"),
        ("resource-quota-exceeded", "Deployment/cart", {"hard": {"x y": "1"}}, "SK142", "x y: "),
        ("pod-dns-policy-wrong", "Deployment/cart", {"policy": "None", "nameserver": "a:b:c"}, "SK142", "a:b:c"),
        ("http-abort", "Deployment/frontend", {"path": "api/cart"}, "SK127", "api/cart"),
        ("io-error", "Deployment/postgresql", {"path": "/tmp/*"}, "SK127", "/tmp/*"),
        ("jvm-latency", "Deployment/ad", {"method": "get-ads"}, "SK127", "get-ads"),
        ("network-loss", "Deployment/cart", {"lossPercent": 20, "correlationPercent": 80}, "SK127", "80"),
    ],
)
def test_finding_is_at_the_parameter(
    fault: str, target: str, parameters: dict[str, Any], code: str, named: str
) -> None:
    version = CATALOG.versions("otel-demo")[0]
    reference = Reference(*target.split("/"))
    made = draft(Answers("otel-demo", version, reference, fault, parameters, name="one", author="A"), CATALOG)

    found = [each.finding for each in lint_text(made.text, Path("scenarios/one/scenario.yaml"), CATALOG)]
    (finding,) = [each for each in found if each.code == code]

    assert finding.position is not None
    line = made.text.splitlines()[finding.position.line - 1]
    assert line[finding.position.column - 1 :].strip("\"'").startswith(named) or named in line
    assert yaml.safe_load(made.text)["spec"]["faults"][0]["parameters"].items() >= parameters.items()
