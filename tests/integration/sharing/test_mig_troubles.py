# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""repartition.yml on two nodes: one fails and is rolled back, one is busy, one never ends."""

from __future__ import annotations

import contextlib
import threading
import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.sharing.mig_pool import HALVES, SEVENTHS, node, offers, play, pool
from integration.wire import Audit

from openshift_sandbox import faults

pytestmark = [
    pytest.mark.story("the GPUs of two nodes get one geometry after the other, and something is in the way"),
    pytest.mark.long("the chain seven times: the unit tests of gpu_repartition hold each of its steps"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "mig-nodes"
FIRST, SECOND = "a100-0", "a100-1"
CONFIG: t.Final = "nvidia.com/mig.config"
OF_HALVES: t.Final = {"nvidia.com/mig-3g.20gb": "16"}
OF_SEVENTHS: t.Final = {"nvidia.com/mig-1g.5gb": "56"}
TEAM: t.Final = {"name": "train", "namespace": "default"}
DEPLOYMENTS: t.Final = ("apps/v1", "deployments", "train", "default")


def repartition(playbook: Playbook, sharing: Data, **more: t.Any) -> Run:
    return play(playbook, "repartition", [pool("train", "training", 8, sharing)], **more)


def state(cluster: Cluster, name: str) -> Data:
    """Return what a turn changes on a node."""
    live = node(cluster, name)
    notes = live["metadata"].get("annotations") or {}
    return {
        "config": live["metadata"]["labels"].get(CONFIG),
        "state": live["metadata"]["labels"].get(f"{CONFIG}.state"),
        "cordoned": bool(live["spec"].get("unschedulable")),
        "notes": [key for key in notes if key.startswith("accelerators.openshift/")],
        "offers": offers(cluster, name),
    }


def busy(cluster: Cluster, resource: str) -> None:
    """Run a pod of a Deployment with a device of the first node."""
    container = {"name": "main", "image": "example.com/train", "resources": {"limits": {resource: "1"}}}
    spec: Data = {
        "nodeSelector": {"kubernetes.io/hostname": FIRST},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    template = {"metadata": {"labels": {"app": "train"}}, "spec": spec}
    wanted = {"replicas": 1, "selector": {"matchLabels": {"app": "train"}}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": TEAM, "spec": wanted}
    cluster.client.apply(manifest)
    until(lambda: [one for one in pods(cluster) if one["status"].get("phase") == "Running"], "its pod")


def pods(cluster: Cluster) -> list[Data]:
    return cluster.client.list("v1", "pods", "default", "app=train")


def not_busy(cluster: Cluster) -> None:
    cluster.client.delete(*DEPLOYMENTS)
    until(lambda: not pods(cluster), "the pod gone")


@contextlib.contextmanager
def when_cordoned(cluster: Cluster, act: t.Callable[[], None]) -> t.Iterator[None]:
    """Do something as soon as the first node takes no new pods. Fail if it did not come to that."""
    acted: list[bool] = []

    def wait() -> None:
        until(lambda: state(cluster, FIRST)["cordoned"], "the node cordoned", 240)
        act()
        acted.append(True)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    yield
    waiting.join(30)
    assert acted == [True]


def done(run: Run) -> None:
    assert run.rc == 0, run.output[-4000:]


def test_nodes_without_a_stack_are_cut_at_once(cluster: Cluster, playbook: Playbook) -> None:
    done(play(playbook, "enable_gpus", [pool("train", "training", 8, HALVES)]))
    assert [offers(cluster, one) for one in (FIRST, SECOND)] == [OF_HALVES, OF_HALVES]


def test_a_node_that_fails_gets_its_old_geometry_and_the_next_one_is_left_alone(
    cluster: Cluster, playbook: Playbook
) -> None:
    before = [state(cluster, one) for one in (FIRST, SECOND)]
    faults.add(cluster.needs_sandbox(), "mig_fails", {"node": FIRST, "profile": "1g.5gb"})
    run = repartition(playbook, SEVENTHS)
    faults.clear(cluster.needs_sandbox(), "mig_fails", {})
    failure = run.failure
    assert (failure["code"], failure["done"]) == ("GPU-MIG-FAILED", []), run.output[-3000:]
    assert "Insufficient Resources" in failure["message"]
    assert "has its old geometry" in failure["message"]
    assert "oc logs -n nvidia-gpu-operator -l app=nvidia-mig-manager" in failure["remedy"]
    until(lambda: [state(cluster, one) for one in (FIRST, SECOND)] == before, "both nodes as before")


def test_the_next_run_changes_both(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    done(repartition(playbook, SEVENTHS))
    assert [offers(cluster, one) for one in (FIRST, SECOND)] == [OF_SEVENTHS, OF_SEVENTHS]
    since = audit.position()
    assert repartition(playbook, SEVENTHS).changed == 0
    audit.flush()
    assert audit.written(since) == []


def test_a_busy_node_is_refused_before_the_first_write(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    busy(cluster, "nvidia.com/mig-1g.5gb")
    since = audit.position()
    run = repartition(playbook, HALVES)
    assert run.failure["code"] == "GPU-MIG-BUSY", run.output[-3000:]
    assert f"default/{pods(cluster)[0]['metadata']['name']} on {FIRST}" in run.failure["message"]
    assert "gpu_on_busy" in run.failure["remedy"]
    audit.flush()
    assert audit.written(since) == []


def test_a_busy_node_is_waited_for(cluster: Cluster, playbook: Playbook) -> None:
    """The pod ends by itself, once its node takes no new pods."""
    (pod,) = pods(cluster)

    def end() -> None:
        assert [one["metadata"]["uid"] for one in pods(cluster)] == [pod["metadata"]["uid"]]
        cluster.client.delete(*DEPLOYMENTS)

    with when_cordoned(cluster, end):
        done(repartition(playbook, HALVES, gpu_on_busy="wait"))
    assert [offers(cluster, one) for one in (FIRST, SECOND)] == [OF_HALVES, OF_HALVES]


def test_a_busy_node_is_drained_where_the_user_allows_it(cluster: Cluster, playbook: Playbook) -> None:
    busy(cluster, "nvidia.com/mig-3g.20gb")
    (pod,) = pods(cluster)
    done(repartition(playbook, SEVENTHS, gpu_on_busy="drain"))
    assert pod["metadata"]["uid"] not in [one["metadata"]["uid"] for one in pods(cluster)]
    assert [offers(cluster, one) for one in (FIRST, SECOND)] == [OF_SEVENTHS, OF_SEVENTHS]
    assert [state(cluster, one)["cordoned"] for one in (FIRST, SECOND)] == [False, False]
    not_busy(cluster)


def test_a_manager_that_never_ends_leaves_the_node_to_the_next_run(
    cluster: Cluster, playbook: Playbook
) -> None:
    """The node stays cordoned, so that no pod uses GPUs that are half cut."""
    sandbox, stuck, untouched = cluster.needs_sandbox(), {"node": FIRST}, state(cluster, SECOND)
    with when_cordoned(cluster, lambda: faults.add(sandbox, "mig_stuck", stuck)):
        run = repartition(playbook, HALVES, gpu_wait_timeout=30, gpu_mig_node_timeout=5)
    faults.clear(sandbox, "mig_stuck", stuck)
    assert run.failure["code"] == "GPU-MIG-RUNNING", run.output[-3000:]
    assert f"Node {FIRST} stays cordoned" in run.failure["message"]
    assert state(cluster, FIRST)["cordoned"]
    assert state(cluster, SECOND) == untouched
    done(repartition(playbook, HALVES))
    assert [state(cluster, one)["cordoned"] for one in (FIRST, SECOND)] == [False, False]
    assert [state(cluster, one)["notes"] for one in (FIRST, SECOND)] == [[], []]
    assert [offers(cluster, one) for one in (FIRST, SECOND)] == [OF_HALVES, OF_HALVES]
