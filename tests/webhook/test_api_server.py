"""A real API server calls the webhook on ``kubectl apply``."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from operators.scenario.environment import Settings
from operators.webhook.certificates import CertificateKeeper
from operators.webhook.judgement import judge_object
from operators.webhook.review import ObjectJudgement
from operators.webhook.server import create_context, serve_reviews
from scenario_kit.catalog import find_data_root
from scenario_kit.clients import KubeCluster
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Reference
from scenario_kit.render.scenarios.bundle import bundle_scenario
from scenario_kit.schema.api_group import GROUP
from scenario_kit.schema.webhook import PATH, TIMEOUT_SECONDS, WEBHOOK_NAME, build_webhook_configuration
from tests.webhook.conftest import CATALOG, spoil
from tools.pages.crd import SERVED, build_crd

pytestmark = pytest.mark.lab


class Tried(NamedTuple):
    """The exit code and output of kubectl."""

    code: int
    said: str


Apply = Callable[..., Tried]


class Switch:
    """The webhook's judgement, which can be made to fail."""

    works = True

    def judge(self, obj: dict[str, Any]) -> ObjectJudgement:
        if not self.works:
            raise RuntimeError("the judgement fails")
        return judge_object(CATALOG, Settings(), obj)


@pytest.fixture(scope="module")
def webhook(kube: KubeCluster) -> Iterator[Switch]:
    """The webhook on loopback, with a certificate trusted by the API server."""
    for kind in SERVED:
        kube.apply(build_crd(kind))
    for kind in SERVED:
        ref = Reference("CustomResourceDefinition", f"{kind.lower()}s.{GROUP}", "", "apiextensions.k8s.io")
        assert any("Established" in str(kube.get(ref)) for _ in range(1000))
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "scenario-kit"}})
    context, switch = create_context(), Switch()
    server = serve_reviews(("127.0.0.1", 0), context, switch.judge)
    client = {"url": f"https://127.0.0.1:{server.server_address[1]}{PATH}"}
    kube.apply(build_webhook_configuration(client, "the operator"))
    CertificateKeeper(kube, "scenario-kit", context, host="127.0.0.1").keep()
    yield switch
    kube.delete(Reference("ValidatingWebhookConfiguration", WEBHOOK_NAME, "", "admissionregistration.k8s.io"))
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def apply(webhook: Switch, api_server: Path, binary: Callable[[str], Path]) -> Apply:
    def run(obj: dict[str, Any], *options: str) -> Tried:
        command = [str(binary("kubectl")), "--kubeconfig", str(api_server), "apply", *options, "-f", "-"]
        done = subprocess.run(
            command, input=yaml.safe_dump(obj), capture_output=True, text=True, timeout=60, check=False
        )
        return Tried(done.returncode, done.stdout + done.stderr)

    return run


def test_kubectl_apply_shows_the_finding(apply: Apply, wrong: tuple[dict[str, Any], str, str, str]) -> None:
    obj, code, field, helps = wrong
    tried = apply(obj)

    assert tried.code == 1
    assert f'admission webhook "admission.{GROUP}" denied the request' in tried.said
    assert f"{code} {field}: " in tried.said
    assert helps in tried.said
    assert f"docs/rules.md#{code.lower()}-" in tried.said


@pytest.mark.parametrize("dry_run", ["server", "none"])
def test_valid_scenario_is_stored_and_dry_run_passes(apply: Apply, kube: KubeCluster, dry_run: str) -> None:
    good = spoil(lambda spec: None)
    good["metadata"]["name"] = f"good-{dry_run}"
    options = ("--dry-run=server",) if dry_run == "server" else ()
    tried = apply(good, *options)

    assert tried.code == 0, tried.said
    stored = kube.get(Reference("Scenario", good["metadata"]["name"], "scenario-kit", GROUP))
    assert (stored is None) == (dry_run == "server")


def test_dry_run_shows_the_finding(apply: Apply) -> None:
    tried = apply(spoil(lambda spec: spec.pop("brief")), "--dry-run=server")

    assert (tried.code, "SK605 spec.brief: " in tried.said) == (1, True)


def test_stored_object_may_be_labelled_and_fixed_but_not_broken(apply: Apply, kube: KubeCluster) -> None:
    ref = Reference("Scenario", "mended", "scenario-kit", GROUP)
    obj = spoil(lambda spec: None)
    obj["metadata"]["name"] = ref.name
    assert apply(obj).code == 0

    kube.patch(ref, {"metadata": {"labels": {"team": "shop"}}})
    broken = spoil(lambda spec: spec["faults"][0].update(type="pod-failur"))
    broken["metadata"]["name"] = ref.name
    assert "SK108" in apply(broken).said
    assert (kube.get(ref) or {})["spec"]["faults"][0]["type"] == "pod-failure"


def test_failing_webhook_does_not_block_requests(
    apply: Apply, webhook: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "works", False)
    broken = spoil(lambda spec: spec["faults"][0].update(type="pod-failur"))
    broken["metadata"]["name"] = "unasked"

    assert TIMEOUT_SECONDS <= 5
    assert apply(broken).code == 0


def test_nulls_arrive_only_with_server_side_apply(
    apply: Apply, webhook: Switch, kube: KubeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "checkout-knows-no-names"
    obj = read_document(find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml").data
    obj["metadata"]["namespace"] = "scenario-kit"
    refused = "(NullsNotSent): `spec.solutions[0].changes[0].patch.patch.spec.template.spec.dns"
    assert refused in apply(obj).said

    monkeypatch.setattr(webhook, "works", False)
    assert apply(obj).code == 0  # stored without them, as by an API server without the webhook
    monkeypatch.setattr(webhook, "works", True)
    tried = apply(obj, "--server-side", "--force-conflicts")
    assert tried.code == 0, tried.said
    stored = kube.get(Reference("Scenario", name, "scenario-kit", GROUP)) or {}
    assert stored["spec"]["solutions"] == obj["spec"]["solutions"]


def test_bundle_is_stored_and_mistakes_reported_by_field(apply: Apply, kube: KubeCluster) -> None:
    """The API server stores unknown fields of fault types."""
    folder = find_data_root() / "catalog" / "scenarios" / "hotel-all-errors"
    own = read_document(folder / "faults" / "registry-restarted" / "fault.yaml").data
    bundle = bundle_scenario(folder / "scenario.yaml", CATALOG)
    ref = Reference("Scenario", "hotel-all-errors", "scenario-kit", GROUP)

    assert apply(bundle).code == 0
    assert (kube.get(ref) or {})["spec"]["faultTypes"] == [own]
    bundle["spec"]["faultTypes"] = [{**own, "chnges": []}]
    tried = apply(bundle)
    assert tried.code == 1
    assert "SK102 spec.faultTypes[0].chnges: " in tried.said
    assert "did you mean `changes`?" in tried.said
