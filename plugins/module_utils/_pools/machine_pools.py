# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that are made from outside of the cluster: the command and the NodePool that make a pool's nodes.

The pool then takes the nodes by a label.
"""

from __future__ import annotations

import json
import typing as t

from .._catalogue.well_known import GPU
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._platforms.infrastructure import Infrastructure
from .._platforms.registry import BY_KEY
from .._tuning import entries
from .._tuning.tuned import manifest as tuned
from . import tuning
from .model import Candidate, JsonObject, Market, Pool
from .rules import MACHINES

# The label by which a pool finds its nodes; the tools put it on each node of a machine pool.
LABEL: t.Final = "gpu-pool"
_API: t.Final = "hypershift.openshift.io/v1beta1"
_NAME: t.Final = "CLUSTER_NAME"
# What the cluster does not tell: the word in commands and manifests -> what to put there.
_PLACEHOLDERS: t.Final = {
    _NAME: "the name of this cluster, in a NodePool of its HostedCluster",
    "HUB_NAMESPACE": "the namespace of the HostedCluster",
    "RELEASE_IMAGE": "the release image of the HostedCluster",
    "RESOURCE_GROUP": "the resource group of this cluster",
    "LOCATION": "the region of this cluster",
    "VERSION": "the OpenShift version of this cluster",
    "SUBNET_ID": "the subnet of the nodes",
    "VM_IMAGE_ID": "the image of RHCOS",
    "AGENT_LABEL": "a label that the Agents of the GPU hosts have, with its value",
    "DEVICE_NAME": "the name under which the hosting cluster permits the GPU to virtual machines",
}
# What each tool can say of a pool, beside its name, type, zone, size, labels and taints.
_SAYS: t.Final = {
    "rosa": ("disk.size_gib",),
    "osd": (),
    "aro": ("disk.size_gib", "disk.type"),
    "hosted": ("health", "tuning"),
}
_OF_AWS: t.Final = (
    *("market spot", "market capacity_block", "market.reservation"),
    *("disk.size_gib", "disk.type", "disk.iops"),
)
_RESIZE: t.Final = {
    "rosa": "rosa edit machinepool --cluster {cluster} --replicas {number} {name}",
    "osd": "ocm edit machinepool --cluster {cluster} --replicas {number} {name}",
    "aro": "az aro hcp cluster nodepool update --resource-group RESOURCE_GROUP --cluster-name {cluster} "
    "--name {name} --replicas {number}",
    "hosted": "oc scale nodepool {cluster}-{name} -n HUB_NAMESPACE --replicas {number}",
}
_ON_HUB: t.Final = " on the cluster that hosts the control plane (playbooks/render.yml writes that file)"
_ENDS: t.Final = " Fewer nodes end the pods on those that go."
# ROSA with hosted control planes and ARO take no longer names.
_LONGEST_NAME: t.Final = 15
_LEAST_DISK: t.Final = 120


class Release(t.NamedTuple):
    """The release that the cluster runs."""

    image: str = "RELEASE_IMAGE"
    version: str = "VERSION"


class MachinePool(t.NamedTuple):
    """What makes the nodes of a pool.

    command: of the provider's tool, or what applies the manifests. manifests: for the cluster that hosts the
    control plane; empty if none does. placeholders: what this cluster does not tell, by the word that stands
    for it. left_out: what the pool asks for and the command does not say. ends: what the command ends.
    """

    pool: str
    command: str
    manifests: list[KubeObject]
    placeholders: dict[str, str]
    left_out: list[str]
    ends: str = ""


def file_name(pool: str) -> str:
    """Return the name of the file with the manifests of a pool, in the folder of a render."""
    return f"hub/node-pool-{pool}.yaml"


def existing(entries: t.Mapping[str, t.Any], made: t.Mapping[str, Pool], is_hosted: bool) -> list[JsonObject]:
    """Return the user's pools, those that are `made` with the nodes of a machine pool as existing nodes.

    is_hosted: the control plane is elsewhere, and with it what tunes the nodes.
    """
    dropped = {*MACHINES, *BY_KEY, *(["tuning"] if is_hosted else [])}
    return [
        {key: value for key, value in entry.items() if key not in dropped} | _existing(made[path])
        if path in made
        else entry
        for path, entry in entries.items()
    ]


def _existing(pool: Pool) -> JsonObject:
    gpus = {GPU: pool.candidates[0].gpus_per_node} if pool.sharing else dict(pool.expected)
    taints = [taint.as_result() for taint in pool.taints]
    nodes = {"node_selector": {LABEL: pool.name}, "expected": gpus}
    return {"existing": nodes, **({"taints": taints} if taints else {})}


def make(pool: Pool, cluster: Infrastructure, release: Release, is_resized: bool = False) -> MachinePool:
    """Return what makes the nodes of a pool, or what changes their number."""
    manifests = _manifests(pool, cluster, release.image) if cluster.is_hosted else []
    command = _resize(pool, cluster) if is_resized else _command(pool, cluster, release.version)
    text = command + json.dumps(manifests)
    words = {word: meaning for word, meaning in _PLACEHOLDERS.items() if word in text}
    ends = _ENDS if is_resized else ""
    return MachinePool(pool.name, command, manifests, words, _left_out(pool, cluster), ends)


def refusal(missing: t.Sequence[MachinePool], cluster: Infrastructure) -> AcceleratorError:
    """Return the error for pools whose nodes are not there. Its result has what makes them."""
    first = missing[0]
    words = [word for word in first.placeholders if word in first.command]
    put_in = f" Put in what this cluster does not tell: {', '.join(words)}." if words else ""
    where = _ON_HUB if cluster.tool == "hosted" else ""
    evidence = [f"Pool {one.pool} needs `{one.command}` too." for one in missing[1:]]
    for one in missing:
        evidence += [f"Pool {one.pool}: {word} is {text}." for word, text in one.placeholders.items()]
        if one.left_out:
            evidence.append(f"Pool {one.pool}: the command does not say {', '.join(one.left_out)}.")
        if one.manifests:
            evidence.append(
                f"Pool {one.pool}: machine_pools of this result has its NodePool for the cluster that hosts "
                f"the control plane; playbooks/render.yml writes it to {file_name(one.pool)}."
            )
    remedy = (
        f"Run `{first.command}`{where}.{put_in}{first.ends} When the nodes have joined, run the same again: "
        f"pool {first.pool} takes the nodes with the label {LABEL}={first.pool}."
    )
    facts = {"machine_pools": [one._asdict() for one in missing]}
    why = cluster.obstacle
    return AcceleratorError("MACH-NO-API", remedy=remedy, evidence=evidence, facts=facts, why=why)


def _resize(pool: Pool, cluster: Infrastructure) -> str:
    of_cluster, name = cluster.cluster or _NAME, _name(pool, cluster)
    return _RESIZE[cluster.tool].format(cluster=of_cluster, name=name, number=pool.replicas)


def _name(pool: Pool, cluster: Infrastructure) -> str:
    is_short = cluster.is_hosted and cluster.tool != "hosted"
    return pool.name[:_LONGEST_NAME].rstrip("-") if is_short else pool.name


def _market(pool: Pool) -> Market:
    return pool.candidates[0].market or pool.market


def _labels(pool: Pool) -> dict[str, str]:
    return {**pool.labels, LABEL: pool.name}


def _command(pool: Pool, cluster: Infrastructure, version: str) -> str:
    first, name, of_cluster = pool.candidates[0], _name(pool, cluster), cluster.cluster or _NAME
    if cluster.tool == "hosted":
        return f"oc apply -f {file_name(pool.name)}"
    if cluster.tool == "aro":
        return " ".join(["az aro hcp cluster nodepool create", *_azure_options(pool, name, version)])
    # A machine pool of a hosted cluster is in one zone.
    zones = first.zones[:1] if cluster.is_hosted or len(first.zones) == 1 else ()
    taints = ",".join(f"{taint.key}={taint.value or ''}:{taint.effect}" for taint in pool.taints)
    options = [
        f"--instance-type {first.instance_type}",
        *(f"--availability-zone {zone}" for zone in zones),
        *(["--enable-autoscaling"] if pool.autoscale else []),
        *_size(pool),
        f"--labels {','.join(f'{key}={value}' for key, value in _labels(pool).items())}",
        *([f"--taints {taints}"] if taints else []),
    ]
    if cluster.tool == "osd":
        return f"ocm create machinepool --cluster {of_cluster} {' '.join(options)} {name}"
    if "size_gib" in pool.disk:
        options.append(f"--disk-size {pool.disk['size_gib']}GiB")
    market = _market(pool)
    if market.type == "spot" and not cluster.is_hosted:
        options.append("--use-spot-instances")
        options += [f"--spot-max-price {market.max_price}"] if market.max_price else []
    return f"rosa create machinepool --cluster {of_cluster} --name {name} {' '.join(options)}"


def _azure_options(pool: Pool, name: str, version: str) -> list[str]:
    first = pool.candidates[0]
    labels = ",".join(f"{{key:{key},value:{value}}}" for key, value in _labels(pool).items())
    taints = ",".join(
        "{" + ",".join(f"{key}:{value}" for key, value in taint.as_result().items()) + "}"
        for taint in pool.taints
    )
    return [
        f"--resource-group RESOURCE_GROUP --cluster-name {_NAME} --location LOCATION --name {name}",
        f"--version {version} --vm-size {first.instance_type}",
        *(f"--availability-zone {zone}" for zone in first.zones[:1]),
        *_size(pool),
        f'--labels "[{labels}]"',
        *([f'--taints "[{taints}]"'] if taints else []),
        *([f"--disk-size {pool.disk['size_gib']}"] if "size_gib" in pool.disk else []),
        *([f"--disk-storage-account-type {pool.disk['type']}"] if "type" in pool.disk else []),
    ]


def _size(pool: Pool) -> list[str]:
    if pool.autoscale is None:
        return [f"--replicas {pool.replicas}"]
    return [f"--min-replicas {pool.autoscale.min}", f"--max-replicas {pool.autoscale.max}"]


def _left_out(pool: Pool, cluster: Infrastructure) -> list[str]:
    """Return what the pool asks for and the tool cannot say, in the words of gpu_pools."""
    first, market = pool.candidates[0], _market(pool)
    asked = {
        "the candidates after the first": len(pool.candidates) > 1,
        "the zones after the first": cluster.is_hosted and len(first.zones) > 1,
        f"market {market.type}": market.type != "on_demand",
        "market.reservation": bool(market.reservation),
        **{f"disk.{key}": True for key in pool.disk},
        "provider_spec_patch": bool(first.patch),
        **{key: bool(options) for key, options in first.options.items()},
        "health": pool.health not in (None, False),
        "pre_drain_hook": pool.pre_drain_hook,
        "tuning": bool(pool.tuning) and cluster.is_hosted,
    }
    said = {*_SAYS[cluster.tool]}
    if cluster.tool == "hosted" and cluster.platform == "AWS":
        said |= {*_OF_AWS}
    if cluster.tool == "rosa" and not cluster.is_hosted:
        said.add("market spot")
    return [key for key, is_asked in asked.items() if is_asked and key not in said]


def _manifests(pool: Pool, cluster: Infrastructure, image: str) -> list[KubeObject]:
    """Return the NodePool of a pool, and before it the ConfigMap with the pool's Tuned."""
    of_cluster = cluster.cluster or _NAME
    metadata = {"name": f"{of_cluster}-{pool.name}", "namespace": "HUB_NAMESPACE"}
    tunings = [_tuning(pool, metadata)] if pool.tuning else []
    first, is_agent = pool.candidates[0], cluster.platform in ("None", "")
    # A spare machine with GPUs is rarely free: a node goes before the next one comes.
    rolling = {"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    upgrade = {"upgradeType": "InPlace"} if is_agent else {"upgradeType": "Replace", "replace": rolling}
    size = {"autoScaling": pool.autoscale.as_result()} if pool.autoscale else {"replicas": pool.replicas}
    spec: KubeObject = {
        "clusterName": of_cluster,
        "release": {"image": image},
        "arch": first.arch,
        **size,
        "management": {**upgrade, "autoRepair": pool.health not in (None, False)},
        # With 0 a drain waits for PodDisruptionBudgets without a limit.
        "nodeDrainTimeout": "0s",
        "nodeLabels": _labels(pool),
        **({"taints": [one.as_result() for one in pool.taints]} if pool.taints else {}),
        "platform": _platform(pool, first, "Agent" if is_agent else cluster.platform),
        **({"tuningConfig": [{"name": one["metadata"]["name"]} for one in tunings]} if tunings else {}),
    }
    return [*tunings, {"apiVersion": _API, "kind": "NodePool", "metadata": metadata, "spec": spec}]


def _tuning(pool: Pool, metadata: t.Mapping[str, str]) -> KubeObject:
    """Return the ConfigMap that gives the nodes of a NodePool their Tuned."""
    given = entries.tuning(
        pool.name, {LABEL: pool.name}, dict(pool.tuning), f"{pool.name}.tuning", tuning.facts(pool.candidates)
    )
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {**metadata, "name": f"{metadata['name']}-tuning"},
        "data": {"tuning": json.dumps(tuned.build(given))},
    }


