"""Fixtures that run the same contract on the in-memory server and on the sandbox's real API server."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

NAMESPACE = "contract"
MakeApi = t.Callable[..., Api]


@pytest.fixture(params=["fake", "sandbox"])
def make_api(request: pytest.FixtureRequest) -> t.Iterator[MakeApi]:
    """Yield a function that makes an Api; the namespace `contract` exists and has no ConfigMap."""
    if request.param == "fake":
        server = FakeServer()
        server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield lambda **more: api_on(server, **more)
        return
    kubeconfig = request.getfixturevalue("cluster").kubeconfig

    def make(**more: t.Any) -> Api:
        return connect({"kubeconfig": str(kubeconfig), "wait_timeout": 30}, "contract", **more)

    api = make()
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for left in api.list(kinds.known("ConfigMap"), NAMESPACE):
        api.delete(
            kinds.known("ConfigMap"), left["metadata"]["name"], NAMESPACE, owned_only=False, wait=False
        )
    yield make
