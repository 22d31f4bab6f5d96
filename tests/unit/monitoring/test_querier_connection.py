# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection to another server of the cluster: its authorities, its proxy, and nothing but the token."""

from __future__ import annotations

import ssl
import typing as t
from pathlib import Path

import pytest
import urllib3
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.querier import connection_to
from openshift_sandbox.pki import Authority

HOST: t.Final = "https://thanos.apps.example.com"


def subjects(context: ssl.SSLContext) -> list[str]:
    found = [str(one["subject"]) for one in context.get_ca_certs()]
    return [name for name in ("sandbox-ca",) for one in found if name in one]


def context_of(**params: t.Any) -> tuple[ssl.SSLContext, t.Any]:
    """Return the context of the API server's pool, and the other pool."""
    given = {"host": "https://api.example:6443", "api_key": "token-of-test", **params}
    here = credentials.connect(given, {})
    return here.pool.connection_pool_kw["ssl_context"], connection_to(HOST, here, given.get("more", "")).pool


def test_only_the_token_goes_along() -> None:
    here = api_on(FakeServer()).http.connection
    given = [("authorization", "Bearer token-of-test"), ("Impersonate-User", "someone")]
    object.__setattr__(here, "headers", lambda: given)
    found = connection_to(HOST, here, "")
    assert (found.host, found.headers(), found.tokens()) == (HOST, given[:1], [])


def test_authorities_of_the_cluster_and_of_the_ingress_are_trusted(tmp_path: Path) -> None:
    cluster, ingress = (Authority(tmp_path / name).certificate for name in ("cluster", "ingress"))
    here, other = context_of(ca_cert=str(cluster), more=ingress.read_text())
    tls = other.connection_pool_kw["ssl_context"]
    assert subjects(here) == ["sandbox-ca"], "the API server's own trust stays as it is"
    assert subjects(tls).count("sandbox-ca") == 2
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_without_validate_certs_nothing_is_checked() -> None:
    tls = context_of(validate_certs=False)[1].connection_pool_kw["ssl_context"]
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_NONE, False)


def test_it_goes_through_the_same_proxy() -> None:
    other = context_of(proxy="http://proxy.example:3128")[1]
    assert (other.proxy.host, other.proxy.port) == ("proxy.example", 3128)


def test_a_server_on_this_machine_needs_no_proxy() -> None:
    given = {"host": "https://api.example:6443", "api_key": "t", "proxy": "http://proxy.example:3128"}
    found = connection_to("http://127.0.0.1:9090", credentials.connect(given, {}), "").pool
    assert isinstance(found, urllib3.PoolManager)
    assert found.proxy is None


def test_a_bundle_that_is_no_certificate_is_an_error() -> None:
    with pytest.raises(OSError, match=r"(?i)pem|cert|asn1|no start line"):
        context_of(more="no certificate")
