# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fill a new sandbox with the scenario's cluster, as if OpenShift's installer had just finished."""

from __future__ import annotations

import typing as t
from concurrent.futures import ThreadPoolExecutor

from openshift_sandbox.client import ApiError, Client, resource_path
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.seed import (
    cluster as seed_cluster,
    mirrored,
    more_sets,
    names as seed_names,
    special_resources,
    tuning,
    upstream_nfd as seed_upstream_nfd,
    virtualization,
)
from openshift_sandbox.seed.nodes import CONTROL_PLANE_TAINT, Object, machine, machine_set, node_manifest
from openshift_sandbox.seed.platforms import baremetal
from openshift_sandbox.seed.platforms.registry import platform

__all__ = ("node_manifest", "seed")


def seed(client: Client, scenario: Scenario) -> None:
    """Create all objects. Safe to repeat: existing objects are kept, and their statuses are written again."""
    cluster = dict(scenario.cluster)
    absent = tuple(f"{group}/" for group in cluster.get("absent_groups", []))
    _put_all(client, seed_cluster.namespaces())
    _put_all(
        client,
        [
            one
            for one in (*seed_cluster.objects(cluster), *mirrored.policies(cluster))
            if not one["apiVersion"].startswith(absent)
        ],
    )
    if cluster["platform"] == "BareMetal":
        cluster |= {
            "host_uids": {
                one["metadata"]["name"]: one["metadata"]["uid"]
                for one in _put_all(client, baremetal.hosts(cluster))
            }
        }
    sets = _put_all(client, machine_sets(cluster)) if has_machine_api(cluster) else []
    by_name = {one["metadata"]["name"]: one for one in sets}
    pairs = [*machines(cluster, by_name), *more_sets.members(cluster, by_name)]
    nodes = [*other_nodes(cluster), *(node for node, _machine in pairs)]
    if tuning.GROUP in cluster.get("absent_groups", []):
        _put_all(client, nodes)
    else:
        _put_all(client, [tuned(cluster, node) for node in nodes])
        [default] = _put_all(client, [tuning.default_tuned()])
        _put_all(client, tuning.profiles(cluster, nodes, default))
    upstream_nfd = seed_upstream_nfd.objects(cluster)
    _put_all(client, upstream_nfd[:1])
    _put_all(client, upstream_nfd[1:])
    _put_all(client, special_resources.objects(cluster))
    _put_all(client, virtualization.namespaces(cluster))
    _put_all(client, virtualization.objects(cluster))
    if has_machine_api(cluster):
        _put_all(client, [*(one for _node, one in pairs), seed_cluster.termination_handler()])


def tuned(cluster: Object, node: Object) -> Object:
    """Return a Node with the annotations of its TuneD daemon; Windows has none."""
    if not tuning.is_linux(node):
        return node
    annotations = node["metadata"]["annotations"] | tuning.node_annotations(cluster)
    return node | {"metadata": node["metadata"] | {"annotations": annotations}}


def has_machine_api(cluster: Object) -> bool:
    """Return whether the cluster has the Machine API."""
    return "machine.openshift.io" not in cluster.get("absent_groups", [])


def machine_sets(cluster: Object) -> list[Object]:
    """Return the installer's MachineSets: one per zone."""
    workers = cluster["workers"]
    if not workers.get("machine_sets", True):
        return []
    where, kind, count = platform(cluster), workers["instance_type"], workers["replicas_per_zone"]
    made = [
        machine_set(
            cluster,
            where.machine_set(cluster, zone),
            where.provider_spec(cluster, "worker", zone, kind),
            kind,
            count,
        )
        for zone in cluster["zones"]
    ]
    return mirrored.with_mirrored(cluster, [*made, *more_sets.machine_sets(cluster)])


def machines(cluster: Object, sets: t.Mapping[str, Object]) -> list[tuple[Object, Object]]:
    """Return Nodes with their Machines.

    The control plane over the zones in turn, then each zone's workers.
    """
    where, zones = platform(cluster), cluster["zones"]
    control_plane, workers = cluster["control_plane"], cluster["workers"]
    kind = control_plane["instance_type"]
    wanted = [
        (name, "master", zones[number % len(zones)], kind)
        for number, name in enumerate(seed_names.control_plane(cluster))
    ]
    for zone in zones:
        names = seed_names.members(cluster, where.machine_set(cluster, zone))
        wanted += [(name, "worker", zone, workers["instance_type"]) for name in names]
    return [
        _member(cluster, number, *one, sets.get(where.machine_set(cluster, one[2])))
        for number, one in enumerate(wanted)
    ]


def other_nodes(cluster: Object) -> list[Object]:
    """Return the Nodes that the scenario names, made by neither the installer nor a MachineSet."""
    where, first = platform(cluster), 100
    return [
        node_manifest(
            cluster | {key: one[key] for key in ("kernel", "ostree_version") if key in one},
            name=one["name"],
            instance_type_name=one.get("instance_type", ""),
            zone=one.get("zone", cluster["zones"][0]),
            address=where.address(cluster, one.get("zone", cluster["zones"][0]), first + number),
            provider_id=where.provider_id(cluster, one.get("zone", cluster["zones"][0]), one["name"]),
            role=one.get("role", "worker"),
            labels=one.get("labels"),
            description=one.get("hardware"),
        )
        for number, one in enumerate(cluster.get("nodes", []))
    ]


def _member(
    cluster: Object, number: int, name: str, role: str, zone: str, kind: str, owner: Object | None
) -> tuple[Object, Object]:
    where = platform(cluster)
    address = where.address(cluster, zone, number)
    host = baremetal.host_of(cluster, name) if cluster["platform"] == "BareMetal" else {}
    node = node_manifest(
        cluster,
        name=where.host_name(cluster, name, address),
        instance_type_name=kind,
        zone=zone,
        address=address,
        provider_id=where.provider_id(cluster, zone, name),
        role=role,
        machine=name if has_machine_api(cluster) else None,
        taints=[CONTROL_PLANE_TAINT] if role == "master" else [],
        labels=host.get("node_labels"),
        description=host.get("hardware"),
    )
    made = machine(cluster, name, role, zone, kind, node, owner if role == "worker" else None)
    return node, mirrored.mirrored(made) if role == "worker" and where.machine_set(
        cluster, zone
    ) in mirrored.names(cluster) else made


def _put_all(client: Client, objects: t.Sequence[Object]) -> list[Object]:
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(lambda obj: _put(client, obj), objects))


def _put(client: Client, obj: Object) -> Object:
    name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace")
    plural = client.plural(obj["apiVersion"], obj["kind"])
    try:
        live = client.create(obj)
    except ApiError as error:
        if error.status != 409:
            raise ApiError(error.status, f"{obj['kind']} {name}: {error.message}", error.body) from error
        found = client.get(obj["apiVersion"], plural, name, namespace)
        assert found is not None
        live = found
    if obj.get("status") and obj["kind"] != "Node":  # Nodes are created together with their status
        path = resource_path(obj["apiVersion"], plural, name, namespace) + "/status"
        live = client.checked("PUT", path, live | {"status": obj["status"]})
    return live
