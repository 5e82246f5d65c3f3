"""The object that a change is about."""

from typing import Any

import pytest

from scenario_kit.model import Change
from scenario_kit.model.authored.app import FlagStore

FLAGS = FlagStore(config_map="flagd-config", key="demo.flagd.json")
MANIFEST = {"kind": "NetworkPolicy", "metadata": {"name": "closed"}}


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"create": MANIFEST}, ("NetworkPolicy", "closed")),
        ({"apply": MANIFEST}, ("NetworkPolicy", "closed")),
        ({"chaos": {"kind": "PodChaos", "metadata": {"name": "net"}}}, ("PodChaos", "net")),
        ({"create": {"kind": "Job", "metadata": "later"}}, ("Job", "")),
        ({"patch": {"target": "stores/Service/cart", "type": "Merge", "patch": {}}}, ("Service", "cart")),
        ({"delete": {"target": "HTTPRoute.gateway.networking.k8s.io/web"}}, ("HTTPRoute", "web")),
        ({"restart": {"target": "Deployment/web"}}, ("Deployment", "web")),
        ({"setFlag": {"flag": "cartFailure", "variant": "on"}}, ("ConfigMap", "flagd-config")),
        ({"run": {"client": "psql", "command": ["select 1"]}}, None),
        ({"removeFault": {"fault": "main"}}, None),
    ],
)
def test_change_is_about_its_object(change: dict[str, Any], about: tuple[str, str] | None) -> None:
    assert Change.from_json(change).operation.about(FLAGS) == about


def test_flag_without_store_is_about_nothing() -> None:
    assert Change.from_json({"setFlag": {"flag": "cartFailure", "variant": "on"}}).operation.about(None) is None
