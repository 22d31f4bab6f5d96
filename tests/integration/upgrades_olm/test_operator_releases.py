# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""upgrade_operators.yml: the GPU operator over two releases, and what is refused before the first write."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, Run, TaskResult
from integration.stack.driver_gaps import POOLS, QUICK, TRAINING
from integration.stack.operators.subscribed import V1ALPHA1, approved
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "operator-releases"
pytestmark = [
    pytest.mark.story("one cluster, its operators upgraded from their first release to the last"),
    pytest.mark.long("five minutes; test_olm_upgrades.py goes from plan to plan in every run"),
]

GPU: t.Final = "gpu-operator-certified"
NAMESPACE: t.Final = "nvidia-gpu-operator"
FIRST, MIDDLE, LAST = (f"{GPU}.v{version}" for version in ("25.10.1", "26.3.3", "26.7.1"))
OLDER, NEWER = "nfd.v4.22.0-202607141007", "nfd.v4.22.0-202608111344"
KMM: t.Final = "kernel-module-management.v2.6.0"
UP: t.Final[Data] = {"gpu_upgrade_operators": [{"name": "gpu", "channel": "stable"}]}
# The requests of an upgrade of one operator when it has nothing to do.
AGAIN: t.Final = {
    "list subscriptions.operators.coreos.com": 1,
    "get packagemanifests.packages.operators.coreos.com": 1,
    "list clusterserviceversions.operators.coreos.com": 1,
}


def subscription(cluster: Cluster, name: str, namespace: str) -> Data:
    return must_get(cluster.client, V1ALPHA1, "subscriptions", name, namespace)


@pytest.fixture(scope="module")
def stack(cluster: Cluster, playbook: Playbook) -> Playbook:
    """Install NFD and the GPU operator in their oldest versions, and start a pod with a GPU."""
    nfd = {"name": "nfd", "namespace": "openshift-nfd", "csv": OLDER, "channel": "stable"}
    operator = {"name": GPU, "namespace": NAMESPACE, "channel": "v25.10"}
    run = playbook.tasks(
        {"accelerators.openshift.olm_operator": nfd},
        {"accelerators.openshift.nfd_labels": {}},
        {"accelerators.openshift.olm_operator": operator},
        {"accelerators.openshift.special_resource": {"pools": POOLS, **QUICK}},
    )
    assert run.rc == 0, run.output[-3000:]
    until(lambda: len(cluster.client.list(V1ALPHA1, "installplans", "openshift-nfd")) > 1, "NFD's next plan")
    cluster.client.create(TRAINING)
    until(
        lambda: [
            one
            for one in cluster.client.list("v1", "pods", "default", labels="app=training")
            if one["status"].get("phase") == "Running"
        ],
        "a pod with a GPU",
    )
    return playbook


def upgraded(playbook: Playbook, *arguments: str, **extra_vars: t.Any) -> Run:
    return playbook.playbook("upgrade_operators", *arguments, **extra_vars)


def refused(run: Run, audit: Audit, code: str, *words: str) -> None:
    """Assert that the run failed with this code and these words, and has written nothing."""
    assert run.rc != 0, run.output
    assert run.failure["code"] == code, run.failure.result
    assert [word for word in words if word not in f"{run.failure['message']} {run.failure['remedy']}"] == []
    assert audit.writes(*run.tasks) == []


def of_upgrade(run: Run) -> TaskResult:
    """Return the result of the task that upgrades the operators."""
    return next(one for one in run.tasks if "operators" in one.result)


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        ({"name": "nvidia"}, "INPUT-VALUE", ["operators[0].name is nvidia", GPU]),
        ({"name": "gpu", "channel": "v99"}, "OLM-NO-CHANNEL", ["operators[0].channel is v99", "v26.3"]),
        ({"name": "gpu", "to": "27.1.0"}, "OLM-NO-CSV", ["operators[0].to is 27.1.0", FIRST, LAST]),
        ({"name": "network"}, "OLM-NOT-INSTALLED", ["operators[0]", "enable_gpus.yml"]),
    ],
)
def test_what_does_not_exist_is_refused(
    stack: Playbook, audit: Audit, entry: Data, code: str, words: list[str]
) -> None:
    refused(upgraded(stack, gpu_upgrade_operators=[entry]), audit, code, *words)


