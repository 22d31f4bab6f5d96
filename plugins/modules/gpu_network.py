#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_network
short_description: Give pods secondary networks, with RDMA and virtual functions
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Makes the objects of each network - those of the NVIDIA network operator (C(MacvlanNetwork),
    C(IPoIBNetwork), C(HostDeviceNetwork), C(IPPool), C(CIDRPool)), those of OpenShift's SR-IOV operator
    (C(SriovNetworkNodePolicy), C(SriovNetwork), C(SriovIBNetwork), C(SriovNetworkPoolConfig)), and
    NetworkAttachmentDefinitions where no operator makes one.
  - Before the first write the module refuses networks that overlap, virtual functions that a card does not
    have, another type of link, a namespace that does not exist, and too few addresses. It asks the webhook of
    the SR-IOV operator about each policy.
  - A new or changed policy drains its nodes one after the other, and may reboot them. The module asks first
    if pods use devices there (O(on_busy)).
  - Waits until each node offers the devices, the SR-IOV operator is done with it, each pool of addresses
    serves it, and each namespace has its NetworkAttachmentDefinition.
  - O(state=absent) deletes what this collection made, and waits until the nodes have given it back.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  networks:
    description:
      - The networks, as C(gpu_networks) has them and as RV(accelerators.openshift.gpu_plan#module:plan)
        returns them in C(networks). The page C(docs/networks.md) describes each key.
      - Each has C(name), C(kind) (V(macvlan), V(ipoib), V(host_device), V(sriov), V(sriov_ib) or V(custom)),
        C(namespaces), and a mapping with the name of its kind.
      - With O(state=absent) a network needs its C(name) alone.
      - C(pools) has names of pools, or maps with C(name) and C(node_selector). C(resource), C(ipam) and
        C(mtu) are optional.
    type: list
    elements: dict
    default: []
  pools:
    description:
      - With O(state=absent), names of pools whose virtual functions go. The networks stay for other pools.
    type: list
    elements: str
    default: []
  adopt:
    description:
      - What to do with fields of our objects that another field manager set. V(report) refuses them with both
        values. V(take) overwrites them, and those of a C(SriovOperatorConfig) that others made.
    type: str
    choices: [report, take]
    default: report
  nic_namespace:
    description: Namespace of the NVIDIA network operator.
    type: str
    default: nvidia-network-operator
  validation_namespace:
    description:
      - Namespace of M(accelerators.openshift.gpu_workload), whose programs measure the traffic of networks.
        If a network is in it, and it does not exist, the module makes it, as that module does.
    type: str
    default: gpu-validation
  wait_for_driver:
    description:
      - Whether the SR-IOV operator sets up a node only when its NIC driver (C(ofedDriver) of the
        NicClusterPolicy) runs. A driver that comes later would take the virtual functions away.
    type: bool
    default: false
  on_busy:
    description:
      - What to do if pods use devices on nodes that the SR-IOV operator would drain or reboot.
      - V(fail) changes nothing and fails with the nodes and the pods. V(drain) lets these pods end. V(wait)
        waits until they have ended by themselves or O(wait_timeout) is over.
    type: str
    choices: [fail, drain, wait]
    default: fail
  grace:
    description: For how many seconds trouble of an operator or of a device plugin may last.
    type: float
    default: 120
seealso:
  - module: accelerators.openshift.gpu_workload
  - module: accelerators.openshift.special_resource
"""

EXAMPLES = r"""
- name: Let pods of a team use a second interface of the nodes
  accelerators.openshift.gpu_network:
    networks:
      - name: storage
        kind: macvlan
        namespaces: [team-a]
        ipam: {type: whereabouts, range: 192.168.100.0/24}
        macvlan: {master: ens1f0np0, mode: bridge}

- name: Give each pod an RDMA device of its own
  accelerators.openshift.gpu_network:
    networks:
      - name: rail-0
        kind: sriov
        pools: [training]
        namespaces: [team-a]
        ipam: {type: nv-ipam, range: 10.10.0.0/16, per_node: 64}
        mtu: 9000
        sriov: {vfs: 8, interfaces: [ens1f0np0]}
    on_busy: wait

- name: Take the networks away
  accelerators.openshift.gpu_network:
    networks: "{{ gpu_plan_result.plan.networks }}"
    state: absent
"""

RETURN = r"""
networks:
  description:
    - Each network with what a pod needs. C(annotation) is the value of C(k8s.v1.cni.cncf.io/networks),
      C(resources) what a container requests.
    - C(nodes) has for each node the devices of the network that it offers; 0 where a network has none.
  returned: success
  type: list
  elements: dict
  sample:
    - name: rail-0
      kind: sriov
      state: ready
      namespaces: [team-a]
      annotation: rail-0
      resources: {openshift.io/rail_0: 1}
      nodes: {gpu-1: 8}
rebooted:
  description: The nodes that the SR-IOV operator drains, and reboots if their cards need it.
  returned: success
  type: list
  elements: str
  sample: [gpu-1]
ends:
  description: What that ends (O(on_busy)), with nodes and pods.
  returned: success
  type: list
  elements: dict
needed_by:
  description: What still needs the SR-IOV operator, with O(state=absent).
  returned: success
  type: list
  elements: str
  sample: [SriovNetwork other-team]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 1.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import adoption
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    ON_BUSY,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import steps

SPEC = ArgumentSpec(
    options={
        "networks": {"type": "list", "elements": "dict", "default": []},
        "pools": {"type": "list", "elements": "str", "default": []},
        **adoption.OPTION,
        "nic_namespace": {"type": "str", "default": "nvidia-network-operator"},
        "wait_for_driver": {"type": "bool", "default": False},
        "grace": {"type": "float", "default": 120},
        "validation_namespace": {"type": "str", "default": "gpu-validation"},
    },
).merge(AUTH, LOCK, ON_BUSY, STATE, WAIT)


def ensure(api: Api, params: steps.GpuNetworkParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
