"""Which version of HyperConverged is read."""

from __future__ import annotations

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._virtualization import steps


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_newest_version_that_the_cluster_serves(version: str) -> None:
    server = FakeServer("HyperConverged")
    served = steps.NEW._replace(api_version=f"hco.kubevirt.io/{version}")
    server.served = {(served.api_version, served.plural): served}
    api = api_on(server)
    assert (steps.kind(api), steps.look(api)) == (served, None)
    server.put(
        {
            "apiVersion": served.api_version,
            "kind": "HyperConverged",
            "metadata": {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"},
        }
    )
    found = steps.look(api)
    assert found is not None
    assert found["apiVersion"] == served.api_version
    (live,) = server.objects.values()
    live["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    assert steps.look(api) is None, "it is being deleted"


def test_a_cluster_without_it_has_none() -> None:
    assert steps.look(api_on(FakeServer())) is None