def test_a_plan_that_carries_another_operator_is_refused_by_name(
    cluster: Cluster, stack: Playbook, audit: Audit
) -> None:
    run = upgraded(stack)
    refused(run, audit, "OLM-FOREIGN-CSV", KMM, f"gpu_upgrade_allow_csvs: [{KMM}]")
    assert subscription(cluster, "nfd", "openshift-nfd")["status"]["installedCSV"] == OLDER


def test_another_driver_is_asked_about(stack: Playbook, audit: Audit) -> None:
    refused(upgraded(stack, **UP), audit, "OLM-DRIVER-CHANGE", "t4-0", "gpu_upgrade_driver_change: pin")


def test_a_driver_manager_that_differs_is_asked_about(stack: Playbook, audit: Audit) -> None:
    run = upgraded(stack, **UP, gpu_upgrade_driver_change="pin")
    refused(run, audit, "OLM-BUSY", "default/training", "DRIVER_MANAGER_IMAGE", "gpu_on_busy: wait")


def test_check_mode_shows_the_whole_way(cluster: Cluster, stack: Playbook, audit: Audit) -> None:
    run = upgraded(stack, "--check", **UP, gpu_upgrade_driver_change="pin", gpu_on_busy="drain")
    assert run.rc == 0, run.output
    assert audit.writes(*run.tasks) == []
    (operator,) = of_upgrade(run)["operators"]
    assert [(one["from"], one["to"], one["channel"]) for one in operator["steps"]] == [
        (FIRST, MIDDLE, "v26.3"),
        (MIDDLE, LAST, "stable"),
    ]
    assert of_upgrade(run).changed
    assert subscription(cluster, GPU, NAMESPACE)["spec"]["channel"] == "v25.10"


def test_release_by_release_with_one_plan_each(cluster: Cluster, stack: Playbook, audit: Audit) -> None:
    run = upgraded(stack, **UP, gpu_upgrade_driver_change="pin", gpu_on_busy="drain")
    assert run.rc == 0, run.output
    (operator,) = of_upgrade(run)["operators"]
    assert [(one["from"], one["to"]) for one in operator["steps"]] == [(FIRST, MIDDLE), (MIDDLE, LAST)]
    assert [one["truth"] for one in operator["steps"]] == [
        "ClusterPolicy gpu-cluster-policy: 3 GPU nodes ready"
    ] * 2
    assert approved(cluster, NAMESPACE) == [FIRST, MIDDLE, LAST]
    live = subscription(cluster, GPU, NAMESPACE)
    assert (live["status"]["installedCSV"], live["spec"]["channel"]) == (LAST, "stable")
    plans = [line for line in audit.writes(*run.tasks) if "installplans" in line]
    assert len(plans) == 2


def test_again_without_a_write(stack: Playbook, audit: Audit) -> None:
    run = upgraded(stack, **UP)
    assert (run.rc, run.changed) == (0, 0), run.output
    asked = UP["gpu_upgrade_operators"]
    tasks = [of_upgrade(run), stack.module("operator_upgrade", operators=asked, in_process=False, check=True)]
    assert audit.writes(*tasks) == []
    assert [(one.changed, one["operators"][0]["steps"]) for one in tasks] == [(False, [])] * 2


def test_a_downgrade_is_refused_with_the_way_back(stack: Playbook, audit: Audit) -> None:
    run = upgraded(stack, gpu_upgrade_operators=[{"name": "gpu", "to": "26.3.3"}])
    words = ("OLM does not downgrade", "gpu_operator_channel: v26.3", f"gpu_operator_csv: {MIDDLE}")
    refused(run, audit, "OLM-VERSION", *words)


def test_a_plan_with_another_operator_is_approved_when_allowed(cluster: Cluster, stack: Playbook) -> None:
    run = upgraded(stack, gpu_upgrade_allow_csvs=["kernel-module-management.*"])
    assert run.rc == 0, run.output
    assert [one["package"] for one in of_upgrade(run)["operators"]] == ["nfd", GPU]
    assert subscription(cluster, "nfd", "openshift-nfd")["status"]["installedCSV"] == NEWER
