"""X.509 certificate authorities, and certificates for the kit's servers and clients."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from scenario_kit.errors import InfrastructureError
from scenario_kit.load.atomic_file import write_private

_LIFETIME = datetime.timedelta(days=365)
_SLACK = datetime.timedelta(hours=1)


class Authority(NamedTuple):
    """A certificate authority: its certificate and signing key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def load(cls, certificate: Path, key: Path) -> Authority:
        """Load an authority from two PEM files.

        Raises:
            InfrastructureError: the key was not created by the kit.
        """
        try:
            return cls.parse(certificate.read_bytes(), key.read_bytes())
        except ValueError as error:
            raise InfrastructureError(f"{key}: {error}, so the kit did not create it") from error

    @classmethod
    def parse(cls, certificate: bytes, key: bytes) -> Authority:
        """Parse an authority from PEM; of several certificates, the first is its own.

        Raises:
            ValueError: one of the two is not PEM, or the key is not an elliptic-curve key.
        """
        loaded = serialization.load_pem_private_key(key, password=None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise ValueError("this is not an elliptic-curve key")
        return cls(x509.load_pem_x509_certificates(certificate)[0], loaded)

    @classmethod
    def create(cls, name: str, end: datetime.datetime | None = None) -> Authority:
        """Create a self-signed authority that lasts a year, or until ``end``."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        last = end or datetime.datetime.now(datetime.UTC) + _LIFETIME
        builder = _start_certificate(subject, subject, key.public_key(), signer=key.public_key(), ca=True, end=last)
        return cls(builder.sign(key, hashes.SHA256()), key)

    def encode(self) -> KeyPair:
        """Encode certificate and key."""
        return KeyPair(self.certificate.public_bytes(serialization.Encoding.PEM), _encode_key(self.key))


class KeyPair(NamedTuple):
    """A certificate and its private key in PEM."""

    certificate: bytes
    key: bytes

    def write(self, certificate: Path, key: Path) -> None:
        """Write both files; the key is readable by its owner only."""
        write_private(key, self.key)
        certificate.write_bytes(self.certificate)


def issue(
    authority: Authority,
    name: str,
    *,
    groups: Sequence[str] = (),
    hosts: Sequence[str] = (),
    addresses: Sequence[str] = (),
    client: bool = True,
    end: datetime.datetime | None = None,
) -> KeyPair:
    """Issue a certificate for ``name``: for a server if it has DNS names or addresses, otherwise for a user in
    ``groups``. It lasts as long as its authority, or until ``end`` if that is before.

    The key has the traditional format, the only one that Kubernetes accepts for elliptic-curve service account keys.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, name)])
    names = [x509.DNSName(host) for host in hosts]
    numbers = [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH] if client else []
    issuer, signer = authority.certificate.subject, authority.key.public_key()
    longest = authority.certificate.not_valid_after_utc
    last = longest if end is None else min(end, longest)
    builder = _start_certificate(subject, issuer, key.public_key(), signer=signer, ca=False, end=last)
    if names or numbers:
        usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
        builder = builder.add_extension(x509.SubjectAlternativeName([*names, *numbers]), critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    certificate = builder.sign(authority.key, hashes.SHA256())
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), _encode_key(key))


def _encode_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    traditional, plain = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, traditional, plain)


def _start_certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    *,
    signer: ec.EllipticCurvePublicKey,
    ca: bool,
    end: datetime.datetime,
) -> x509.CertificateBuilder:
    """Build a certificate with all extensions of RFC 5280; Python 3.13 and newer reject one without."""
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SLACK)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(_build_key_usage(ca), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
    )


def _build_key_usage(ca: bool) -> x509.KeyUsage:
    """Build a key usage of signing only: elliptic-curve keys do not encipher."""
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=ca,
        crl_sign=ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
