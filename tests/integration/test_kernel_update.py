# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes get another kernel while somebody waits for their GPUs: the way back is followed link by link, and ends at the link that is broken."""

from __future__ import annotations

import contextlib
import os
import threading
import typing as t

import pytest
from cluster import Cluster, running
from integration.patience import SECONDS, until
from integration.playbook import Playbook, Run, TaskResult
from integration.wire import OURS, Audit

from openshift_sandbox import audit as log
from openshift_sandbox import faults, scenario

Data = dict[str, t.Any]
POOL: t.Final = {"name": "training", "node_selector": {"accelerators.openshift/pool": "training"}, "replicas": 2, "expected": {"nvidia.com/gpu": 1}}
KERNELS: t.Final = [f"5.14.0-{one}.x86_64" for one in ("570.12.1.el9_6", "611.5.1.el9_7", "611.8.1.el9_7", "611.9.1.el9_7", "611.11.1.el9_7")]
OLD, NEW, UNTAGGED = "9.8.20260801-0", "9.8.20260815-0", "9.8.20260901-0"


@pytest.fixture(scope="module")
def cluster() -> t.Iterator[Cluster]:
    if os.environ.get("KUBECONFIG"):
        pytest.skip("needs a cluster of its own: scenario kernel-update")
    with running("kernel-update") as made:
        yield made


@pytest.fixture(scope="module")
def playbook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    made = Playbook(tmp_path_factory.mktemp("kernels"), cluster.kubeconfig)
    run = made.tasks(
        {"accelerators.openshift.olm_operator": {"name": "nfd", "namespace": "openshift-nfd", "source": "redhat-operators"}},
        {"accelerators.openshift.nfd_labels": {"namespace": "openshift-nfd"}},
        {"accelerators.openshift.olm_operator": {"name": "gpu-operator-certified", "namespace": "nvidia-gpu-operator", "source": "certified-operators"}},
        task(),
    )
    assert run.rc == 0, run.output[-3000:]
    return made


@pytest.fixture(scope="module")
def audit(cluster: Cluster) -> Audit:
    return Audit(cluster.needs_sandbox().directory / "audit.log", cluster.client)


def task(**options: t.Any) -> Data:
    return {"accelerators.openshift.special_resource": {"pools": [POOL], "grace": 3, "wait_timeout": 120, **options}}


@contextlib.contextmanager
def trouble(cluster: Cluster, kind: str, **fields: t.Any) -> t.Iterator[None]:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, kind, fields)
    try:
        yield
    finally:
        faults.clear(sandbox, kind, fields)


def delay(cluster: Cluster, **seconds: float) -> None:
    sandbox = cluster.needs_sandbox()
    now = sandbox.scenario
    scenario.save(scenario.Scenario(now.name, now.cluster, {**now.delays, **seconds}, now.troubles), sandbox.directory)


def kernels(cluster: Cluster) -> Data:
    nodes = cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=training")
    return {node["metadata"]["name"]: node["status"]["nodeInfo"]["kernelVersion"] for node in nodes}


def told(result: TaskResult) -> Data:
    return {node["name"]: node["kernel"] for node in result["special_resource"]["nodes"]}


def updated(cluster: Cluster, node: str, kernel: str) -> None:
    until(lambda: kernels(cluster)[node] == kernel, f"kernel {kernel} on {node}")


