# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the report of plan.yml."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_plan_report
short_description: Report what a run would create, change, remove and drain, its limits and its costs
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Joins the result of M(accelerators.openshift.gpu_plan) with the results of the other modules in check
    mode, as data and as the lines of a table.
  - The report contains only facts from the plan of the pools and from dry runs of the API server.
positional: steps
options:
  _input:
    description: The plan, RV(accelerators.openshift.gpu_plan#module:plan).
    type: dict
    required: true
  steps:
    description:
      - Results in check mode by the name of their step. Each is one result, the result of a loop, or a list
        of results. The step of the machine sets is C(nodes).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what would happen to the pools
  ansible.builtin.debug:
    msg: "{{ (gpu_plan_result.plan | accelerators.openshift.gpu_plan_report(steps)).table }}"
  vars:
    steps: {nodes: "{{ gpu_node_pool_result }}"}
"""

RETURN = r"""
_value:
  description:
    - C(pools) has for each pool the nodes now and then, devices, drift and cost.
    - C(objects) says what would happen to each object (C(create), C(change), C(delete), or C(keep)).
    - C(drained) lists nodes with their machines. C(for) is C(removed) or C(replaced).
    - C(rebooted) lists the nodes that would restart and the object that restarts them. C(no_reboot) says why
      no node restarts.
    - C(autoscaling) has the bounds and GPU limits, C(limits) the limits of the provider's account.
    - C(images) has RV(accelerators.openshift.image_mirrors#module:images) if they come from mirrors.
    - C(leftovers) lists pools, quotas, priority classes and networks that this collection made and that the
      lists do not have, each with the command that removes it.
    - C(quotas), C(cost) of all pools, and C(warnings) complete the report. C(table) has all of it as text.
  type: dict
  sample:
    pools:
      - name: demo
        instance_types: [g4dn.xlarge]
        others: []
        nodes: {now: 0, then: 2}
        devices: 2
        drift: []
        cost: null
    objects:
      - step: nodes
        action: create
        object: MachineSet openshift-machine-api/demo-x7k2p-demo-us-east-2a
        fields: []
    drained: []
    rebooted: []
    no_reboot: The run would write no MachineConfig, ...
    autoscaling: {machine_sets: [], gpu_limits: []}
    limits:
      - limit: Running On-Demand G and VT instances
        is_name: true
        unit: vCPUs
        needs: 8
        pools: [demo]
    quotas: [{namespace: team-a, name: gpu-quota, hard: {requests.nvidia.com/gpu: "2"}}]
    images: []
    cost: null
    leftovers: []
    warnings: []
    table:
      - POOL  INSTANCE TYPE  NODES (now/then)  GPUS  COST/HOUR
      - demo  g4dn.xlarge    0/2               2     -
      - make    MachineSet openshift-machine-api/demo-x7k2p-demo-us-east-2a
      - reboot  no node, as no machine configuration is written
      - limit   8 vCPUs of Running On-Demand G and VT instances (demo)
      - quota   team-a/gpu-quota requests.nvidia.com/gpu 2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._pools.report import report
from ansible_collections.accelerators.openshift.plugins.plugin_utils._filters import checked

READS: t.Final = "a plan (gpu_plan_result.plan) and steps, a mapping of results by name"


class FilterModule:
    """The filter gpu_plan_report."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"gpu_plan_report": checked("gpu_plan_report", READS)(report)}
