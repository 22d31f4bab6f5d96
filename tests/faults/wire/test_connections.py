# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections on the wire: proxies, addresses, certificates, and a fork."""

from __future__ import annotations

import os
import time
import typing as t
from pathlib import Path

import pytest
import yaml
from faults.served import Served, Tunnel, authority
from faults.wire.asking import CONFIG_MAP, TOKEN, api_of, everything, kubeconfig, manifest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("prefix", ["", "/k8s/clusters/c-m-1"])
@pytest.mark.parametrize("end", ["", "//"])
def test_addresses(pki: tuple[Path, tuple[Path, Path]], address: str, prefix: str, end: str) -> None:
    with Served(address, prefix=prefix, certificate=pki[1]) as served:

        def is_watching() -> bool:
            return any("watch=true" in one.path for one in served.seen)

        everything(api_of({"host": served.url + end, "ca_cert": str(pki[0]), **TOKEN}), is_watching)
        assert {one.path.partition("/api/v1/")[0] for one in served.seen} == {prefix}
        assert is_watching()
        host = f"[{address}]" if ":" in address else address
        assert {one.headers["host"] for one in served.seen} == {f"{host}:{served.port}"}


@pytest.mark.parametrize("how", ["option", "environment", "kubeconfig"])
def test_a_proxy_that_wants_to_know_us(
    pki: tuple[Path, tuple[Path, Path]], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tunnel = Tunnel("joe:secret")
    named = tunnel.url.replace("//", "//joe:secret@")
    with Served(certificate=pki[1]) as served:
        params: dict[str, t.Any] = {"host": served.url, "ca_cert": str(pki[0]), **TOKEN}
        if how == "option":
            params |= {"proxy": tunnel.url, "proxy_headers": {"proxy_basic_auth": "joe:secret"}}
        elif how == "environment":
            monkeypatch.setenv("HTTPS_PROXY", named)
        else:
            params = {"kubeconfig": kubeconfig(served.url, pki[0], **{"proxy-url": named})}
        everything(api_of(params))
        assert set(tunnel.asked) == {f"CONNECT 127.0.0.1:{served.port}"}
        assert not any("proxy-authorization" in one.headers for one in served.seen)
    tunnel.close()


def test_a_proxy_that_refuses_us_is_told_at_once(pki: tuple[Path, tuple[Path, Path]]) -> None:
    tunnel = Tunnel("joe:secret")
    with Served(certificate=pki[1]) as served:
        with pytest.raises(ApiError) as caught:
            api_of({"host": served.url, "ca_cert": str(pki[0]), "proxy": tunnel.url, **TOKEN}).get(
                CONFIG_MAP, "a", "x"
            )
        assert caught.value.code == "API-PROXY"
        assert "407" in caught.value.message
        assert served.seen == []
        assert len(tunnel.asked) == 1
    tunnel.close()


@pytest.mark.parametrize(
    ("host", "no_proxy", "direct"),
    [
        ("https://api.gpu.example.com:6443", "api.gpu.example.com", True),
        ("https://api.gpu.example.com:6443", ".example.com", True),
        ("https://api.gpu.example.com:6443", "example.com", True),
        ("https://api.gpu.example.com:6443", "other.test, gpu.example.com", True),
        ("https://api.gpu.example.com:6443", "ample.com", False),
        ("https://api.gpu.example.com:6443", "10.0.0.0/8", False),
        ("https://10.1.2.3:6443", "10.0.0.0/8", True),
        ("https://10.1.2.3:6443", "10.1.2.3", True),
        ("https://11.1.2.3:6443", "10.0.0.0/8", False),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://api.gpu.example.com:6443", "*", True),
        ("https://api.gpu.example.com:6443", "", False),
    ],
)
@pytest.mark.parametrize("how", ["option", "environment"])
def test_no_proxy(host: str, no_proxy: str, direct: bool, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"host": host, **TOKEN}
    if how == "option":
        params |= {"proxy": "http://proxy.test:3128", "no_proxy": no_proxy}
    else:
        monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
        monkeypatch.setenv("NO_PROXY", no_proxy)
    assert (credentials.connect(params, {}).pool.proxy is None) is direct


def test_a_new_authority_of_the_server(tmp_path: Path) -> None:
    """Replace the authority together with the file that the credentials name."""
    ca, certificate = authority(tmp_path / "old")
    named = tmp_path / "kubeconfig"
    (tmp_path / "ca.crt").write_bytes(ca.read_bytes())
    served = Served(certificate=certificate)
    served.state.put(manifest(x="1"))
    named.write_text(yaml.safe_dump(kubeconfig(served.url, tmp_path / "ca.crt")))
    api = api_of({"kubeconfig": str(named)})
    assert api.get(CONFIG_MAP, "a", "x")
    served.close()
    ca, certificate = authority(tmp_path / "new")
    with Served(port=served.port, certificate=certificate, state=served.state) as again:
        started = time.monotonic()
        with pytest.raises(ApiError) as caught:
            api.get(CONFIG_MAP, "a", "x")
        assert caught.value.code == "API-TLS"
        assert time.monotonic() - started < 10, "it was tried until the deadline"
        assert again.seen == []
        (tmp_path / "ca.crt").write_bytes(ca.read_bytes())
        assert api.get(CONFIG_MAP, "a", "x")
        assert len(again.seen) == 1


def test_a_fork_opens_a_connection_of_its_own(pki: tuple[Path, tuple[Path, Path]]) -> None:
    """Fork after a request, as Ansible does when a lookup has sent requests before workers start."""
    with Served(certificate=pki[1]) as served:
        served.state.put(manifest(x="1"))
        api = api_of({"host": served.url, "ca_cert": str(pki[0]), **TOKEN})
        assert api.get(CONFIG_MAP, "a", "x")
        workers = []
        for _worker in range(2):
            pid = os.fork()
            if pid == 0:
                found = None
                try:
                    found = api.get(CONFIG_MAP, "a", "x")
                finally:
                    os._exit(0 if found else 1)
            workers.append(pid)
        assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers] == [0, 0]
        # The parent still uses the connection that it had before the fork.
        assert api.get(CONFIG_MAP, "a", "x")
        peers = [one.peer for one in served.seen]
        assert peers[0] == peers[3]
        assert len(set(peers)) == 3
