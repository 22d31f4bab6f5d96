#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: special_resource
short_description: Install the driver stack on GPU nodes and wait until pods can request the GPUs
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Maintains the ClusterPolicy of the NVIDIA GPU Operator, and waits until the stack really works.
  - C(state=ready) of a ClusterPolicy alone proves nothing. This module waits until the ClusterPolicy is ready
    with reason C(Reconciled), and every node of O(pools) runs a Ready pod of the current revision of every
    operand that its labels select, and offers exactly the devices that its pool expects.
  - The spec starts from the example in the installed operator (C(alm-examples)), or from a complete default
    of this collection. The typed options and then O(spec) are merged over it.
  - Only reports a foreign object, or changes only the wanted fields that differ (O(adopt)).
  - Other backends maintain other objects and judge the same nodes. See O(backend).
  - O(state=absent) deletes the ClusterPolicy if this collection created it, and waits until no operand is
    left.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._special_resource
  - accelerators.openshift._cluster_policy
  - accelerators.openshift._nvidia_driver
  - accelerators.openshift._gpu_cluster
  - accelerators.openshift._nic_cluster_policy
  - accelerators.openshift._custom_resource
  - accelerators.openshift._kmm
  - accelerators.openshift._sro
  - accelerators.openshift._auth
"""

EXAMPLES = r"""
- name: Install the stack on a pool of nodes with eight GPUs each
  accelerators.openshift.special_resource:
    tolerations:
      - {key: dedicated, operator: Equal, value: training, effect: NoSchedule}
    mig: {strategy: single}
    pools:
      - name: training
        node_selector: {accelerators.openshift/pool: training}
        replicas: 2
        expected: {nvidia.com/gpu: 8}

- name: Set the driver; on OpenShift the three options belong together
  accelerators.openshift.special_resource:
    driver:
      repository: nvcr.io/nvidia
      image: driver
      version: 595.91.07
    spec: {validator: {plugin: {env: [{name: WITH_WORKLOAD, value: "true"}]}}}

- name: Let KMM load a kernel module, and run its device plugin
  accelerators.openshift.special_resource:
    backend: kmm
    name: card
    kmm:
      module_name: card
      kernel_mappings:
        - regexp: '^5\.14\.0-.*\.el9'
          container_image: 'registry.example.com/card:${KERNEL_FULL_VERSION}'
      device_plugin: {image: 'registry.example.com/card-plugin:1'}
    pools: [{name: cards, node_selector: {example.com/card: "true"}, expected: {example.com/card: 2}}]

- name: Migrate from a SpecialResource to a Module
  accelerators.openshift.special_resource:
    backend: sro
    name: card
    sro: {migrate_to: kmm, remove: true}
    kmm:
      selector: {example.com/card: "true"}
      module_name: card
      kernel_mappings: [{regexp: '^5\.14', container_image: 'registry.example.com/card:5.14'}]

- name: Set a driver for each pool
  accelerators.openshift.special_resource:
    backend: nvidiadriver
    driver: {repository: nvcr.io/nvidia, image: driver, version: 595.91.07}
    nvidia_drivers:
      - {name: training}
      - {name: inference, repository: nvcr.io/nvidia, image: driver, version: 580.82.07}
    pools:
      - {name: training, node_selector: {pool: training}, expected: {nvidia.com/gpu: 8}}
      - {name: inference, node_selector: {pool: inference}, expected: {nvidia.com/gpu: 1}}

- name: Let pods claim GPUs as devices
  accelerators.openshift.special_resource:
    backend: dra
    pools: [{name: training, node_selector: {pool: training}, expected: {nvidia.com/gpu: 8}}]

- name: Install the driver of network adapters, and share RDMA devices among pods
  accelerators.openshift.special_resource:
    backend: nicclusterpolicy
    nic_cluster_policy:
      ofed_driver: {}
      rdma_shared_device_plugin: {resources: [{name: rdma_a, link_types: [infiniband]}]}
    pools: [{name: training, node_selector: {pool: training}, expected: {rdma/rdma_a: 63}}]

- name: Remove the stack
  accelerators.openshift.special_resource:
    state: absent