def _platform(pool: Pool, first: Candidate, kind: str) -> KubeObject:
    """Return the platform of a NodePool. A kind that is not here has only its type."""
    disk = pool.disk
    if kind == "AWS":
        root = {"size": disk.get("size_gib", _LEAST_DISK), "type": disk.get("type", "gp3")}
        root |= {"iops": disk["iops"]} if "iops" in disk else {}
        aws = {"instanceType": first.instance_type, "subnet": {"id": "SUBNET_ID"}, "rootVolume": root}
        return {"type": kind, "aws": {**aws, **_placement(_market(pool))}}
    if kind == "Azure":
        os_disk = {"sizeGiB": disk.get("size_gib", _LEAST_DISK)}
        os_disk |= {"diskStorageAccountType": disk["type"]} if "type" in disk else {}
        image = {"type": "ImageID", "imageID": "VM_IMAGE_ID"}
        zone = {"availabilityZone": first.zones[0]} if first.zones else {}
        azure = {"vmSize": first.instance_type, "subnetID": "SUBNET_ID", **zone}
        return {"type": kind, "azure": {**azure, "image": image, "osDisk": os_disk}}
    if kind == "KubeVirt":
        volume = {"type": "Persistent", "persistent": {"size": f"{disk.get('size_gib', _LEAST_DISK)}Gi"}}
        compute: KubeObject = {"cores": first.vcpus} if first.vcpus else {}
        compute |= {"memory": f"{int(first.memory_gib)}Gi"} if first.memory_gib else {}
        devices = [{"deviceName": "DEVICE_NAME", "count": first.gpus_per_node}]
        return {"type": kind, "kubevirt": {"rootVolume": volume, "compute": compute, "hostDevices": devices}}
    labels = {"matchLabels": {"AGENT_LABEL": "AGENT_LABEL"}}
    return {"type": kind, **({"agent": {"agentLabelSelector": labels}} if kind == "Agent" else {})}


def _placement(market: Market) -> KubeObject:
    """Return how EC2 sells the machines of a NodePool; on demand is the default."""
    spot: KubeObject = {"spot": {"maxPrice": market.max_price}} if market.max_price else {}
    if market.type == "spot":
        return {"placement": {"marketType": "Spot", **spot}}
    if not market.reservation:
        return {}
    kind = "CapacityBlocks" if market.type == "capacity_block" else "OnDemand"
    reserved = {"id": market.reservation, "marketType": kind}
    return {"placement": {"marketType": kind, "capacityReservation": reserved}}
