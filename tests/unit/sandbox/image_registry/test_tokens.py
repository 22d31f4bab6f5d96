# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tokens of the registry: signed, with what each may do."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.x509 import load_der_x509_certificate

from openshift_sandbox.pki import Authority
from openshift_sandbox.stand_ins.image_registry import tokens


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_a_token_is_signed_by_the_certificate_that_it_brings(tmp_path: Path) -> None:
    made = tokens.token(Authority(tmp_path).server("registry"), {"iss": "somebody"}, now=1000.0)
    head, claims, signature = made.split(".")
    chain = json.loads(decoded(head))["x5c"]
    key = load_der_x509_certificate(base64.b64decode(chain[0])).public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    raw = decoded(signature)
    numbers = [int.from_bytes(part, "big") for part in (raw[:32], raw[32:])]
    key.verify(encode_dss_signature(*numbers), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    content = json.loads(decoded(claims))
    assert (content["iss"], content["exp"] - content["nbf"]) == ("somebody", tokens.LIFETIME)


def test_scopes_become_actions() -> None:
    assert tokens.access(["repository:a/b:pull,push"]) == [
        {"type": "repository", "name": "a/b", "actions": ["pull", "push"]}
    ]
