"""The webhook's certificate: created and renewed here, stored in a Secret, its CA published to the API server.

All operators of a cluster share the Secret, and any of them may renew it; writes are conditional on the version read.
"""

from __future__ import annotations

import base64
import logging
import ssl
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization

from scenario_kit.clients.certificates import Authority, KeyPair, issue
from scenario_kit.clients.connection import load_key_pair
from scenario_kit.errors import AlreadyExists, ClusterError, ScenarioKitError
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.ip_address import is_ip_address
from scenario_kit.ports import Cluster
from scenario_kit.schema.webhook import WEBHOOK_NAME

log = logging.getLogger(__name__)
#: Lifetime of a serving certificate, and the remaining lifetime at which it is renewed.
SERVING_LIFETIME: Final = timedelta(days=90)
SERVING_MARGIN: Final = timedelta(days=30)
#: The same for the CA; a replaced CA stays trusted until it expires.
AUTHORITY_LIFETIME: Final = timedelta(days=3650)
AUTHORITY_MARGIN: Final = timedelta(days=120)
#: Interval of the checks of the Secret; a certificate renewed by another operator is served within that time.
CHECK_SECONDS: Final = 60.0
_CONFIGURATION: Final = Reference("ValidatingWebhookConfiguration", WEBHOOK_NAME, "", "admissionregistration.k8s.io")
_AUTHORITY: Final = "scenario-kit webhook"
#: Keys of the Secret; the first two as in Secrets of type kubernetes.io/tls.
_FIELDS: Final = ("tls.crt", "tls.key", "ca.crt", "ca.key")


class WebhookKeys(NamedTuple):
    """The content of the Secret, in PEM. ``trusted`` is the current CA followed by replaced ones."""

    serving: KeyPair
    trusted: bytes
    authority_key: bytes

    @classmethod
    def parse(cls, data: Mapping[str, str]) -> WebhookKeys | None:
        """Parse the data of the Secret; None if a key is missing or not base64."""
        try:
            raw = {name: base64.b64decode(data[name], validate=True) for name in _FIELDS}
        except (KeyError, ValueError):
            return None
        return cls(KeyPair(raw["tls.crt"], raw["tls.key"]), raw["ca.crt"], raw["ca.key"])

    def encode(self) -> dict[str, str]:
        """Encode as the data of the Secret."""
        values = (self.serving.certificate, self.serving.key, self.trusted, self.authority_key)
        return {name: base64.b64encode(value).decode() for name, value in zip(_FIELDS, values, strict=True)}


def renew_keys(known: WebhookKeys | None, host: str, now: datetime) -> WebhookKeys | None:
    """Renew keys that are missing, invalid, about to expire or for another host; None if all are good."""
    try:
        return _renew_keys(known, host, now)
    except (ValueError, x509.ExtensionNotFound):  # the Secret was overwritten
        return _renew_keys(None, host, now)


def _renew_keys(known: WebhookKeys | None, host: str, now: datetime) -> WebhookKeys | None:
    trusted: list[bytes] = []
    authority = None
    if known is not None:
        authority = Authority.parse(known.trusted, known.authority_key)
        every = x509.load_pem_x509_certificates(known.trusted)
        trusted = [each.public_bytes(serialization.Encoding.PEM) for each in every if each.not_valid_after_utc > now]
        if _can_serve(known.serving, authority, host, now):
            return None
    if authority is None or authority.certificate.not_valid_after_utc - now < AUTHORITY_MARGIN:
        authority = Authority.create(_AUTHORITY, now + AUTHORITY_LIFETIME)
        trusted = [authority.encode().certificate, *trusted]
    hosts, addresses = ([], [host]) if is_ip_address(host) else ([host], [])
    serving = issue(authority, host, hosts=hosts, addresses=addresses, client=False, end=now + SERVING_LIFETIME)
    return WebhookKeys(serving, b"".join(trusted), authority.encode().key)


