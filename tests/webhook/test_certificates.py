"""The certificate of the webhook: renewal, concurrency, and immediate use."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from operators.webhook.certificates import (
    AUTHORITY_LIFETIME,
    AUTHORITY_MARGIN,
    SERVING_LIFETIME,
    SERVING_MARGIN,
    CertificateKeeper,
    WebhookKeys,
    keep_certificate,
    renew_keys,
)
from operators.webhook.review import ObjectJudgement
from operators.webhook.server import create_context, serve_reviews
from scenario_kit.clients.certificates import KeyPair
from scenario_kit.errors import ClusterError, UsageError
from scenario_kit.model import Reference
from scenario_kit.schema.webhook import WEBHOOK_NAME, build_service_client, build_webhook_configuration
from scenario_kit.testing import FakeCluster

NAMESPACE = "scenario-kit"
HOST = f"{WEBHOOK_NAME}.{NAMESPACE}.svc"
SECRET = Reference("Secret", WEBHOOK_NAME, NAMESPACE)
CONFIGURATION = Reference("ValidatingWebhookConfiguration", WEBHOOK_NAME, "", "admissionregistration.k8s.io")
NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def keys() -> WebhookKeys:
    made = renew_keys(None, HOST, NOW)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("passed", "renewed", "authority"),
    [
        (timedelta(), False, False),
        (SERVING_LIFETIME - SERVING_MARGIN - HOUR, False, False),
        (SERVING_LIFETIME - SERVING_MARGIN + HOUR, True, False),
        (SERVING_LIFETIME + HOUR, True, False),
        (AUTHORITY_LIFETIME - AUTHORITY_MARGIN + HOUR, True, True),
        (AUTHORITY_LIFETIME + HOUR, True, True),
    ],
)
def test_keys_are_renewed_before_expiry(keys: WebhookKeys, passed: timedelta, renewed: bool, authority: bool) -> None:
    found = renew_keys(keys, HOST, NOW + passed)

    assert (found is not None) == renewed
    if found is not None:
        assert found.serving != keys.serving
        assert (found.authority_key != keys.authority_key) == authority
        # Whoever trusts the one before goes on doing so, until its end.
        assert found.trusted.endswith(keys.trusted) == (passed < AUTHORITY_LIFETIME)


def test_inconsistent_keys_are_regenerated(keys: WebhookKeys) -> None:
    other = renew_keys(None, HOST, NOW)
    assert other is not None

    assert renew_keys(keys, "other.svc", NOW) is not None
    assert renew_keys(keys._replace(serving=other.serving), HOST, NOW) is not None
    assert renew_keys(keys._replace(serving=KeyPair(keys.serving.certificate, other.serving.key)), HOST, NOW)
    assert renew_keys(keys._replace(trusted=b"none"), HOST, NOW) is not None
    assert renew_keys(keys._replace(authority_key=b"none"), HOST, NOW) is not None


@pytest.mark.parametrize(
    "data", [{}, {"tls.crt": "YQ=="}, dict.fromkeys(("tls.crt", "tls.key", "ca.crt", "ca.key"), "?")]
)
def test_foreign_secret_has_no_keys(data: dict[str, str]) -> None:
    assert WebhookKeys.parse(data) is None


def test_webhook_keys_round_trip(keys: WebhookKeys) -> None:
    assert WebhookKeys.parse(keys.encode()) == keys


def read_bundle(cluster: FakeCluster) -> bytes:
    (webhook,) = (cluster.get(CONFIGURATION) or {})["webhooks"]
    return base64.b64decode(webhook["clientConfig"].get("caBundle", ""))


def create_cluster() -> FakeCluster:
    made = FakeCluster()
    made.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    return made


@pytest.fixture
def cluster() -> FakeCluster:
    made = create_cluster()
    made.create(build_webhook_configuration(build_service_client(NAMESPACE), "operator"))
    return made


def test_two_operators_share_a_trusted_webhook_certificate(cluster: FakeCluster) -> None:
    for _ in range(2):
        CertificateKeeper(cluster, NAMESPACE, create_context()).keep()
    stored = WebhookKeys.parse((cluster.get(SECRET) or {})["data"])

    assert stored is not None
    assert read_bundle(cluster) == stored.trusted


def test_concurrent_writes_are_not_lost(cluster: FakeCluster) -> None:
    later = NOW + SERVING_LIFETIME

    class Raced(FakeCluster):
        """Another operator renews between our reading and our writing."""

        def get(self, ref: Reference) -> dict[str, Any] | None:
            found = cluster.get(ref)
            if ref == SECRET and not self.raced:
                self.raced = True
                CertificateKeeper(cluster, NAMESPACE, create_context(), lambda: later).keep()
            return found

        raced = False
        patch = cluster.patch
        create = cluster.create

    CertificateKeeper(cluster, NAMESPACE, create_context()).keep()
    keeper = CertificateKeeper(Raced(), NAMESPACE, create_context(), lambda: later)
    with pytest.raises(ClusterError):
        keeper.keep()
    theirs = (cluster.get(SECRET) or {})["data"]
    keeper.keep()

    assert (cluster.get(SECRET) or {})["data"] == theirs


def test_api_server_gets_no_flags_without_configuration() -> None:
    cluster = create_cluster()
    CertificateKeeper(cluster, NAMESPACE, create_context()).keep()

    assert cluster.get(SECRET) is not None
    assert cluster.get(CONFIGURATION) is None


def test_errors_of_the_api_server_are_survived(caplog: pytest.LogCaptureFixture) -> None:
    class Gone(FakeCluster):
        def get(self, ref: Reference) -> dict[str, Any] | None:
            raise ClusterError("away")

    stopped = threading.Event()
    stopped.set()
    keep_certificate(CertificateKeeper(Gone(), NAMESPACE, create_context()), stopped).join(10)

    assert "away" in caplog.text


@pytest.fixture
def server(cluster: FakeCluster) -> Iterator[tuple[int, CertificateKeeper, list[datetime]]]:
    clock, context = [NOW], create_context()
    keeper = CertificateKeeper(cluster, NAMESPACE, context, lambda: clock[0])
    keeper.keep()
    served = serve_reviews(("127.0.0.1", 0), context, lambda obj: ObjectJudgement())
    yield served.server_address[1], keeper, clock
    served.shutdown()
    served.server_close()


def shake_hands(port: int, trusted: bytes) -> bytes:
    """The certificate that a server shows a strict client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.load_verify_locations(cadata=trusted.decode())
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as tls,
    ):
        return tls.getpeercert(binary_form=True) or b""


def test_renewed_certificate_is_shown_without_a_restart(
    server: tuple[int, CertificateKeeper, list[datetime]], cluster: FakeCluster
) -> None:
    port, keeper, clock = server
    before = shake_hands(port, read_bundle(cluster))
    with socket.create_connection(("127.0.0.1", port)):  # one that never shakes hands is in nobody's way
        clock[0] += SERVING_LIFETIME
        keeper.keep()
        after = shake_hands(port, read_bundle(cluster))

    assert before != after


def test_unavailable_address_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"--webhook 192\.0\.2\.1:1: "):
        serve_reviews(("192.0.2.1", 1), create_context(), lambda obj: ObjectJudgement())
