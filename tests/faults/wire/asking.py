# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Api on a server of the tests, and one function that uses each kind of request."""

from __future__ import annotations

import typing as t
from pathlib import Path

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import pending, ready
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials, kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Http
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import USUAL, Limits

CONFIG_MAP: t.Final = kinds.known("ConfigMap")
TOKEN: t.Final = {"api_key": "token-of-test"}


def api_of(params: dict[str, t.Any], seconds: float = 20.0, limits: Limits = USUAL) -> Api:
    return Api(
        Http(lambda: credentials.connect(params, {}), Deadline(seconds), "test", lambda _line: None, limits)
    )


def manifest(name: str = "a", **data: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "x"},
        "data": data,
    }


def everything(api: Api, is_watching: t.Callable[[], bool] = lambda: True) -> None:
    """Send each kind of request once and check its result. is_watching: the server has got the watch."""
    api.apply(manifest(x="1"))
    live = api.get(CONFIG_MAP, "a", "x")
    assert live is not None
    assert live["data"] == {"x": "1"}
    assert [item["metadata"]["name"] for item in api.list(CONFIG_MAP, "x")] == ["a"]
    looks: list[int] = []

    def judge(_seen: t.Any) -> t.Any:
        looks.append(1)
        return ready() if len(looks) > 1 and is_watching() else pending("Once", "more")

    api.wait({"a": Query(CONFIG_MAP, "x")}, judge, "a")
    assert api.delete(CONFIG_MAP, "a", "x", wait=False)


def kubeconfig(url: str, ca: Path, **cluster: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority": str(ca), **cluster}}],
        "users": [{"name": "u", "user": {"token": TOKEN["api_key"]}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
