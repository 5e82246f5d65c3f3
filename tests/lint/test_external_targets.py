"""External targets by every form of a name: which are found, and which cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.policy_violations import build_packet_loss
from tests.lint.test_rules import base, lint


def codes(target: str, folder: Path) -> set[str]:
    document = base()
    document["spec"]["decoys"][0]["changes"] = [{"chaos": build_packet_loss(target)}]
    return {f.code for f in lint(document, folder) if f.code == "SK151"}


@pytest.mark.parametrize(
    "target",
    [
        "valkey-cart.otel-demo",
        "valkey-cart.otel-demo.svc",
        "valkey-cart.otel-demo.svc.cluster.local",
        "valkey-cart.otel-demo.svc.cluster.local.",
        "valkey-cart.otel-demo:6379",
        "kubernetes.default.svc",
        "kube-dns.kube-system",
        "10-0-0-1.otel-demo.pod.cluster.local",
        "10.96.0.7",
        "10.0.0.0/8",
        "example.com",
        "api.stripe.com",
    ],
)
def test_resolvable_external_target_is_accepted(target: str, tmp_path: Path) -> None:
    assert codes(target, tmp_path) == set()


@pytest.mark.parametrize(
    "target",
    [
        "valkey-cart",
        "valkey-kart.otel-demo",
        "valkey-kart.otel-demo.svc.cluster.local",
        "redis-master.default.svc.cluster.local",
        "valkey-cart.shop-typo.svc",
        "cart.payments.svc.cluster.local",
        "2001:db8::1",
        "no name",
    ],
)
def test_unresolvable_external_target_is_reported(target: str, tmp_path: Path) -> None:
    assert codes(target, tmp_path) == {"SK151"}
