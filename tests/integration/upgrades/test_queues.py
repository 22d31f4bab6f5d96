# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues of Kueue on scenario gpu-queues: an upgrade stops the queue of its pool, and gives it back.

A run that is killed in between leaves it stopped, and the next run gives it back.
"""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.killed import kill_playbook
from integration.patience import until
from integration.scenarios.place import existing
from integration.stack.driver_gaps import NEW, OLD, POOL, POOLS, driver
from integration.upgrades.upgrades import Data, Upgrades

SCENARIO: t.Final = "gpu-queues"
pytestmark = [
    pytest.mark.story("one queue, one upgrade of its pool, and two that are killed"),
    pytest.mark.long("few clusters have Kueue; the unit tests of _upgrade have queues in every run"),
]
VERSION: t.Final = "kueue.x-k8s.io/v1beta1"
GPU: t.Final = "nvidia.com/gpu"
HERE: t.Final = {POOL: "training"}


def objects() -> list[Data]:
    """Return a queue for the pool `training`, and a suspended Job for it."""
    flavor = {"name": "a100", "resources": [{"name": GPU, "nominalQuota": 8}]}
    container = {"name": "c", "image": "example.com/train", "resources": {"limits": {GPU: "1"}}}
    pod = {"restartPolicy": "Never", "nodeSelector": HERE, "containers": [container]}
    job = {"suspend": True, "completions": 1000, "parallelism": 1, "template": {"spec": pod}}
    kueue = [
        ("ResourceFlavor", "a100", {"nodeLabels": HERE}),
        ("ClusterQueue", "gpus", {"resourceGroups": [{"coveredResources": [GPU], "flavors": [flavor]}]}),
    ]
    made: list[Data] = [
        {"apiVersion": VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        for kind, name, spec in kueue
    ]
    mine = {"name": "mine", "namespace": "default"}
    made.append(
        {"apiVersion": VERSION, "kind": "LocalQueue", "metadata": mine, "spec": {"clusterQueue": "gpus"}}
    )
    labels = {"kueue.x-k8s.io/queue-name": "mine"}
    metadata = {"name": "train", "namespace": "default", "labels": labels}
    return [*made, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job}]


def policy(upgrades: Upgrades) -> str:
    return str(must_get(upgrades.client, VERSION, "clusterqueues", "gpus")["spec"]["stopPolicy"])


def is_admitted(upgrades: Upgrades) -> bool:
    found = upgrades.client.get(VERSION, "workloads", "job-train", "default") or {}
    return "admission" in (found.get("status") or {})


def works(upgrades: Upgrades) -> bool:
    """Return whether a pod of the Job runs on its GPU."""
    pods = upgrades.client.list("v1", "pods", "default", labels="batch.kubernetes.io/job-name=train")
    return any(pod["status"].get("phase") == "Running" for pod in pods)


def asked(version: str) -> Data:
    """Return the variables of upgrade_driver.yml for the pool `training`."""
    wanted = {f"gpu_driver_{key}": value for key, value in driver(version).items()}
    return {**wanted, "gpu_pools": existing(training=8), "gpu_on_busy": "drain"}


def is_begun(upgrades: Upgrades) -> bool:
    """Return whether the operator has begun with the node of the pool."""
    return upgrades.states()["a100-0"] not in ("upgrade-done", "upgrade-required")


@pytest.fixture(scope="module")
def installed(upgrades: Upgrades) -> Upgrades:
    upgrades.install()
    for one in objects():
        upgrades.client.create(one)
    until(lambda: is_admitted(upgrades) and works(upgrades), "the Job is at work")
    return upgrades


def test_check_mode_names_the_workload_and_writes_nothing(installed: Upgrades) -> None:
    until(lambda: works(installed), "the Job is at work")
    made = installed.run(check=True, pools=POOLS[1:], on_busy="drain")
    assert not made.failed, made.result
    (line,) = [one for one in made["driver_upgrade"]["plan"] if "ClusterQueue" in one]
    assert "HoldAndDrain" in line
    assert "default/job-train" in line
    assert installed.audit.writes(made) == []
    assert policy(installed) == "None"


def test_the_queue_is_drained_for_its_pool_and_then_as_before(installed: Upgrades) -> None:
    made = installed.run(pools=POOLS[1:], on_busy="drain")
    assert not made.failed, made.result
    assert made["driver_upgrade"]["stopped_queues"] == []
    assert installed.versions()["a100-0"] == NEW
    queues = [one for one in installed.audit.writes(made) if "clusterqueues" in one]
    assert len(queues) == 2, "it is stopped once, and given back once"
    assert policy(installed) == "None"
    until(lambda: is_admitted(installed) and works(installed), "the Job is at work again")


def test_a_second_run_writes_nothing(installed: Upgrades) -> None:
    again = installed.run(pools=POOLS[1:])
    assert (again.failed, again.changed, installed.audit.writes(again)) == (False, False, []), again.result


@pytest.mark.parametrize(
    ("version", "moment", "held"),
    [(OLD, lambda upgrades: True, []), (NEW, is_begun, ["t4-0", "t4-1"])],
    ids=["before the driver changes", "while the driver changes"],
)
def test_the_run_after_a_killed_one_gives_the_queue_back(
    installed: Upgrades, version: str, moment: t.Callable[[Upgrades], bool], held: list[str]
) -> None:
    until(lambda: is_admitted(installed) and works(installed), "the Job is at work")
    kill_playbook(
        installed.playbook,
        lambda: policy(installed) == "HoldAndDrain" and moment(installed),
        "upgrade_driver",
        **asked(version),
    )
    assert policy(installed) == "HoldAndDrain"
    run = installed.playbook.playbook("upgrade_driver", **asked(version))
    assert run.rc == 0, run.output[-4000:]
    assert (installed.versions()["a100-0"], policy(installed)) == (version, "None")
    assert installed.states()["a100-0"] == "upgrade-done"
    # The nodes of the other pool keep their driver, and are held back while the policy has another one.
    assert (installed.cordoned(), installed.held()) == ([], held)
    until(lambda: is_admitted(installed) and works(installed), "the Job is at work again")
    again = installed.playbook.playbook("upgrade_driver", **asked(version))
    assert (again.rc, installed.audit.writes(*again.tasks)) == (0, []), again.output[-4000:]
