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
  - A ClusterPolicy that somebody else made gets only what was asked for and differs.
  - With O(state=absent) the ClusterPolicy is deleted when this collection made it, and the task waits until no operand is left.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._cluster_policy
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
    spec:
      validator: {plugin: {env: [{name: WITH_WORKLOAD, value: "true"}]}}

- name: Take the stack away
  accelerators.openshift.special_resource:
    state: absent
"""

RETURN = r"""
special_resource:
  description: The stack as the cluster holds it. On failure it is what was seen last.
  returned: success, or a failed wait
  type: dict
  sample:
    name: gpu-cluster-policy
    state: ready
    reason: Reconciled
    driver_version: 595.91.07
    nodes:
      - name: gpu-0
        pool: training
        expected: {nvidia.com/gpu: 8}
        allocatable: {nvidia.com/gpu: 8}
        driver_version: 595.91.07
        product: NVIDIA-A100-SXM4-40GB
        operands: [{name: driver, ready: true, pod: nvidia-driver-daemonset-x}]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 74.2
"""

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _cluster_policy as cluster_policy
from ansible_collections.accelerators.openshift.plugins.module_utils import _stack as stack
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._argspec import AUTH, STATE, WAIT, ArgumentSpec
from ansible_collections.accelerators.openshift.plugins.module_utils._cluster_policy_default import example
from ansible_collections.accelerators.openshift.plugins.module_utils._cluster_policy_options import OPTIONS
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import AcceleratorError, KindNotServedError, NotReadyError, WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._node_labels import common_selector
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_pods import explain, suspects
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_rollout import REACTION

SPEC = ArgumentSpec(options=OPTIONS).merge(AUTH, STATE, WAIT)
POLICY = known("ClusterPolicy")


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    cluster_policy.check(params)
    stack.check_pools(params["pools"])
    if params["state"] == "absent":
        return {"special_resource": remove(api, params)}
    settle = max(params["settle"], REACTION if keep(api, params) else 0)
    return {"special_resource": stack.summarize(observe(api, params, settle), params["name"], params["pools"])}


def keep(api: Api, params: dict[str, t.Any]) -> bool:
    """Whether a policy that was there already is a different one now, so that its status may still be that of before."""
    name = params["name"]
    policies = [] if api.check_mode and not api.served(POLICY) else api.list(POLICY)
    cluster_policy.refuse_second(policies, name)
    live = next((entry for entry in policies if entry["metadata"]["name"] == name), None)
    if live is None or owned(live):
        api.apply(cluster_policy.build(params, example(versions(api, params)), live), force_conflicts=live is not None, live=live)
    elif patch := cluster_policy.difference(params, live):
        api.merge_patch(POLICY, name, None, patch)
    return live is not None and bool(api.changes)


def versions(api: Api, params: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    """Installed operators; their annotations hold examples. A cluster without OLM has none."""
    with contextlib.suppress(KindNotServedError):
        return api.list(known("ClusterServiceVersion"), params["namespace"])
    return []


def observe(api: Api, params: dict[str, t.Any], settle: float) -> dict[str, list[dict[str, t.Any]]]:
    queries = {
        "policies": Query(POLICY),
        "nodes": Query(known("Node"), labels=common_selector([pool["node_selector"] for pool in params["pools"]])),
        "daemonsets": Query(known("DaemonSet"), params["namespace"]),
        "pods": Query(known("Pod"), params["namespace"]),
        "revisions": Query(known("ControllerRevision"), params["namespace"]),
        "streams": Query(known("ImageStream"), "openshift", "driver-toolkit"),
    }
    judge = stack.Judge(params, api.clock)
    try:
        return api.wait(queries, judge, "GPU stack", settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        for namespace, pod, container in suspects(judge.seen.get("pods", ())):
            with contextlib.suppress(AcceleratorError):
                explain(exc, pod, container, api.log(namespace, pod, container, tail_lines=60))
        exc.facts["special_resource"] = stack.summarize(judge.seen, params["name"], params["pools"]) if judge.seen else {}
        raise


def remove(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    if api.delete(POLICY, params["name"]):
        queries = {"daemonsets": Query(known("DaemonSet"), params["namespace"]), "pods": Query(known("Pod"), params["namespace"])}
        api.wait(queries, stack.judge_gone, "GPU stack leaves")
    return {"name": params["name"], "state": "absent", "reason": "", "driver_version": "", "nodes": []}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
