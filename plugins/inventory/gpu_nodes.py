# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU nodes of a cluster as hosts of an inventory."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_nodes
short_description: The GPU nodes of a cluster as hosts of an inventory
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Makes a host of each node that belongs to a pool of this collection, that Node Feature Discovery or the
    GPU operator has labelled, or that offers GPUs. Groups the hosts by pool, model, driver, MIG geometry,
    health and zone.
  - The inventory's file has a name that ends with C(gpu_nodes.yml) or C(gpu_nodes.yaml).
  - Reads the cluster and changes nothing. It lists nodes once, and asks for ResourceSlices only if a GPU node
    offers no devices. Connection options that you do not set come from the environment (C(K8S_AUTH_*),
    C(KUBECONFIG)), as for the modules.
  - What nodes say about themselves is never a template, whatever it contains.
extends_documentation_fragment:
  - accelerators.openshift._auth
  - constructed
  - inventory_cache
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [accelerators.openshift.gpu_nodes]
  pool:
    description: Only nodes of this pool.
    type: str
  label_selector:
    description: Only nodes that match this label selector.
    type: str
  requested:
    description:
      - Whether to count the devices that pods request and that are free. The plugin then lists all pods of
        the cluster that have not ended, and ResourceClaims if there are ResourceSlices.
    type: bool
    default: false
  annotations:
    description: Whether the hosts have the annotations of their nodes too.
    type: bool
    default: false
  address:
    description: The type of the node's address that becomes C(ansible_host). V(none) sets none.
    type: str
    choices: [InternalIP, ExternalIP, Hostname, InternalDNS, ExternalDNS, none]
    default: InternalIP
  create_groups:
    description:
      - Whether to create the groups C(gpu_pool_POOL), C(gpu_model_MODEL), C(gpu_driver_VERSION),
        C(gpu_mig_GEOMETRY), C(gpu_health_HEALTH) and C(gpu_zone_ZONE). In the names of groups each character
        that is no letter and no digit becomes C(_).
      - All hosts are in the group C(gpu_nodes).
    type: bool
    default: true
notes:
  - The hosts have these variables. RV(ignore:node_pool), RV(ignore:node_zone), RV(ignore:node_instance_type),
    RV(ignore:node_model) and RV(ignore:node_driver_version) are empty if nothing says them.
  - RV(ignore:node_mig) is the name of the MIG configuration (the label C(nvidia.com/mig.config)), and
    RV(ignore:node_mig_state) how far it is.
  - RV(ignore:node_health) is V(healthy), V(faulty) or V(not_ready); RV(ignore:node_faults) lists what is
    wrong. A cordoned node can be healthy; RV(ignore:node_schedulable) is then false.
  - RV(ignore:node_allocatable) has the device resources with their numbers; with O(requested) there are
    RV(ignore:node_requested) and RV(ignore:node_free) too. Nothing is free on a node that is cordoned or not
    Ready.
  - RV(ignore:node_labels), RV(ignore:node_taints), RV(ignore:node_provider_id) and RV(ignore:node_machine),
    NAMESPACE/NAME of its Machine, are as the node has them. RV(ignore:node_annotations) needs O(annotations).
"""

EXAMPLES = r"""
# training.gpu_nodes.yml. Only the key plugin is required: without kubeconfig the connection comes from the
# environment, and without pool the hosts are the GPU nodes of all pools. The rest adds free devices, groups,
# variables of your own, and a cache in files.
plugin: accelerators.openshift.gpu_nodes
kubeconfig: ~/.kube/gpu-cluster
pool: training
requested: true
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: ~/.ansible/gpu_nodes
cache_timeout: 300
strict: true
keyed_groups:
  - key: node_instance_type
    prefix: type
    default_value: unknown
groups:
  idle: node_free.get('nvidia.com/gpu', 0) == node_allocatable.get('nvidia.com/gpu', 0)
compose:
  ansible_user: "'core'"
  gpus: node_allocatable.get('nvidia.com/gpu', 0)