def test_a_pool_in_rollout_is_followed_to_its_end(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    delay(cluster, os_update_reboot=3600)
    with trouble(cluster, "os_update", pool="training", new_kernel=KERNELS[1], new_ostree_version=NEW):
        until(lambda: [one for one in cluster.client.list("v1", "nodes") if one["spec"].get("unschedulable")], "the first node is cordoned")
        start, runs = log.position(audit.log), list[Run]()
        thread = threading.Thread(target=lambda: runs.append(playbook.tasks(task())))
        thread.start()
        try:
            until(lambda: [one for one in log.read(audit.log, start, OURS) if one.resource == "nodes" and one.verb == "watch"], "the run waits")
        finally:
            delay(cluster, os_update_reboot=0.3)
            thread.join()
    (run,) = runs
    (result,) = run.tasks
    assert not result.failed, run.output[-3000:]
    assert (result.changed, audit.writes(result)) == (False, [])
    assert kernels(cluster) == {"gpu-0": KERNELS[1], "gpu-1": KERNELS[1]}
    for name, kernel in told(result).items():
        assert (kernel["running"], kernel["labelled"], kernel["os"]["ostree"]) == (KERNELS[1], KERNELS[1], NEW)
        assert (kernel["daemonset"], kernel["source"], kernel["fits"], kernel["waits_at"]) == (f"nvidia-driver-daemonset-{NEW}", "toolkit", True, "")
        assert kernel["toolkit"].startswith("quay.io/")
        assert f"{name}: is being updated by the machine-config operator" in run.output
        assert f"{name}: kernel 5.14.0-570.12.1 -> 5.14.0-611.5.1, step " in run.output
    assert not [one for one in cluster.client.list("v1", "nodes") if one["spec"].get("unschedulable")]
    again = playbook.tasks(task()).tasks[-1]
    assert (again.changed, audit.writes(again)) == (False, [])


def test_labels_that_stay_those_of_the_old_kernel(cluster: Cluster, playbook: Playbook) -> None:
    with trouble(cluster, "nfd_stale", node="gpu-0"), trouble(cluster, "os_update", node="gpu-0", new_kernel=KERNELS[2], new_ostree_version=OLD):
        updated(cluster, "gpu-0", KERNELS[2])
        failed = playbook.tasks(task()).failure
        assert (failed["code"], failed["layer"]) == ("GPU-KERNEL-STALE", "gpu")
        assert f"kernel-version.full={KERNELS[1]} is of another kernel than the running {KERNELS[2]}" in failed["message"]
        assert "oc delete pod -n openshift-nfd" in failed["remedy"]
        facts = told(failed)
        assert (facts["gpu-0"]["fits"], facts["gpu-0"]["misfit"]["fact"], facts["gpu-0"]["waits_at"]) == (False, "labels", "labels")
        assert facts["gpu-1"]["fits"]
        assert failed["duration"] < SECONDS
    mended = playbook.tasks(task()).tasks[-1]
    assert not mended.failed, mended.result
    assert {name: kernel["os"]["ostree"] for name, kernel in told(mended).items()} == {"gpu-0": OLD, "gpu-1": NEW}
    assert len({kernel["daemonset"] for kernel in told(mended).values()}) == 2


def test_a_release_without_its_driver_toolkit(cluster: Cluster, playbook: Playbook) -> None:
    with trouble(cluster, "os_update", node="gpu-1", new_kernel=KERNELS[3], new_ostree_version=UNTAGGED):
        updated(cluster, "gpu-1", KERNELS[3])
        failed = playbook.tasks(task()).failure
    assert failed["code"] == "GPU-DTK-STREAM"
    assert f"Node gpu-1: ImageStream openshift/driver-toolkit has no tag {UNTAGGED} (it has 9.8.20260722-0, {OLD}, {NEW})" in failed["message"]
    assert told(failed)["gpu-1"]["misfit"]["fact"] == "toolkit"
    assert failed["duration"] < SECONDS
    with trouble(cluster, "os_update", node="gpu-1", new_kernel=KERNELS[1], new_ostree_version=NEW):
        updated(cluster, "gpu-1", KERNELS[1])
        assert not playbook.tasks(task()).tasks[-1].failed


def test_precompiled_drivers_need_an_image_for_each_kernel(cluster: Cluster, playbook: Playbook) -> None:
    driver = {"usePrecompiled": True, "repository": "registry.example.com/nvidia", "image": "gpu-driver-rhel9", "version": "595"}
    missing = KERNELS[4]
    run = playbook.tasks(task(spec={"driver": driver}))
    assert run.rc == 0, run.output[-3000:]
    assert told(run.tasks[-1])["gpu-1"]["image"] == f"registry.example.com/nvidia/gpu-driver-rhel9:595-{KERNELS[1]}-rhcos4.22"
    assert {kernel["source"] for kernel in told(run.tasks[-1]).values()} == {"precompiled"}
    with trouble(cluster, "driver_image_missing", kernel=missing):
        with trouble(cluster, "os_update", node="gpu-0", new_kernel=missing, new_ostree_version=OLD):
            updated(cluster, "gpu-0", missing)
            failed = playbook.tasks(task(spec={"driver": driver})).failure
        assert failed["code"] == "GPU-DRV-PRECOMPILED"
        wanted = f"registry.example.com/nvidia/gpu-driver-rhel9:595-{missing}-rhcos4.22"
        assert f"Node gpu-0: no precompiled driver for kernel {missing}: {wanted} is in ImagePullBackOff" in failed["message"]
        assert f"skopeo inspect docker://{wanted}" in failed["remedy"]
        assert told(failed)["gpu-0"]["misfit"]["fact"] == "image"
        assert told(failed)["gpu-1"]["fits"]
    # Somebody has pushed the image.
    mended = playbook.tasks(task(spec={"driver": driver})).tasks[-1]
    assert not mended.failed, mended.result
    assert told(mended)["gpu-0"]["image"] == wanted
