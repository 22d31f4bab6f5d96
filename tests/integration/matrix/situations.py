# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The situations in which a destructive action is tried: each is brought about, and taken away again."""

from __future__ import annotations

import contextlib
import typing as t

from integration.killed import kill_playbook
from integration.matrix.world import World, uid_of
from integration.patience import until
from integration.troubles.demo import POOLS
from integration.troubles.other_run import LEASE, hold

Data = dict[str, t.Any]
Situation = t.Callable[[World], contextlib.AbstractContextManager[None]]

SPACE: t.Final = "matrix"
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets")
SECOND: t.Final[Data] = {
    **POOLS[0],
    "name": "other",
    "replicas": 1,
    "quota": [],
    "priority": [],
}


@contextlib.contextmanager
def idle(_world: World) -> t.Iterator[None]:
    yield


@contextlib.contextmanager
def gpu_pods(world: World) -> t.Iterator[None]:
    """Run a Deployment of one GPU pod for each node of the pool."""
    client, labels = world.cluster.client, {"app": "trainer"}
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    spec: Data = {
        "nodeSelector": {"accelerators.openshift/pool": "demo"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {"name": "main", "image": "example.com/train", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        ],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    place = {"name": "trainer", "namespace": SPACE}
    client.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": place, "spec": deployment})

    def pods() -> list[Data]:
        return [
            one
            for one in client.list("v1", "pods", SPACE, "app=trainer")
            if one.get("status", {}).get("phase") == "Running"
        ]

    until(lambda: len(pods()) == 2, "two pods with GPUs")
    try:
        yield
    finally:
        client.delete("apps/v1", "deployments", "trainer", SPACE)
        until(lambda: not client.list("v1", "pods", SPACE, "app=trainer"), "the pods gone")


@contextlib.contextmanager
def budget(world: World) -> t.Iterator[None]:
    """Let a disruption budget keep GPU pods whose eviction the user allows."""
    client, place = world.cluster.client, {"name": "trainer", "namespace": SPACE}
    spec = {"minAvailable": 2, "selector": {"matchLabels": {"app": "trainer"}}}
    with gpu_pods(world):
        client.apply(
            {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": place, "spec": spec}
        )
        world.more |= {"gpu_on_busy": "drain", "gpu_wait_timeout": 20, "gpu_node_pool_wait_timeout": 20}
        try:
            yield
        finally:
            world.more = {}
            client.delete("policy/v1", "poddisruptionbudgets", "trainer", SPACE)


@contextlib.contextmanager
def second_file(world: World) -> t.Iterator[None]:
    """Let another file describe another pool of the same cluster."""
    assert world.enable(gpu_pools=[SECOND]).rc == 0
    try:
        yield
    finally:
        done = world.demo.playbook("remove_pool", gpu_pool="other", gpu_on_busy="drain")
        assert done.rc == 0, done.output[-2000:]


@contextlib.contextmanager
def foreign_policy(world: World) -> t.Iterator[None]:
    """Let somebody make a second ClusterPolicy."""
    client = world.cluster.client
    spec = world.cluster.client.list("nvidia.com/v1", "clusterpolicies")[0]["spec"]
    metadata = {"name": "policy-of-another-team"}
    client.create(
        {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": metadata, "spec": spec}
    )
    try:
        yield
    finally:
        client.delete("nvidia.com/v1", "clusterpolicies", "policy-of-another-team")


@contextlib.contextmanager
def network_operator(world: World) -> t.Iterator[None]:
    """Let somebody install the network operator, which needs the labels of NFD."""
    client, space = world.cluster.client, "nvidia-network-operator"
    place = {"name": "nvidia-network-operator", "namespace": space}
    spec = {
        "name": "nvidia-network-operator",
        "channel": "stable",
        "source": "certified-operators",
        "sourceNamespace": "openshift-marketplace",
        "installPlanApproval": "Manual",
    }
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
    client.apply(
        {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "Subscription",
            "metadata": place,
            "spec": spec,
        }
    )
    try:
        yield
    finally:
        client.delete("operators.coreos.com/v1alpha1", "subscriptions", place["name"], space)
        client.delete("v1", "namespaces", space)
        until(lambda: client.get("v1", "namespaces", space) is None, "the namespace gone")


@contextlib.contextmanager
def scaled_by_hand(world: World) -> t.Iterator[None]:
    """Let somebody scale a machine set with `oc scale`: one machine more in the first zone."""
    client = world.cluster.client.acting("kubectl/v1.36")
    name = world.cluster.client.list(*SETS, "openshift-machine-api", "accelerators.openshift/pool=demo")[0][
        "metadata"
    ]["name"]
    path = f"/apis/{SETS[0]}/namespaces/openshift-machine-api/{SETS[1]}/{name}/scale"
    client.checked(
        "PATCH",
        path,
        {"spec": {"replicas": 2}},
        "application/merge-patch+json",
        {"fieldManager": "kubectl-scale"},
    )
    until(lambda: len(world.nodes) == 3, "the third node")
    yield


@contextlib.contextmanager
def lease_held(world: World) -> t.Iterator[None]:
    """Let a run on another machine hold the lease; it renewed it a moment ago."""
    client = world.cluster.client
    hold(client, ago=0)
    try:
        yield
    finally:
        client.delete(*LEASE)


@contextlib.contextmanager
def killed_before(world: World) -> t.Iterator[None]:
    """Kill a replacement of the first node after its cordon."""
    start = world.audit.position()
    kill_playbook(
        world.demo,
        lambda: "patch nodes" in world.audit.written(start),
        "replace_node",
        gpu_node=world.nodes[0],
        gpu_machine_uid=uid_of(world, world.nodes[0]),
        gpu_on_busy="drain",
    )
    yield


@contextlib.contextmanager
def argo_cd(world: World) -> t.Iterator[None]:
    """Let Argo CD set an option of the driver to the value that it has."""
    client = world.cluster.client.acting("argocd-controller")
    name = world.cluster.client.list("nvidia.com/v1", "clusterpolicies")[0]["metadata"]["name"]
    mine: Data = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": name},
        "spec": {"driver": {"rdma": {"enabled": False}}},
    }
    path = f"/apis/nvidia.com/v1/clusterpolicies/{name}"
    query = {"fieldManager": "argocd-controller", "force": "true"}
    client.checked("PATCH", path, mine, "application/apply-patch+yaml", query)
    yield


SITUATIONS: t.Final[dict[str, Situation]] = {
    "idle": idle,
    "GPU pods run": gpu_pods,
    "a budget keeps the pods": budget,
    "another file has a pool": second_file,
    "a foreign ClusterPolicy": foreign_policy,
    "a foreign network operator": network_operator,
    "scaled by hand": scaled_by_hand,
    "another run holds the lease": lease_held,
    "a run was killed before": killed_before,
    "Argo CD owns a field": argo_cd,
}
