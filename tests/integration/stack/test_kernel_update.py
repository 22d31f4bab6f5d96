# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes get another kernel while a task waits for their GPUs.

The task follows the node through its stages and fails at the stage that fails.
"""

from __future__ import annotations

import contextlib
import threading
import typing as t

import pytest
from cluster import Cluster
from integration.patience import SECONDS, until
from integration.playbook import Playbook, Run, TaskResult
from integration.wire import OURS, Audit

from openshift_sandbox import audit as log, faults, scenario

Data = dict[str, t.Any]
SCENARIO: t.Final = "kernel-update"
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}
POOL: t.Final = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "replicas": 2,
    "expected": {"nvidia.com/gpu": 1},
}
OLD, NEW = "9.8.20260801-0", "9.8.20260815-0"
BEFORE, NEXT = "5.14.0-570.12.1.el9_6.x86_64", "5.14.0-611.5.1.el9_7.x86_64"


def task(**options: t.Any) -> Data:
    return {
        "accelerators.openshift.special_resource": {
            "pools": [POOL],
            "grace": 60,
            "wait_timeout": 180,
            **options,
        }
    }


@pytest.fixture(scope="module", autouse=True)
def ready(playbook: Playbook) -> None:
    run = playbook.tasks(task())
    assert run.rc == 0, run.output[-3000:]


@contextlib.contextmanager
def troubles(cluster: Cluster, name: str, **update: t.Any) -> t.Iterator[None]:
    """Stage the troubles of a scenario's file; clear them at the end.

    update: fields that replace those of the os_update trouble.
    """
    sandbox = cluster.needs_sandbox()
    scripted = [one | (update if one["type"] == "os_update" else {}) for one in scenario.load(name).troubles]
    for one in scripted:
        faults.add(sandbox, one["type"], {key: value for key, value in one.items() if key != "type"})
    try:
        yield
    finally:
        for one in scripted:
            faults.clear(sandbox, one["type"], {key: value for key, value in one.items() if key != "type"})


def delay(cluster: Cluster, **seconds: float) -> None:
    sandbox = cluster.needs_sandbox()
    now = sandbox.scenario
    scenario.save(
        scenario.Scenario(now.name, now.cluster, {**now.delays, **seconds}, now.troubles), sandbox.directory
    )


def kernels(cluster: Cluster) -> Data:
    nodes = cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=training")
    return {node["metadata"]["name"]: node["status"]["nodeInfo"]["kernelVersion"] for node in nodes}


def cordoned(cluster: Cluster, labels: str = "accelerators.openshift/pool=training") -> list[str]:
    return [
        str(one["metadata"]["name"])
        for one in cluster.client.list("v1", "nodes", labels=labels or None)
        if one["spec"].get("unschedulable")
    ]


def told(result: TaskResult) -> Data:
    return {node["name"]: node["kernel"] for node in result["special_resource"]["nodes"]}


def updated(cluster: Cluster, node: str, kernel: str) -> None:
    until(lambda: kernels(cluster)[node] == kernel and not cordoned(cluster), f"kernel {kernel} on {node}")


def label(cluster: Cluster, node: str, key: str) -> str:
    return str(
        ((cluster.client.get("v1", "nodes", node) or {})["metadata"]["labels"]).get(
            f"feature.node.kubernetes.io/{key}"
        )
    )


def unpulled(cluster: Cluster) -> bool:
    pods = cluster.client.list("v1", "pods", "nvidia-gpu-operator")
    statuses = [one for pod in pods for one in pod["status"].get("containerStatuses") or []]
    return any(
        ((one.get("state") or {}).get("waiting") or {}).get("reason") == "ImagePullBackOff"
        for one in statuses
    )


def test_a_pool_in_rollout_is_followed_to_its_end(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    delay(cluster, os_update_reboot=3600)
    with troubles(cluster, "kernel-update-rollout"):
        until(lambda: cordoned(cluster), "a GPU node is cordoned")
        assert audit.log is not None
        path, runs = audit.log, list[Run]()
        start = log.position(path)
        thread = threading.Thread(target=lambda: runs.append(playbook.tasks(task())))
        thread.start()
        try:
            until(
                lambda: [
                    one
                    for one in log.read(path, start, OURS)
                    if one.resource == "nodes" and one.verb == "watch"
                ],
                "the run waits",
            )
        finally:
            delay(cluster, os_update_reboot=0.3)
            thread.join()
        until(lambda: not cordoned(cluster, ""), "the rollout ends")
    (run,) = runs
    (result,) = run.tasks
    assert not result.failed, run.output[-3000:]
    assert (result.changed, audit.writes(result)) == (False, [])
    assert kernels(cluster) == {"gpu-0": NEXT, "gpu-1": NEXT}
    for name, kernel in told(result).items():
        assert (kernel["running"], kernel["labelled"], kernel["os"]["ostree"]) == (NEXT, NEXT, NEW)
        assert (kernel["daemonset"], kernel["source"], kernel["fits"], kernel["waits_at"]) == (
            f"nvidia-driver-daemonset-{NEW}",
            "toolkit",
            True,
            "",
        )
        assert kernel["toolkit"].startswith("quay.io/")
        assert f"{name}: is being updated by the machine-config operator" in run.output
        assert f"{name}: kernel 5.14.0-570.12.1 -> 5.14.0-611.5.1, step " in run.output
    again = playbook.tasks(task()).tasks[-1]
    assert (again.changed, audit.writes(again)) == (False, [])


def test_labels_that_stay_those_of_the_old_kernel(cluster: Cluster, playbook: Playbook) -> None:
    other = "5.14.0-611.8.1.el9_7.x86_64"
    with troubles(
        cluster, "kernel-update-stale-labels", node="gpu-0", new_kernel=other, new_ostree_version=OLD
    ):
        updated(cluster, "gpu-0", other)
        failed = playbook.tasks(task(grace=3)).failure
        assert (failed["code"], failed["layer"]) == ("GPU-NFD-KERNEL", "gpu")
        assert (
            f"kernel-version.full={NEXT} is of another kernel than the running {other}" in failed["message"]
        )
        assert "oc delete pod -n openshift-nfd" in failed["remedy"]
        facts = told(failed)
        assert (facts["gpu-0"]["fits"], facts["gpu-0"]["misfit"]["fact"], facts["gpu-0"]["waits_at"]) == (
            False,
            "labels",
            "labels",
        )
        assert facts["gpu-1"]["fits"]
        assert failed["duration"] < SECONDS
    mended = playbook.tasks(task()).tasks[-1]
    assert not mended.failed, mended.result
    assert {name: kernel["os"]["ostree"] for name, kernel in told(mended).items()} == {
        "gpu-0": OLD,
        "gpu-1": NEW,
    }
    assert len({kernel["daemonset"] for kernel in told(mended).values()}) == 2


def test_a_release_without_its_driver_toolkit(cluster: Cluster, playbook: Playbook) -> None:
    (update,) = scenario.load("kernel-update-no-tag").troubles
    with troubles(cluster, "kernel-update-no-tag", node="gpu-1"):
        updated(cluster, "gpu-1", update["new_kernel"])
        until(
            lambda: (
                label(cluster, "gpu-1", "system-os_release.OSTREE_VERSION") == update["new_ostree_version"]
            ),
            "the label of the new version",
        )
        failed = playbook.tasks(task(grace=3)).failure
    assert failed["code"] == "GPU-DTK-STREAM"
    wanted = f"has no tag {update['new_ostree_version']} (it has 9.8.20260722-0, {OLD}, {NEW})"
    assert f"Node gpu-1: ImageStream openshift/driver-toolkit {wanted}" in failed["message"]
    assert told(failed)["gpu-1"]["misfit"]["fact"] == "toolkit"
    assert failed["duration"] < SECONDS
    with troubles(cluster, "kernel-update-no-tag", node="gpu-1", new_kernel=BEFORE, new_ostree_version=OLD):
        updated(cluster, "gpu-1", BEFORE)
        assert not playbook.tasks(task()).tasks[-1].failed


def test_precompiled_drivers_need_an_image_for_each_kernel(cluster: Cluster, playbook: Playbook) -> None:
    driver = {
        "usePrecompiled": True,
        "repository": "registry.example.com/nvidia",
        "image": "gpu-driver-rhel9",
        "version": "595",
    }
    run = playbook.tasks(task(spec={"driver": driver}))
    assert run.rc == 0, run.output[-3000:]
    assert (
        told(run.tasks[-1])["gpu-1"]["image"]
        == f"registry.example.com/nvidia/gpu-driver-rhel9:595-{BEFORE}-rhel9"
    )
    assert {kernel["source"] for kernel in told(run.tasks[-1]).values()} == {"precompiled"}
    with troubles(cluster, "kernel-update-no-image", node="gpu-0"):
        updated(cluster, "gpu-0", NEXT)
        until(lambda: unpulled(cluster), "a driver pod without its image")
        failed = playbook.tasks(task(spec={"driver": driver}, grace=3)).failure
    assert failed["code"] == "GPU-DRV-PRECOMPILED"
    wanted = f"registry.example.com/nvidia/gpu-driver-rhel9:595-{NEXT}-rhel9"
    assert (
        f"Node gpu-0: no precompiled driver for kernel {NEXT}: {wanted} is in ImagePullBackOff"
        in failed["message"]
    )
    assert f"skopeo inspect docker://{wanted}" in failed["remedy"]
    assert told(failed)["gpu-0"]["misfit"]["fact"] == "image"
    assert told(failed)["gpu-1"]["fits"]
    # From here on the image exists.
    mended = playbook.tasks(task(spec={"driver": driver})).tasks[-1]
    assert not mended.failed, mended.result
    assert told(mended)["gpu-0"]["image"] == wanted


def test_a_precompiled_driver_that_nobody_made_is_refused_before_it_is_asked_for(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    """Ask for a driver version without an image; needs the precompiled drivers of the test before."""
    before = cluster.client.get("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
    driver = before["spec"]["driver"] | {"version": "600"} if before else {}
    wished = {
        "spec": {"driver": {key: driver[key] for key in ("usePrecompiled", "repository", "image", "version")}}
    }
    with troubles(cluster, "kernel-update-no-image", node="none"):
        refused = playbook.tasks(task(**wished)).failure
        foretold = playbook.tasks(task(**wished) | {"check_mode": True}).failure
        image = " or ".join(
            f"registry.example.com/nvidia/gpu-driver-rhel9:600-{NEXT}-{system}"
            for system in ("rhel9.8", "rhel9")
        )
        for failed in (refused, foretold):
            assert (failed["code"], failed["changed"]) == ("GPU-DRV-PRECOMPILED", False)
            assert (
                f"Node gpu-0: there is no precompiled driver for kernel {NEXT}: "
                f"{image} is not in the registry" in failed["message"]
            )
            assert "gpu-1" not in failed["message"]
        assert audit.writes(refused, foretold) == []
        # The module does not look up an image that is in use, and another pool's node blocks nothing.
        again = playbook.tasks(task(spec={"driver": {**wished["spec"]["driver"], "version": "595"}})).tasks[
            -1
        ]
        assert (again.failed, again.changed) == (False, False), again.result
        assert not [one for one in audit.of(again) if one.resource.startswith("imagestreamimports")]
    (foreseen,) = playbook.tasks(task(**wished) | {"check_mode": True}).tasks
    assert (foreseen.failed, foreseen.changed) == (False, True), foreseen.result
