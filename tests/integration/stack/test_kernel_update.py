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
