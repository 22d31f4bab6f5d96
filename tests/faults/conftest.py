# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for fault tests: the proxy before the cluster, a token that passes it, Apis that use it."""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster import Cluster
from faults.proxy import Proxy, Script

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials, kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.http import Http
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import Limits
from openshift_sandbox.client import Client

NAMESPACE: t.Final = "faults"
CONFIG_MAP: t.Final = kinds.known("ConfigMap")
# Pauses grow as in production. Only the times that a test would sleep through are shorter.
SHORT: t.Final = Limits(first_read=0.4, read=1.2, silence=1.0, longest_pause=1.5)
PAGE: t.Final = 3


@dataclass(frozen=True)
class Bench:
    """What a fault test works with.

    client: a client that bypasses the proxy; for the API server it is another user.
    connection: the connection through the proxy, shared by all tests.
    """

    proxy: Proxy
    client: Client
    params: dict[str, t.Any]
    connection: Connection

    def api(
        self,
        agent: str,
        script: Script | None = None,
        seconds: float = 60.0,
        limits: Limits = SHORT,
        connection: Connection | None = None,
    ) -> Api:
        """Return an Api through the proxy whose requests meet the script; `seconds` is its deadline."""
        if script is not None:
            self.proxy.scripts[agent] = script
        return Api(
            Http(lambda: connection or self.connection, Deadline(seconds), agent, lambda _line: None, limits)
        )

    def read(self, name: str) -> dict[str, t.Any] | None:
        """Return a ConfigMap past the proxy, None if it does not exist."""
        return self.client.get("v1", "configmaps", name, NAMESPACE)

    def write(self, name: str, **data: str) -> dict[str, t.Any]:
        """Change a ConfigMap's data past the proxy; return the ConfigMap."""
        return self.client.patch("v1", "configmaps", name, NAMESPACE, {"data": data})


@pytest.fixture(scope="session")
def bench(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Bench]:
    with proxied(cluster, tmp_path_factory.mktemp("proxy")) as made:
        yield made


@contextlib.contextmanager
def proxied(cluster: Cluster, folder: Path) -> t.Iterator[Bench]:
    """Yield a bench on a cluster; its proxy writes into the folder."""
    sandbox = cluster.needs_sandbox()
    client = Client(sandbox.kubeconfig, "somebody-else")
    token = identity(client)
    proxy = Proxy(sandbox.url, sandbox.run / "pki" / "ca.crt", folder, page=PAGE)
    params = {"host": proxy.url, "api_key": token, "ca_cert": str(proxy.authority)}
    connection = credentials.connect(params, {})
    connection.pool.connection_pool_kw["maxsize"] = 64
    yield Bench(proxy, client, params, connection)
    proxy.close()


def identity(client: Client) -> str:
    """Return a token of a service account that has the role cluster-admin.

    A client certificate would not reach the API server, because the proxy terminates TLS.
    """
    account = {"kind": "ServiceAccount", "name": "tester", "namespace": NAMESPACE}
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    client.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "tester", "namespace": NAMESPACE}}
    )
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    client.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "fault-tester"},
            "roleRef": role,
            "subjects": [account],
        }
    )
    wanted = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": 7200},
    }
    answer = client.checked("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/tester/token", wanted)
    return str(answer["status"]["token"])


def manifest(name: str, label: str = "cell", **data: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"of": label}},
        "data": data,
    }