"""

RETURN = r"""
special_resource:
  description:
    - The stack as the cluster holds it. On failure, the last state that the task saw.
    - C(pools) has one entry per pool. A pool may be C(ready) while another pool failed the task. C(others)
      lists nodes outside the pools with an operand that is not Ready.
    - C(stages) has, in order, C(catalogue), C(install plan), C(csv), C(crd), and with pools C(nfd labels),
      C(driver), C(toolkit), C(device plugin), C(validator), C(metrics), C(allocatable). Other backends have
      their own stages in between. C(verdict) is C(ready), C(pending), C(failed), or C(waiting) for the stage
      that C(consequence_of) names. C(since) is the time in UTC from the API, or empty. C(nodes) lists the
      nodes that are not ready, of C(of) nodes. A node without a name stands for the nodes that a pool lacks.
    - C(table) has the same as short lines of text.
    - C(pools[].closed) names new nodes of a gated pool that do not pass, each with C(code), C(message) and
      C(remedy). They count as ready, because the validation comes later.
    - C(differs) and C(manager) describe a foreign object (O(adopt)).
    - C(ends) has what the write ends (O(on_busy)). Each entry says why (C(because)), by whom (C(by)), in what
      order, whether that is certain, on which nodes, and which pods with devices. A failure with the code
      C(GPU-BUSY) or C(NIC-BUSY) has it as a key C(ends) of the task's result.
    - Backends V(clusterpolicy) and V(nvidiadriver) return C(permits) for pools of virtual machines. Each
      entry has C(device) (PCI id or type of vGPU), C(resource), which is C(deviceName) of a virtual machine,
      and C(provider).
    - Backends V(nvidiadriver) and V(dra) return C(nvidia_drivers). Backend V(nvidiadriver) also returns
      C(nvidia_drivers_unlisted), the drivers of this collection that no option lists any more.
    - Backend V(nicclusterpolicy) returns C(components) and C(rebuild), the nodes whose GPU driver is older
      than the NIC driver. Backend V(dra) returns C(nodes[].devices).
  returned: success, or a failed wait
  type: dict
  sample:
    backend: clusterpolicy
    name: gpu-cluster-policy
    state: notReady
    reason: OperandNotReady
    driver_version: 595.91.07
    pools:
      - {name: training, ready: true, nodes: 1, nodes_ready: 1, code: "", message: "", remedy: "",
         closed: []}
      - name: inference
        ready: false
        nodes: 1
        nodes_ready: 0
        code: GPU-DRV-CRASH
        message: "Node gpu-1: driver: …"
        remedy: oc logs …
    others: [{name: gpu-of-somebody, operands: [{name: driver, note: is not Ready}]}]
    stages:
      - name: catalogue
        verdict: ready
        since: "2026-11-21T20:01:10Z"
        evidence: [CatalogSource certified-operators … is READY]
        consequence_of: ""
      - name: driver
        verdict: failed
        since: "2026-11-21T21:03:00Z"
        evidence: ["gpu-1: driver is in CrashLoopBackOff (pod nvidia-driver-daemonset-y)"]
        consequence_of: ""
        nodes:
          - pool: inference
            node: gpu-1
            verdict: failed
            since: "2026-11-21T21:03:00Z"
            evidence: ["gpu-1: driver is in …"]
            consequence_of: ""
        of: 2
      - name: toolkit
        verdict: waiting
        since: "2026-11-21T21:02:00Z"
        evidence: []
        consequence_of: driver
        nodes: []
        of: 2
    table:
      - "ready: catalogue, install plan, csv, crd, nfd labels"
      - >-
        driver FAILED since 2026-11-21T21:03:00Z on 1 of 2 nodes: gpu-1: driver is in CrashLoopBackOff
        (pod nvidia-driver-daemonset-y)
      - toolkit, device plugin, validator, metrics, allocatable wait for driver
    differs: []
    manager: ""
    ends: []
    permits: [{device: "10DE:1EB8", resource: nvidia.com/TU104GL_TESLA_T4, provider: operator}]
    nvidia_drivers:
      - name: training
        state: ready
        reason: Reconciled
        version: 595.91.07
        node_selector: {pool: training}
        nodes: [gpu-0]
    nodes:
      - name: gpu-0
        pool: training
        expected: {nvidia.com/gpu: 8}
        allocatable: {nvidia.com/gpu: 8}
        driver_version: 595.91.07
        product: NVIDIA-A100-SXM4-40GB
        kernel:
          running: 5.14.0-570.12.1.el9_6.x86_64
          labelled: 5.14.0-570.12.1.el9_6.x86_64
          os: {image: 9.8.20260801-0, ostree: 9.8.20260801-0, rhel: "9.8", openshift: "4.22"}
          toolkit: quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:7d2f
          daemonset: nvidia-driver-daemonset-9.8.20260801-0
          image: nvcr.io/nvidia/driver:595.91.07
          source: toolkit
          fits: true
          misfit: {}
          waits_at: ""
        operands: [{name: driver, ready: true, pod: nvidia-driver-daemonset-x}]
left_out:
  description:
    - What the lists of a large result lack. A result has at most 84 KiB, so that it fits into a job event of
      AWX. A list that is cut begins with what is not right.
    - One entry for each such list and each pool in it, with the C(number) of the entries that are missing,
      and the C(sums) of their numbers.
  returned: when a list was cut
  type: list
  elements: dict
  sample:
    - list: special_resource.nodes
      pool: training
      number: 380
      sums: {expected: {nvidia.com/gpu: 3040}, allocatable: {nvidia.com/gpu: 3040}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 74.2
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

import typing as t

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
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.backend import OPTIONS, choose

SPEC = ArgumentSpec(options=OPTIONS).merge(AUTH, LOCK, ON_BUSY, STATE, WAIT)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    backend, complete = choose(params)
    steps = backend.absent if complete.state == "absent" else backend.present
    return {"special_resource": {"backend": complete.backend, **steps(api, complete)}}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
