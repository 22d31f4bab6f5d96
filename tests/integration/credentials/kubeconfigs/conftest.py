# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the kubeconfig tests: a home directory for each test, and client certificates."""

from __future__ import annotations

import datetime
import os
import typing as t
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from integration.credentials.kubeconfigs.files import NOW, Pair

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(secrets, "_seen", set())
    for name in [
        name
        for name in os.environ
        if name.lower().endswith("_proxy") or name.startswith(("K8S_AUTH_", "KUBERNETES_SERVICE"))
    ]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def pair(tmp_path: Path) -> t.Callable[..., Pair]:
    """Return a function that makes a self-signed client certificate valid for `seconds`."""

    def make(seconds: float = 3600.0, password: str = "") -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "joe")])
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
        )
        end = NOW + datetime.timedelta(seconds=seconds)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        made = (
            builder.not_valid_before(NOW - datetime.timedelta(days=2))
            .not_valid_after(end)
            .sign(key, hashes.SHA256())
        )
        lock = (
            serialization.BestAvailableEncryption(password.encode())
            if password
            else serialization.NoEncryption()
        )
        (tmp_path / "joe.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        (tmp_path / "joe.key").write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)
        )
        return Pair(str(tmp_path / "joe.crt"), str(tmp_path / "joe.key"))

    return make