"""

import json
import os
import typing as t

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    MIG_CONFIG,
    MIG_STATE,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import pool_of
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import AUTH
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    devices,
    formatting,
    free,
    free_steps,
    node as node_facts,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import findings
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _lookups

Host = dict[str, t.Any]
NAME: t.Final = "accelerators.openshift.gpu_nodes"
ENDS: t.Final = tuple(f"gpu_nodes.{extension}" for extension in ("yml", "yaml"))
EVERY: t.Final = "gpu_nodes"
# Prefix of a group -> variable of the host.
GROUPS: t.Final = {
    "gpu_pool": "node_pool",
    "gpu_model": "node_model",
    "gpu_driver": "node_driver_version",
    "gpu_mig": "node_mig",
    "gpu_health": "node_health",
    "gpu_zone": "node_zone",
}
# Options on which the cached hosts depend, and variables of the environment that choose the cluster.
_CACHED_BY: t.Final = (
    "host",
    "kubeconfig",
    "context",
    "pool",
    "label_selector",
    "requested",
    "annotations",
    "address",
)
_CLUSTER: t.Final = ("K8S_AUTH_HOST", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_CONTEXT", "KUBECONFIG")
_MACHINE: t.Final = "machine.openshift.io/machine"


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):  # type: ignore[misc]
    """The inventory gpu_nodes."""

    NAME = NAME

    def verify_file(self, path: str) -> bool:
        """Return whether the file can be read and its name is one of this plugin."""
        return bool(super().verify_file(path)) and path.endswith(ENDS)

    def parse(self, inventory: t.Any, loader: t.Any, path: str, cache: bool = True) -> None:
        """Add the hosts and groups. Raise AnsibleParserError for a wrong option or a failed request."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            self._add(self._hosts(path, cache))
        except AcceleratorError as exc:
            # Ansible repeats the message of a cause.
            raise AnsibleParserError(_lookups.message(exc, None)) from None

    def _hosts(self, path: str, cache: bool) -> list[Host]:
        """Return the hosts from the cache, else from the cluster. cache: False to read the cluster anyway."""
        asked = [
            *map(self.get_option, _CACHED_BY),
            *map(os.environ.get, _CLUSTER),
        ]
        key = self.get_cache_key(f"{path} {json.dumps(asked, default=str)}")
        wants_cache = bool(self.get_option("cache"))
        if cache and wants_cache:
            try:
                return t.cast(list[Host], self._cache[key])
            except KeyError:
                pass  # Expired, or never filled.
        found = look(self.get_options())
        if wants_cache:
            self._cache[key] = found
        return found

    def _add(self, hosts: list[Host]) -> None:
        """Add each host with its variables and groups. No text of a node is a template."""
        strict = self.get_option("strict")
        self.inventory.add_group(EVERY)
        for found in wrap_var(hosts):
            host, variables = str(found["name"]), found["variables"]
            self.inventory.add_host(host, group=EVERY)
            for name, value in variables.items():
                self.inventory.set_variable(host, str(name), value)
            for prefix, name in GROUPS.items() if self.get_option("create_groups") else ():
                if variables[name]:
                    group = self.inventory.add_group(self._sanitize_group_name(f"{prefix}_{variables[name]}"))
                    self.inventory.add_child(group, host)
            self._set_composite_vars(self.get_option("compose"), variables, host, strict=strict)
            self._add_host_to_composed_groups(self.get_option("groups"), variables, host, strict=strict)
            self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, host, strict=strict)


def look(options: t.Mapping[str, t.Any]) -> list[Host]:
    """Return C(name) and C(variables) of each GPU node, sorted by name."""
    auth = {name: options.get(name) for name in AUTH.options}
    with _lookups.connected(auth, "gpu_nodes") as api:
        return read(api, options)


def read(api: Api, options: t.Mapping[str, t.Any]) -> list[Host]:
    """Do what look says, with this Api."""
    found = _lookups.gpu_nodes(api, options["pool"], options["label_selector"])
    offering, slices = free_steps.offering(api, found)
    counts: dict[str, Host] = {}
    if options["requested"]:
        rows = free.by_node(offering, free_steps.holders(api, slices))
        counts = {row["name"]: {"node_requested": row["requested"], "node_free": row["free"]} for row in rows}
    hosts = [
        {
            "name": node_facts.name(node),
            "variables": {
                **variables(node, offered, options),
                **counts.get(node_facts.name(node), {}),
            },
        }
        for node, offered in zip(found, offering, strict=True)
    ]
    return sorted(hosts, key=lambda host: str(host["name"]))


def variables(node: KubeObject, offered: KubeObject, options: t.Mapping[str, t.Any]) -> Host:
    """Return the variables of the host. offered: the node as a device plugin would present it."""
    spec, marks = node.get("spec") or {}, labels(node)
    notes = node["metadata"].get("annotations") or {}
    health, faults = health_of(node, offered)
    found = {
        "node_pool": pool_of(node),
        "node_zone": formatting.zone(node),
        "node_instance_type": formatting.instance_type(node),
        "node_model": devices.product(node),
        "node_driver_version": devices.driver_version(offered),
        "node_mig": marks.get(MIG_CONFIG, ""),
        "node_mig_state": marks.get(MIG_STATE, ""),
        "node_schedulable": not node_facts.is_cordoned(node),
        "node_health": health,
        "node_faults": faults,
        "node_allocatable": devices.resources(offered),
        "node_labels": marks,
        "node_taints": spec.get("taints") or [],
        "node_provider_id": spec.get("providerID") or "",
        "node_machine": notes.get(_MACHINE, ""),
    }
    if options["annotations"]:
        found["node_annotations"] = notes
    addresses = (node.get("status") or {}).get("addresses") or []
    address = next((one["address"] for one in addresses if one.get("type") == options["address"]), "")
    return {**found, "ansible_host": address} if address else found


def health_of(node: KubeObject, offered: KubeObject) -> tuple[str, list[str]]:
    """Return healthy, faulty or not_ready, and what is wrong."""
    expected = findings.wanted(offered)
    faults = findings.faults(offered, expected) or ([] if expected else ["no device is allocatable"])
    if not node_facts.is_ready(node):
        return "not_ready", faults
    return "faulty" if faults else "healthy", faults