def _can_serve(serving: KeyPair, authority: Authority, host: str, now: datetime) -> bool:
    """Return whether key and certificate match, are for the host, and neither they nor the CA expire soon."""
    certificate = x509.load_pem_x509_certificate(serving.certificate)
    key = serialization.load_pem_private_key(serving.key, password=None)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    try:
        certificate.verify_directly_issued_by(authority.certificate)
    except (InvalidSignature, TypeError):
        return False
    return (
        key.public_key() == certificate.public_key()
        and host in {*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))}
        and certificate.not_valid_after_utc - now >= SERVING_MARGIN
        and authority.certificate.not_valid_after_utc - now >= AUTHORITY_MARGIN
    )


class CertificateKeeper:
    """Keeps the Secret, the server's TLS context and the webhook configuration in sync.

    ``host`` is the name or address that the API server calls; empty for the Service's name.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        context: ssl.SSLContext,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        host: str = "",
    ) -> None:
        self._cluster = cluster
        self._secret = Reference("Secret", WEBHOOK_NAME, namespace)
        self._host = host or f"{WEBHOOK_NAME}.{namespace}.svc"
        self._context = context
        self._now = now
        self._served = b""

    def keep(self) -> None:
        """Renew the certificate if due, load it, and publish the CA bundle.

        Raises:
            ClusterError: the API server refused or did not answer; the next call retries.
        """
        keys = self._read_or_renew()
        if keys.serving.certificate != self._served:
            load_key_pair(self._context, keys.serving.certificate + keys.serving.key)
            self._served = keys.serving.certificate
            log.info("the webhook serves with the certificate in %s", self._secret)
        self._publish(base64.b64encode(keys.trusted).decode())

    def _read_or_renew(self) -> WebhookKeys:
        found = self._cluster.get(self._secret)
        data: dict[str, str] = (found or {}).get("data") or {}
        known = WebhookKeys.parse(data)
        renewed = renew_keys(known, self._host, self._now())
        if renewed is None:
            assert known is not None  # missing keys are always renewed
            return known
        if found is None:
            return self._create(renewed)
        # Fails if another operator wrote first; its keys are read in the next round.
        version = {"op": "test", "path": "/metadata/resourceVersion", "value": found["metadata"]["resourceVersion"]}
        self._cluster.patch(self._secret, [version, {"op": "add", "path": "/data", "value": renewed.encode()}], "Json")
        return renewed

    def _create(self, keys: WebhookKeys) -> WebhookKeys:
        metadata = {"name": self._secret.name, "namespace": self._secret.namespace}
        secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}
        try:
            self._cluster.create({**secret, "data": keys.encode()})
        except AlreadyExists:  # by another operator
            return self._read_or_renew()
        return keys

    def _publish(self, bundle: str) -> None:
        """Write the CA bundle into the webhook configuration if it differs."""
        found = self._cluster.get(_CONFIGURATION)
        for i, webhook in enumerate((found or {}).get("webhooks") or ()):
            if webhook["clientConfig"].get("caBundle") == bundle:
                continue
            named = {"op": "test", "path": f"/webhooks/{i}/name", "value": webhook["name"]}
            trusted = {"op": "add", "path": f"/webhooks/{i}/clientConfig/caBundle", "value": bundle}
            self._cluster.patch(_CONFIGURATION, [named, trusted], "Json")


def keep_certificate(keeper: CertificateKeeper, stopped: threading.Event) -> threading.Thread:
    """Run a keeper in a thread until ``stopped`` is set; errors are logged and retried."""

    def run() -> None:
        while True:
            try:
                keeper.keep()
            except ClusterError as error:
                log.warning("the certificate of the webhook: %s", error)
            except (ScenarioKitError, OSError, ValueError):
                log.exception("the certificate of the webhook")
            if stopped.wait(CHECK_SECONDS):
                return

    thread = threading.Thread(target=run, name="webhook-certificate", daemon=True)
    thread.start()
    return thread
