# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make keys and certificates: each sandbox has one authority, made at its first start."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = datetime.timedelta(days=3650)
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


class Authority:
    """Issue keys and certificates into one folder; keep those that exist already."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.certificate = folder / "ca.crt"
        self._key = folder / "ca.key"
        if not self.certificate.exists():
            self._make_root()

    def server(self, name: str) -> tuple[Path, Path]:
        """Return certificate and key of a server on this machine's loopback addresses."""
        hosts: list[x509.GeneralName] = [
            x509.DNSName(host)
            for host in ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
        ]
        addresses = [
            x509.IPAddress(ipaddress.ip_address(address)) for address in ("127.0.0.1", "::1", "10.96.0.1")
        ]
        return self._issue(
            name,
            _name(name),
            ExtendedKeyUsageOID.SERVER_AUTH,
            x509.SubjectAlternativeName([*hosts, *addresses]),
        )

    def client(self, user: str, group: str | None = None) -> tuple[Path, Path]:
        """Return certificate and key that Kubernetes reads as this user, a member of this group."""
        return self._issue(user.replace(":", "-"), _name(user, group), ExtendedKeyUsageOID.CLIENT_AUTH)

    def signing_pair(self, name: str) -> tuple[Path, Path]:
        """Return the public and the private key for service account tokens."""
        public, private = self.folder / f"{name}.pub", self.folder / f"{name}.key"
        if not public.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            _write_key(private, key)
            public.write_bytes(
                key.public_key().public_bytes(
                    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
                )
            )
        return public, private

    def _make_root(self) -> None:
        # The API server verifies the client's certificate in each request: by RSA that costs it less.
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = _name("sandbox-ca")
        builder = _builder(name, name, key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        root = builder.add_extension(usage, critical=True).sign(key, hashes.SHA256())
        _write_key(self._key, key)
        self.certificate.write_bytes(root.public_bytes(serialization.Encoding.PEM))

    def _issue(
        self,
        file: str,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        names: x509.SubjectAlternativeName | None = None,
    ) -> tuple[Path, Path]:
        certificate, private = self.folder / f"{file}.crt", self.folder / f"{file}.key"
        if certificate.exists():
            return certificate, private
        authority = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        signer = serialization.load_pem_private_key(self._key.read_bytes(), None)
        assert isinstance(signer, rsa.RSAPrivateKey)
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, authority.subject, key).add_extension(
            x509.ExtendedKeyUsage([usage]), critical=False
        )
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if names:
            builder = builder.add_extension(names, critical=False)
        _write_key(private, key)
        certificate.write_bytes(
            builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )
        return certificate, private


def _name(common: str, organization: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: x509.Name, issuer: x509.Name, key: PrivateKey) -> x509.CertificateBuilder:
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=5)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + LIFETIME)
    )
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)


def _write_key(path: Path, key: PrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
