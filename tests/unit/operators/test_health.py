"""What is said of the stack after the upgrade of its operator."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._operators import health

T4: t.Final = "nvidia.com/TU104GL_TESLA_T4"


@pytest.mark.parametrize("offered", [T4, f"{T4}_16GB"])
def test_a_device_of_virtual_machines_may_have_another_name(offered: str) -> None:
    server = FakeServer("Node", "HyperConverged")
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n", "labels": {"nvidia.com/gpu.workload.config": "vm-passthrough"}},
            "status": {"allocatable": {offered: "2"}},
        }
    )
    entry = {"pciDeviceSelector": "10DE:1EB8", "resourceName": T4, "externalResourceProvider": True}
    server.put(
        {
            "apiVersion": "hco.kubevirt.io/v1",
            "kind": "HyperConverged",
            "metadata": {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"},
            "spec": {"virtualization": {"permittedHostDevices": {"pciHostDevices": [entry]}}},
        }
    )
    api = api_on(server)
    health.warn_of_names(api)
    assert [text.partition(":")[0] for text in api.warnings] == (
        [] if offered == T4 else ["GPU-VM-UNPERMITTED"]
    )


def test_nodes_of_containers_ask_nothing_more() -> None:
    server = FakeServer("Node")
    health.warn_of_names(api_on(server))
    assert len(server.requests) == 1
