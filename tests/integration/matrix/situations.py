# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The situations in which a destructive action is tried. Each can be brought about again when it is there."""

from __future__ import annotations

import typing as t

from integration.killed import kill_playbook
from integration.matrix.world import DEMO, MACHINE_SETS, POLICIES, World, uid_of
from integration.patience import until
from integration.troubles.demo import POOLS
from integration.troubles.other_run import LEASE, hold

from openshift_sandbox.client import Client

Data = dict[str, t.Any]
Situation = t.Callable[[World], object]

SPACE: t.Final = "matrix"
BUDGETS: t.Final = ("policy/v1", "poddisruptionbudgets")
FOREIGN: t.Final = "policy-of-another-team"
SECOND: t.Final[Data] = {
    **{key: value for key, value in POOLS[0].items() if key not in ("quota", "priority")},
    "name": "other",
    "replicas": 1,
    "taints": [{"key": "nvidia.com/gpu", "value": "other", "effect": "NoSchedule"}],
}
# A drain that a budget stops ends soon; an operator has to have the time for its own part.
SOON: t.Final[Data] = {
    "gpu_on_busy": "drain",
    "gpu_wait_timeout": 8,
    "gpu_node_pool_wait_timeout": 8,
    "gpu_operator_wait_timeout": 40,
    "nvidia_network_operator_wait_timeout": 15,
}


def idle(world: World) -> None:
    """Bring about nothing."""


def gpu_pods(world: World) -> None:
    """Run a Deployment of one pod with devices for each node."""
    client, labels = world.cluster.client, {"app": "trainer"}
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    container = {
        "name": "main",
        "image": "example.com/train",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    spec: Data = {
        "nodeSelector": DEMO,
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    place = {"name": "trainer", "namespace": SPACE}
    client.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": place, "spec": deployment})

    def pods() -> list[Data]:
        found = client.list("v1", "pods", SPACE, "app=trainer")
        return [one for one in found if one.get("status", {}).get("phase") == "Running"]

    until(lambda: len(pods()) == 2, "two pods with devices")


def gpu_pods_with_budget(world: World) -> None:
    """Run pods with devices that a disruption budget keeps all."""
    gpu_pods(world)
    client, place = world.cluster.client, (*BUDGETS, "trainer", SPACE)
    client.apply(
        {
            "apiVersion": place[0],
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "trainer", "namespace": SPACE},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "trainer"}}},
        }
    )
    until(
        lambda: (client.get(*place) or {}).get("status", {}).get("currentHealthy") == 2,
        "a budget that counts its pods",
    )


def delete_pods(world: World) -> None:
    client = world.cluster.client
    client.delete("apps/v1", "deployments", "trainer", SPACE)
    until(lambda: not client.list("v1", "pods", SPACE, "app=trainer"), "the pods gone")


def budget(world: World) -> None:
    """Let a disruption budget keep pods whose eviction the user allows."""
    gpu_pods_with_budget(world)
    # The operator gives up an eviction after 300 s.
    rules = {"driver": {"upgradePolicy": {"podDeletion": {"timeoutSeconds": 10}}}}
    client = world.cluster.client
    client.patch(*POLICIES, client.list(*POLICIES)[0]["metadata"]["name"], None, {"spec": rules})
    world.more = {**SOON}


def second_file(world: World) -> None:
    """Let another file describe another pool of the same cluster."""
    if not world.machine_sets("other"):
        run = world.enable(gpu_pools=[SECOND])
        assert run.rc == 0, run.output[-3000:]


def foreign_policy(world: World) -> None:
    """Let another team make a second ClusterPolicy."""
    client, name = world.cluster.client, FOREIGN
    if client.get(*POLICIES, name) is None:
        spec = client.list(*POLICIES)[0]["spec"]
        client.create(
            {"apiVersion": POLICIES[0], "kind": "ClusterPolicy", "metadata": {"name": name}, "spec": spec}
        )


