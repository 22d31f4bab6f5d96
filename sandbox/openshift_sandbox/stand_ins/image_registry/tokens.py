# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the tokens that a registry accepts: what each may do there is in the token."""

from __future__ import annotations

import base64
import json
import secrets
import time
import typing as t
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

LIFETIME: t.Final = 300


def access(scopes: t.Iterable[str]) -> list[dict[str, t.Any]]:
    """Return what scopes such as `repository:a/b:pull,push` ask for."""
    found = []
    for scope in scopes:
        kind, _colon, rest = scope.partition(":")
        name, _colon, actions = rest.rpartition(":")
        found.append({"type": kind, "name": name, "actions": actions.split(",")})
    return found


def token(pair: tuple[Path, Path], claims: dict[str, t.Any], now: float | None = None) -> str:
    """Return a signed token. pair: the certificate and the key of the signer."""
    certificate = x509.load_pem_x509_certificate(pair[0].read_bytes())
    key = serialization.load_pem_private_key(pair[1].read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    chain = [base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()]
    start = int(time.time() if now is None else now)
    times = {"iat": start, "nbf": start, "exp": start + LIFETIME, "jti": secrets.token_hex(8)}
    signed = f"{_part({'typ': 'JWT', 'alg': 'ES256', 'x5c': chain})}.{_part(claims | times)}"
    numbers = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{_encoded(b''.join(number.to_bytes(32, 'big') for number in numbers))}"


def _part(content: dict[str, t.Any]) -> str:
    return _encoded(json.dumps(content).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
