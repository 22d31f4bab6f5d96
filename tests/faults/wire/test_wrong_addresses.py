# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Something else than an API server answers, or a proxy does not: the message names host and proxy."""

from __future__ import annotations

import contextlib
import socket
import typing as t
from pathlib import Path

import pytest
from faults.served import Exchange, Served, Tunnel
from faults.wire.asking import CONFIG_MAP, TOKEN, api_of, manifest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds

PAGE: t.Final = b"<!DOCTYPE html><html><body>404 Not Found</body></html>"
HTML: t.Final = ("Content-Type", "text/html")
MACHINE_SET: t.Final = kinds.known("MachineSet")


def page(status: int) -> t.Callable[[Exchange], None]:
    def act(exchange: Exchange) -> None:
        exchange.reply(status, PAGE, HTML)

    return act


def failure(params: dict[str, t.Any], seconds: float = 20.0) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        api_of({**params, **TOKEN}, seconds).get(MACHINE_SET, "a", "x")
    return caught.value


@pytest.mark.parametrize("status", [302, 400, 403, 404])
def test_the_page_of_a_web_site_is_no_answer_about_a_kind(status: int) -> None:
    with Served(act=page(status)) as served:
        found = failure({"host": served.url})
    assert found.code == "API-NOT-KUBERNETES"
    assert found.message.startswith(f"{served.url} answered with HTTP {status} and text/html instead of JSON")
    assert "oc whoami --show-server" in found.remedy


def test_the_page_of_a_web_site_behind_a_proxy_names_the_proxy(pki: tuple[Path, tuple[Path, Path]]) -> None:
    tunnel = Tunnel()
    with Served(certificate=pki[1], act=page(404)) as served:
        proxy = tunnel.url.replace("//", "//joe:secret-of-test@")
        found = failure({"host": served.url, "ca_cert": str(pki[0]), "proxy": proxy})
    assert f"{served.url} through the proxy {tunnel.url} answered with HTTP 404" in found.message
    assert "no_proxy" in found.remedy
    assert "secret-of-test" not in found.message + found.remedy
    tunnel.close()


@pytest.mark.parametrize("call", ["served", "resolve", "apply"])
def test_every_kind_of_request_notices_a_page(call: str) -> None:
    with Served(act=page(404)) as served:
        api = api_of({"host": served.url, **TOKEN})
        calls: dict[str, t.Callable[[], t.Any]] = {
            "served": lambda: api.served(MACHINE_SET),
            "resolve": lambda: api.resolve("example.com/v1", "Thing"),
            "apply": lambda: api.apply(manifest(x="1")),
        }
        with pytest.raises(AcceleratorError, match="answered with HTTP 404"):
            calls[call]()


def test_a_kind_that_an_api_server_does_not_serve_stays_a_missing_kind() -> None:
    with Served() as served:
        assert failure({"host": served.url}).code == "API-KIND-NOT-SERVED"


def test_a_dead_proxy_is_named() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    found = failure({"host": "https://api.example.com:6443", "proxy": proxy}, seconds=1.0)
    assert found.code == "API-UNREACHABLE"
    assert f"https://api.example.com:6443 through the proxy {proxy}" in found.message
    assert "the proxy cannot be reached: connection refused" in found.message
    assert f"Check that the proxy {proxy} works" in found.remedy


def test_a_proxy_that_refuses_is_named(pki: tuple[Path, tuple[Path, Path]]) -> None:
    tunnel = Tunnel("joe:secret")
    with Served(certificate=pki[1]) as served:
        with pytest.raises(AcceleratorError) as caught:
            api_of({"host": served.url, "ca_cert": str(pki[0]), "proxy": tunnel.url, **TOKEN}).get(
                CONFIG_MAP, "a", "x"
            )
        assert f"The proxy {tunnel.url} does not let us through to {served.url}: 407" in caught.value.message
    tunnel.close()