def network_operator(world: World) -> None:
    """Let another team request the network operator, which needs the labels of NFD."""
    name = "nvidia-network-operator"
    subscribe(world.cluster.client, name)


def subscribe(client: Client, name: str) -> None:
    spec = {
        "name": name,
        "channel": "stable",
        "source": "certified-operators",
        "sourceNamespace": "openshift-marketplace",
        "installPlanApproval": "Manual",
    }
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    client.apply(
        {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "Subscription",
            "metadata": {"name": name, "namespace": name},
            "spec": spec,
        }
    )


def scaled_by_hand(world: World) -> None:
    """Let somebody scale a machine set with `oc scale`: one machine more in the first zone."""
    before = len(world.nodes)
    if before > 2:
        return
    chosen = world.machine_sets()[0]
    path = (
        f"/apis/{MACHINE_SETS[0]}/namespaces/{MACHINE_SETS[2]}/machinesets/{chosen['metadata']['name']}/scale"
    )
    world.cluster.client.acting("kubectl/v1.36").checked(
        "PATCH",
        path,
        {"spec": {"replicas": chosen["spec"]["replicas"] + 1}},
        "application/merge-patch+json",
        {"fieldManager": "kubectl-scale"},
    )
    until(lambda: len(world.nodes) == before + 1, "another node")


def lease_held(world: World) -> None:
    """Let a run on another machine hold the lease, for longer than a run on a busy machine needs to look."""
    hold(world.cluster.client, ago=-90)


def killed_before(world: World) -> None:
    """Kill a replacement of the first node after its cordon, while a disruption budget holds up its drain."""
    gpu_pods_with_budget(world)
    start = world.audit.position()
    kill_playbook(
        world.demo,
        lambda: "patch nodes" in world.audit.written(start),
        "replace_node",
        gpu_node=world.nodes[0],
        gpu_machine_uid=uid_of(world, world.nodes[0]),
        gpu_on_busy="drain",
    )
    world.cluster.client.delete(*BUDGETS, "trainer", SPACE)
    delete_pods(world)


def argo_cd(world: World) -> None:
    """Let Argo CD own what the actions change, with the values that are there."""
    policy = world.cluster.client.list(*POLICIES)[0]
    daemon_sets = {"tolerations": policy["spec"].get("daemonsets", {}).get("tolerations", [])}
    owned_by_argo(
        world.cluster.client,
        POLICIES[1],
        policy,
        {"driver": {"rdma": {"enabled": False}}, "daemonsets": daemon_sets},
    )
    for one in world.machine_sets():
        disks = one["spec"]["template"]["spec"]["providerSpec"]["value"]["blockDevices"]
        template = {"spec": {"providerSpec": {"value": {"blockDevices": disks}}}}
        spec = {"replicas": one["spec"]["replicas"], "template": template}
        owned_by_argo(world.cluster.client, MACHINE_SETS[1], one, spec)


def owned_by_argo(client: Client, plural: str, live: Data, spec: Data) -> None:
    """Apply a part of an object's spec as Argo CD does."""
    metadata = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    mine = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata, "spec": spec}
    space = f"namespaces/{metadata['namespace']}/" if "namespace" in metadata else ""
    client.acting("argocd-controller").checked(
        "PATCH",
        f"/apis/{live['apiVersion']}/{space}{plural}/{metadata['name']}",
        mine,
        "application/apply-patch+yaml",
        {"fieldManager": "argocd-controller", "force": "true"},
    )


# Situations that leave nothing behind; after another one the cluster gets its first state back.
UNDO: t.Final[dict[str, Situation]] = {
    "idle": idle,
    "GPU pods run": delete_pods,
    "a foreign ClusterPolicy": lambda world: world.cluster.client.delete(*POLICIES, FOREIGN),
    "another run holds the lease": lambda world: world.cluster.client.delete(*LEASE),
}
# What others have. Only remove_gpus asks for it.
OTHERS: t.Final = ("another file has a pool", "a foreign ClusterPolicy", "a foreign network operator")
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
