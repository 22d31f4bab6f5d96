# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUDirect RDMA: a stage of its own where the policy asks for it, and what keeps it from working."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.remedies.case import checked
from unit.stack.builders import Snapshot, node, pod, table, unready
from unit.stack.clusterpolicy.troubles import judge

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import gpudirect
from ansible_collections.accelerators.openshift.plugins.modules import special_resource

Data = dict[str, t.Any]
NIC: t.Final = "feature.node.kubernetes.io/pci-15b3.present"
WAITS: t.Final = "network.nvidia.com/operator.mofed.wait"


@pytest.fixture
def rdma(seen: Snapshot) -> Snapshot:
    """A stack with nvidia-peermem that works, on a node with an adapter."""
    seen["policies"][0]["spec"]["driver"] = {"rdma": {"enabled": True}, "kernelModuleType": "open"}
    node(seen)["metadata"]["labels"] |= {NIC: "true", WAITS: "false"}
    peermem = {"name": "nvidia-peermem-ctr", "ready": True, "restartCount": 0, "state": {"running": {}}}
    peermem["state"] = {"running": {"startedAt": "2026-11-21T21:04:00Z"}}
    pod(seen, "nvidia-driver")["status"]["containerStatuses"].append(peermem)
    return seen


def peermem(seen: Snapshot) -> Data:
    return t.cast(Data, pod(seen, "nvidia-driver")["status"]["containerStatuses"][-1])


def test_a_stage_only_where_it_is_asked_for(seen: Snapshot) -> None:
    assert "gpudirect" not in table(seen)
    seen["policies"][0]["spec"]["driver"] = {"rdma": {"enabled": True}, "enabled": False}
    assert "gpudirect" not in table(seen)


def test_it_works(rdma: Snapshot) -> None:
    stage = table(rdma)["gpudirect"]
    assert (stage["verdict"], stage["since"]) == ("ready", "2026-11-21T21:04:00Z")
    assert stage["evidence"] == ["nvidia-peermem and DMA-BUF"]
    assert judge(rdma).is_ready


def test_proprietary_modules_have_no_dma_buf(rdma: Snapshot) -> None:
    rdma["policies"][0]["spec"]["driver"]["kernelModuleType"] = "proprietary"
    (way,) = table(rdma)["gpudirect"]["evidence"]
    assert "proprietary kernel modules have no DMA-BUF" in way


def test_a_node_without_an_adapter_needs_nothing(rdma: Snapshot) -> None:
    del node(rdma)["metadata"]["labels"][NIC]
    peermem(rdma)["ready"] = False
    stage = table(rdma)["gpudirect"]
    assert (stage["verdict"], stage["evidence"]) == ("ready", ["gpu-0: no NVIDIA network adapter"])


@pytest.mark.parametrize(
    ("label", "by_host", "said"),
    [
        ("true", False, f"label {WAITS} is true"),
        ("", False, f"label {WAITS} is absent"),
        ("false", True, "driver.rdma.useHostMofed says that the host has it"),
    ],
)
def test_a_driver_that_waits_for_the_nic_driver_says_so(
    rdma: Snapshot, label: str, by_host: bool, said: str
) -> None:
    rdma["policies"][0]["spec"]["driver"]["rdma"]["useHostMofed"] = by_host
    marks = node(rdma)["metadata"]["labels"]
    marks[WAITS] = label
    if not label:
        del marks[WAITS]
    driver = pod(rdma, "nvidia-driver")
    unready(driver)
    waiting = {"name": "mofed-validation", "ready": False, "state": {"running": {}}}
    driver["status"] |= {"initContainerStatuses": [waiting], "containerStatuses": []}
    found = judge(rdma)
    assert (found.verdict, found.code) == ("pending", "GPU-RDMA-ORDER")
    assert found.message == f"Node gpu-0: the GPU driver waits for the NIC driver ({said})"
    stages = table(rdma)
    assert (stages["driver"]["verdict"], stages["gpudirect"]["consequence_of"]) == ("pending", "driver")


def test_peermem_that_is_not_loaded_is_named_with_what_its_restart_ends(rdma: Snapshot) -> None:
    peermem(rdma)["ready"] = False
    found = judge(rdma)
    name = pod(rdma, "nvidia-driver")["metadata"]["name"]
    assert (found.verdict, found.code) == ("pending", "GPU-RDMA-PEERMEM")
    assert f"container nvidia-peermem-ctr of pod {name} is not ready" in found.message
    assert f"oc delete pod -n nvidia-gpu-operator {name}`: this ends pods that use GPUs" in found.remedy
    assert table(rdma)["gpudirect"]["verdict"] == "pending"


def feature(vendor: str, kind: str) -> Data:
    attributes = {"class": "0302", "vendor": vendor, "iommu_group/type": kind}
    instances = {"pci.device": {"elements": [{"attributes": {"vendor": "8086"}}, {"attributes": attributes}]}}
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeature",
        "metadata": {"name": "gpu-0", "namespace": "openshift-nfd"},
        "spec": {"features": {"instances": instances}},
    }


@pytest.mark.parametrize(
    ("vendor", "kind", "is_slow"),
    [("10de", "DMA-FQ", True), ("15b3", "DMA", True), ("10de", "identity", False), ("8086", "DMA", False)],
)
def test_an_iommu_that_translates_is_told_before_the_write(vendor: str, kind: str, is_slow: bool) -> None:
    found = feature(vendor, kind)
    assert (gpudirect.translated(found) == {"metadata": found["metadata"]}) is is_slow
    assert gpudirect.translated({"metadata": {}, "spec": {}}) is None
    server = FakeServer(
        "ClusterPolicy",
        "ClusterServiceVersion",
        "NicClusterPolicy",
        "NodeFeature",
        "Node",
        "Pod",
        "DaemonSet",
        "ControllerRevision",
        "GPUCluster",
        "NVIDIADriver",
        "ImageStream",
    )
    server.put(found)
    api = api_on(server, check_mode=True)
    given = {"backend": "clusterpolicy", "driver": {"rdma": {"enabled": True}}}
    special_resource.ensure(api, checked("special_resource", given))
    told = "; ".join(api.warnings)
    assert ("translates what GPUs and network adapters of gpu-0 send" in told) is is_slow
    assert "NicClusterPolicy" not in told, "an earlier task would bring it"


def policy(by_host: bool = False) -> Data:
    driver = {"rdma": {"enabled": True, "useHostMofed": by_host}}
    return {"kind": "ClusterPolicy", "metadata": {"name": "p"}, "spec": {"driver": driver}}


NICS: t.Final[Data] = {"kind": "NicNodePolicy", "metadata": {"name": "ib"}, "spec": {"ofedDriver": {}}}


def test_one_place_has_the_nic_driver() -> None:
    assert gpudirect.refusal(policy(), [NICS]) is None
    assert gpudirect.refusal(policy(by_host=True), [{**NICS, "spec": {"nvIpam": {}}}]) is None
    both = gpudirect.refusal(policy(by_host=True), [NICS])
    assert both is not None
    assert (both.code, "NicNodePolicy ib brings one" in both.message) == ("GPU-RDMA-HOST", True)
    none = gpudirect.refusal(policy(), [])
    assert none is not None
    assert (none.code, "loads nvidia-peermem, which waits for a NIC driver" in none.message) == (
        "GPU-RDMA-NIC",
        True,
    )
