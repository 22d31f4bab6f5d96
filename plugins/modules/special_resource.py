#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: special_resource
short_description: Bring the driver stack to GPU nodes and judge it by what the nodes offer
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Keeps the ClusterPolicy of the NVIDIA GPU Operator, and waits until the stack is really there.
  - C(state=ready) of a ClusterPolicy alone proves nothing. This module waits until it is ready with reason C(Reconciled), every node of O(pools)
    runs a Ready pod of the current revision of every operand that its labels call for, and offers exactly the devices that its pool promises.
  - The spec is the example in the installed operator (C(alm-examples)), or a complete default of our own, then the typed options, then O(spec).
  - An object that somebody else made is only reported, or gets only what was asked for and differs (O(adopt)).
  - Other backends keep other objects and judge them by the same nodes; see O(backend).
  - With O(state=absent) the ClusterPolicy is deleted when this collection made it, and the task waits until no operand is left.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._special_resource
  - accelerators.openshift._cluster_policy
  - accelerators.openshift._nvidia_driver
  - accelerators.openshift._gpu_cluster
  - accelerators.openshift._nic_cluster_policy
  - accelerators.openshift._custom_resource
  - accelerators.openshift._kmm
  - accelerators.openshift._sro
  - kubernetes.core.k8s_auth_options
"""

EXAMPLES = r"""
- name: Bring the stack to a pool of nodes with eight GPUs each
  accelerators.openshift.special_resource:
    tolerations:
      - {key: dedicated, operator: Equal, value: training, effect: NoSchedule}
    mig: {strategy: single}
    pools:
      - name: training
        node_selector: {accelerators.openshift/pool: training}
        replicas: 2
        expected: {nvidia.com/gpu: 8}

- name: Another driver; the three belong together on OpenShift
  accelerators.openshift.special_resource:
    driver:
      repository: nvcr.io/nvidia
      image: driver
      version: 595.91.07
    spec: {validator: {plugin: {env: [{name: WITH_WORKLOAD, value: "true"}]}}}

- name: A kernel module that KMM loads, and its device plugin
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

- name: From a SpecialResource to a Module
  accelerators.openshift.special_resource:
    backend: sro
    name: card
    sro: {migrate_to: kmm, remove: true}
    kmm:
      selector: {example.com/card: "true"}
      module_name: card
      kernel_mappings: [{regexp: '^5\.14', container_image: 'registry.example.com/card:5.14'}]

- name: A driver for each pool
  accelerators.openshift.special_resource:
    backend: nvidiadriver
    driver: {repository: nvcr.io/nvidia, image: driver, version: 595.91.07}
    nvidia_drivers:
      - {name: training}
      - {name: inference, repository: nvcr.io/nvidia, image: driver, version: 580.82.07}
    pools:
      - {name: training, node_selector: {pool: training}, expected: {nvidia.com/gpu: 8}}
      - {name: inference, node_selector: {pool: inference}, expected: {nvidia.com/gpu: 1}}

- name: Devices that pods claim, instead of numbers
  accelerators.openshift.special_resource:
    backend: dra
    pools: [{name: training, node_selector: {pool: training}, expected: {nvidia.com/gpu: 8}}]

- name: The driver of network adapters, and RDMA devices that pods share
  accelerators.openshift.special_resource:
    backend: nicclusterpolicy
    nic_cluster_policy:
      ofed_driver: {}
      rdma_shared_device_plugin: {resources: [{name: rdma_a, link_types: [infiniband]}]}
    pools: [{name: training, node_selector: {pool: training}, expected: {rdma/rdma_a: 63}}]

- name: Take the stack away
  accelerators.openshift.special_resource:
    state: absent
"""

RETURN = r"""
special_resource:
  description:
    - The stack as the cluster holds it. On failure it is what was seen last.
    - C(pools) has each pool by itself; one may be C(ready) while another one failed the task.
      C(others) are nodes outside the pools on which something of the operator is not Ready.
    - C(stages) has, in order, C(catalogue), C(install plan), C(csv), C(crd), and with pools C(nfd labels), C(driver), C(toolkit), C(device plugin),
      C(validator), C(metrics), C(allocatable); other backends have stages of their own in between. C(verdict) is C(ready), C(pending), C(failed), or
      C(waiting) for the stage that C(consequence_of) names. C(since) is the time in UTC that the API tells, empty where it tells none.
      C(nodes) are the nodes that are behind, of C(of) nodes; a node without a name stands for those that a pool lacks.
    - C(lines) is the same as short lines of text.
    - C(differs) and C(manager) are about an object that somebody else made (O(adopt)); C(nvidia_drivers) is told by backends V(nvidiadriver) and V(dra),
      C(nvidia_drivers_unlisted), those of this collection that nothing asks for any more, by V(nvidiadriver).
    - C(components) and C(rebuild), nodes whose GPU driver is older than the NIC driver, are told by V(nicclusterpolicy), C(nodes[].devices) by V(dra).
  returned: success, or a failed wait
  type: dict
  sample:
    backend: clusterpolicy
    name: gpu-cluster-policy
    state: notReady
    reason: OperandNotReady
    driver_version: 595.91.07
    pools:
      - {name: training, ready: true, nodes: 1, nodes_ready: 1, code: "", message: "", remedy: ""}
      - {name: inference, ready: false, nodes: 1, nodes_ready: 0, code: GPU-DRV-CRASH, message: "Node gpu-1: driver: …", remedy: oc logs …}
    others: [{name: gpu-of-somebody, operands: [{name: driver, note: is not Ready}]}]
    stages:
      - {name: catalogue, verdict: ready, since: "2026-11-21T20:01:10Z", evidence: [CatalogSource certified-operators … is READY], consequence_of: ""}
      - name: driver
        verdict: failed
        since: "2026-11-21T21:03:00Z"
        evidence: ["gpu-1: driver is in CrashLoopBackOff (pod nvidia-driver-daemonset-y)"]
        consequence_of: ""
        nodes:
          - {pool: inference, node: gpu-1, verdict: failed, since: "2026-11-21T21:03:00Z", evidence: ["gpu-1: driver is in …"], consequence_of: ""}
        of: 2
      - {name: toolkit, verdict: waiting, since: "2026-11-21T21:02:00Z", evidence: [], consequence_of: driver, nodes: [], of: 2}
    lines:
      - "ready: catalogue, install plan, csv, crd, nfd labels"
      - "driver FAILED since 2026-11-21T21:03:00Z on 1 of 2 nodes: gpu-1: driver is in CrashLoopBackOff (pod nvidia-driver-daemonset-y)"
      - toolkit, device plugin, validator, metrics, allocatable wait for driver
    differs: []
    manager: ""
    nvidia_drivers:
      - {name: training, state: ready, reason: Reconciled, version: 595.91.07, node_selector: {pool: training}, nodes: [gpu-0]}
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
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 74.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import options as stack_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.backend import chosen
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    options as clusterpolicy_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    options as custom_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import options as dra_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import options as kmm_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nic import options as nic_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    options as nvidiadriver_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import options as sro_options

OPTIONS: t.Final = {
    **stack_options.OPTIONS,
    **clusterpolicy_options.OPTIONS,
    **nvidiadriver_options.OPTIONS,
    **dra_options.OPTIONS,
    **nic_options.OPTIONS,
    **custom_options.OPTIONS,
    **kmm_options.OPTIONS,
    **sro_options.OPTIONS,
}
SPEC = ArgumentSpec(options=OPTIONS).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    backend = chosen(params)
    bring = backend.absent if params["state"] == "absent" else backend.present
    return {"special_resource": {"backend": params["backend"], **bring(api, params)}}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
