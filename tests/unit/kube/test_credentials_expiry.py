# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When tokens and certificates end, read from the texts alone; what cannot be read says nothing."""

from __future__ import annotations

import base64
import datetime
import json
import typing as t

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials

NOW: t.Final = datetime.datetime(2026, 11, 21, 12, 0, tzinfo=datetime.UTC)


def jwt(claims: object) -> str:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{body}.c2lnbmF0dXJl"


def certificate(end: datetime.datetime) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "joe" * 20)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1 << 150)
    )
    made = (
        builder.not_valid_before(datetime.datetime(1999, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(end)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM).decode()


@pytest.mark.parametrize("pad", ["", "a", "ab", "abc"])
def test_a_token_says_when_it_ends(pad: str) -> None:
    assert credentials.expiry_of_token(jwt({"exp": NOW.timestamp(), "sub": pad})) == NOW


@pytest.mark.parametrize(
    "token",
    [
        "sha256~abc",
        "",
        "a.b.c",
        "a.!!.c",
        jwt({}),
        jwt({"exp": None}),
        jwt({"exp": "soon"}),
        jwt({"exp": True}),
        jwt({"exp": 1e300}),
        jwt([1]),
        jwt({"exp": float("nan")}),
        "a.b",
        jwt({"exp": 1}) + ".x",
    ],
)
def test_a_token_that_does_not_say(token: str) -> None:
    assert credentials.expiry_of_token(token) is None


@pytest.mark.parametrize(
    "end",
    [
        NOW,
        NOW.replace(year=2049),
        NOW.replace(year=2051),
        datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC),
    ],
)
def test_a_certificate_says_when_it_ends(end: datetime.datetime) -> None:
    pem = certificate(end)
    assert credentials.expiry_of_certificate(pem) == end
    assert credentials.expiry_of_certificate(f"some words\n{pem}{certificate(NOW.replace(year=2030))}") == end


def test_a_certificate_that_cannot_be_read() -> None:
    pem = certificate(NOW)
    broken = pem.replace("\nMII", "\nAAA")
    for text in (
        "",
        "nonsense",
        pem[:90],
        pem[:60] + "-----END CERTIFICATE-----",
        broken,
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----",
    ):
        assert credentials.expiry_of_certificate(text) is None


@pytest.mark.parametrize(
    ("seconds_left", "words"),
    [
        (-1, "The token expired at 2026-11-21 11:59:59 UTC"),
        (0, "The token expired at 2026-11-21 12:00:00 UTC"),
        (60, "The token expires at 2026-11-21 12:01:00 UTC, before"),
        (61, None),
    ],
)
def test_what_is_said(seconds_left: int, words: str | None) -> None:
    said = credentials.expiry_warning("The token", NOW + datetime.timedelta(seconds=seconds_left), NOW, 60)
    assert said is None if words is None else (said or "").startswith(words)


def test_moments_are_told_in_utc() -> None:
    end = datetime.datetime(2026, 11, 21, 13, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    assert "2026-11-21 11:00:00 UTC" in (credentials.expiry_warning("The token", end, NOW, 60) or "")
