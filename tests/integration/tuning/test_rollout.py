# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tuning that reboots nodes, on a cluster whose machine-config operator drains and restarts them."""

from __future__ import annotations

import contextlib
import threading
import typing as t

import pytest
from cluster import Cluster, must_get

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Unguarded
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import (
    NEVER,
    PLANNED,
    HugePages,
    Isolation,
    Tuning,
)

Data = dict[str, t.Any]
SCENARIO: t.Final = "node-tuning"
GROUP: t.Final = "machineconfiguration.openshift.io/v1"
POOL: t.Final = "gpu-training"
SELECTOR: t.Final = "accelerators.openshift/pool=training"
NODES: t.Final = {"gpu-0", "gpu-1"}

pytestmark = pytest.mark.story("a pool is tuned, changed and given back")


def tuning(**more: t.Any) -> Tuning:
    """Return the tuning of the two nodes of pool training: all that reboots nodes at once."""
    given: Data = {
        "name": "training",
        "label": {"accelerators.openshift/pool": "training"},
        "path": "gpu_pools[0].tuning",
        "kernel_arguments": ("iommu=pt",),
        "isolate": Isolation(),
        "topology": "single-numa-node",
        "huge_pages": (HugePages("1G", 4),),
        "reboot": PLANNED,
        "instance_type": "p5.48xlarge",
        "vcpus": 192,
        "memory_gib": 2048,
    }
    return Tuning(**given | more)


def api(cluster: Cluster, **more: t.Any) -> Api:
    return connect({"kubeconfig": str(cluster.kubeconfig), "wait_timeout": 180}, "tuning", **more)


def boots(cluster: Cluster) -> dict[str, str]:
    """Return the boot id of each node."""
    nodes = cluster.client.list("v1", "nodes")
    return {one["metadata"]["name"]: one["status"]["nodeInfo"]["bootID"] for one in nodes}


@contextlib.contextmanager
def watched(cluster: Cluster) -> t.Iterator[dict[str, set[str]]]:
    """Collect the boot ids that each node has meanwhile."""
    seen = {name: {boot} for name, boot in boots(cluster).items()}
    ended = threading.Event()

    def look() -> None:
        is_last = False
        while not is_last:
            # The last reboot can end the task before the next look: so one look comes after it.
            is_last = ended.wait(0.2)
            for name, boot in boots(cluster).items():
                seen.setdefault(name, set()).add(boot)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def rebooted(seen: t.Mapping[str, set[str]]) -> dict[str, int]:
    return {name: len(found) - 1 for name, found in seen.items() if len(found) > 1}


def pools(cluster: Cluster) -> dict[str, Data]:
    return {one["metadata"]["name"]: one for one in cluster.client.list(GROUP, "machineconfigpools")}


class Killed(BaseException):
    """The run ends here, as after kill -9."""


class Killing(Unguarded):
    """A guard that ends the run at one of its writes."""

    def __init__(self, writes: int) -> None:
        self.left = writes

    def before_write(self) -> None:
        if not self.left:
            raise Killed
        self.left -= 1


def gpu_pod(name: str, node: str) -> Data:
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i", "resources": limits}]},
    }


def test_never_refuses_before_any_write(cluster: Cluster) -> None:
    task = api(cluster)
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(task, [tuning(reboot=NEVER)], "drain")
    assert caught.value.code == "REBOOT-NEVER"
    assert "gpu-0, gpu-1" in caught.value.message
    assert task.changes == []
    assert POOL not in pools(cluster)


def test_check_mode_names_every_node_and_object(cluster: Cluster) -> None:
    task = api(cluster, check_mode=True)
    (found,) = rollout_steps.ensure(task, [tuning()], "fail")
    assert set(found["reboots"]) == NODES
    assert len(task.changes) >= 2
    assert POOL not in pools(cluster)


@pytest.mark.parametrize("last_write", ["pause", "settings"])
def test_a_killed_run_leaves_a_paused_pool_and_no_reboot(cluster: Cluster, last_write: str) -> None:
    """The second run finds the pool paused, writes the settings, and ends before it unpauses the pool."""
    before = boots(cluster)
    task = api(cluster)
    task.guard = Killing(writes=1)
    with pytest.raises(Killed):
        rollout_steps.ensure(task, [tuning()], "fail")
    assert pools(cluster)[POOL]["spec"]["paused"] is True
    profiles = cluster.client.list("performance.openshift.io/v2", "performanceprofiles")
    assert bool(profiles) is (last_write == "settings")
    assert boots(cluster) == before


def test_only_a_run_for_the_pool_goes_on_and_it_asks_for_pods(cluster: Cluster) -> None:
    before = boots(cluster)
    other = api(cluster)
    rollout_steps.remove(other, ["other"], "drain")
    (warning,) = other.warnings
    assert "MachineConfigPool gpu-training is paused since 20" in warning
    assert "tune_nodes -e @FILE" in warning
    cluster.client.create(gpu_pod("meanwhile", "gpu-0"))
    task = api(cluster)
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.ensure(task, [tuning()], "fail")
    cluster.client.delete("v1", "pods", "meanwhile", "default")
    assert (caught.value.code, task.changes) == ("REBOOT-BUSY", [])
    assert pools(cluster)[POOL]["spec"]["paused"] is True
    assert boots(cluster) == before


def test_the_next_run_is_one_rollout_of_the_pools_nodes(cluster: Cluster) -> None:
    with watched(cluster) as seen:
        (found,) = rollout_steps.ensure(api(cluster), [tuning()], "fail")
    assert rebooted(seen) == dict.fromkeys(NODES, 1), "each node once, and no other node"
    assert found["ready"] is True
    assert set(found["nodes"]) == NODES
    assert pools(cluster)[POOL]["spec"]["paused"] is False
    for name in NODES:
        node = must_get(cluster.client, "v1", "nodes", name)
        assert not node["spec"].get("unschedulable")
        assert node["status"]["allocatable"]["hugepages-1Gi"] in ("4Gi", "4096Mi")
        # Two cores of each of two NUMA nodes are reserved, with both threads.
        assert node["status"]["allocatable"]["cpu"] in ("184", "184000m")


def test_a_second_run_writes_nothing(cluster: Cluster) -> None:
    task = api(cluster)
    (found,) = rollout_steps.ensure(task, [tuning()], "fail")
    assert task.changes == []
    assert found["reboots"] == []


def test_another_setting_asks_for_busy_nodes_first(cluster: Cluster) -> None:
    other = tuning(kernel_arguments=("iommu=pt", "pci=realloc=off"))
    cluster.client.apply(gpu_pod("busy", "gpu-1"))
    try:
        task = api(cluster)
        with pytest.raises(AcceleratorError) as caught:
            rollout_steps.ensure(task, [other], "fail")
        assert caught.value.code == "REBOOT-BUSY"
        assert "default/busy" in caught.value.message
        assert task.changes == []
    finally:
        cluster.client.delete("v1", "pods", "busy", "default")


def test_a_pool_of_others_for_the_same_nodes_is_found(cluster: Cluster) -> None:
    foreign = {
        "apiVersion": GROUP,
        "kind": "MachineConfigPool",
        "metadata": {"name": "theirs"},
        "spec": {
            "nodeSelector": {"matchLabels": {"accelerators.openshift/pool": "training"}},
            "machineConfigSelector": {"matchLabels": {"machineconfiguration.openshift.io/role": "theirs"}},
        },
    }
    cluster.client.apply(foreign)
    try:
        with pytest.raises(AcceleratorError) as caught:
            rollout_steps.ensure(api(cluster), [tuning()], "fail")
        assert caught.value.code == "REBOOT-FOREIGN-POOL"
    finally:
        cluster.client.delete(GROUP, "machineconfigpools", "theirs")


def hold(cluster: Cluster, pool: str, release: str | None) -> None:
    """Pause a pool for an update as update_pools does, or end that pause without a release."""
    mark = {"accelerators.openshift/paused-for-update": release}
    body = {"metadata": {"annotations": mark}, "spec": {"paused": bool(release)}}
    cluster.client.patch(GROUP, "machineconfigpools", pool, None, body)


def test_a_pool_that_waits_for_an_update_is_not_given_back(cluster: Cluster) -> None:
    hold(cluster, POOL, "4.22.9")
    task = api(cluster)
    with pytest.raises(AcceleratorError) as caught:
        rollout_steps.remove(task, ["training"], "drain")
    hold(cluster, POOL, None)
    assert (caught.value.code, task.changes) == ("REBOOT-PAUSED", [])
    assert "for the update to 4.22.9 by before_openshift_update" in caught.value.message
    assert "after_openshift_update" in caught.value.remedy


def test_a_pool_without_nodes_goes_while_it_waits_for_an_update(cluster: Cluster) -> None:
    empty = tuning(name="empty", label={"accelerators.openshift/pool": "empty"}, isolate=None, topology="")
    rollout_steps.ensure(api(cluster), [empty], "fail")
    hold(cluster, "gpu-empty", "4.22.9")
    rollout_steps.remove(api(cluster), ["empty"], "fail")
    assert "gpu-empty" not in pools(cluster)


def test_a_removal_gives_everything_back(cluster: Cluster) -> None:
    with watched(cluster) as seen:
        (found,) = rollout_steps.remove(api(cluster), ["training"], "fail")
    assert set(found["reboots"]) == NODES
    assert rebooted(seen) == dict.fromkeys(NODES, 1)
    assert set(pools(cluster)) == {"master", "worker"}
    assert cluster.client.list("performance.openshift.io/v2", "performanceprofiles") == []
    assert cluster.client.list(GROUP, "kubeletconfigs") == []
    own = [one["metadata"]["name"] for one in cluster.client.list(GROUP, "machineconfigs")]
    assert [one for one in own if POOL in one and not one.startswith("rendered-")] == []
    for node in cluster.client.list("v1", "nodes", labels=SELECTOR):
        assert not node["spec"].get("unschedulable")
        assert "hugepages-1Gi" not in node["status"]["allocatable"]
