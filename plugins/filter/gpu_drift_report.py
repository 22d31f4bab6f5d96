# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the report of drift.yml."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_drift_report
short_description: Report what differs between the cluster and the pools
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Joins the result of M(accelerators.openshift.gpu_plan) with the results of the other modules in check mode
    with diff, as data and as the lines of a table.
  - A label or annotation of this collection that an object of somebody else lacks is no difference.
positional: steps
options:
  _input:
    description: The plan, RV(accelerators.openshift.gpu_plan#module:plan).
    type: dict
    required: true
  steps:
    description:
      - Results in check mode with diff, by the name of their step. Each is one result, the result of a loop,
        or a list of results. A failed result is a finding too.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what differs
  ansible.builtin.debug:
    msg: "{{ (gpu_plan_result.plan | accelerators.openshift.gpu_drift_report(steps)).table }}"
  vars:
    steps: {nodes: "{{ gpu_node_pool_result }}"}
"""

RETURN = r"""
_value:
  description:
    - C(verdict) is V(none), V(found), or V(unknown) if a step failed and no other step found a difference.
    - C(code) is empty, C(DRIFT-FOUND) or C(DRIFT-UNKNOWN). C(message) says it in one sentence.
    - C(findings) has one entry for each object. Its C(kind) is V(missing), V(changed), V(surplus) (this
      collection made it, and the pools do not have it), V(nodes) (the number of nodes is not the number of
      machines), or V(refused) (the step failed).
    - C(fields) of a finding has the C(live) and the C(wanted) value of each field.
    - C(command) of a finding puts it right. C(commands) has each of them once. For an object that another
      tool keeps, such as Argo CD, C(manager) names the tool, there is no command, and a warning says to
      change it there.
    - C(warnings) has the warnings of all steps. C(table) has all of it as text.
    - C(brief) has the same keys, but only as much as a job event of AWX can hold. Its C(left_out) is the
      number of findings that it does not have. The table is bounded too.
  type: dict
  sample:
    verdict: found
    code: DRIFT-FOUND
    message: "1 object differs from gpu_pools: ClusterPolicy gpu-cluster-policy."
    findings:
      - pool: ""
        step: stack
        kind: changed
        object: ClusterPolicy gpu-cluster-policy
        fields: [{field: spec.dcgm.enabled, live: false, wanted: true}]
        message: ""
        command: >-
          ansible-playbook accelerators.openshift.enable_gpus -e @FILE --tags gpu_operator
          -e gpu_operator_adopt=take
    commands:
      - >-
        ansible-playbook accelerators.openshift.enable_gpus -e @FILE --tags gpu_operator
        -e gpu_operator_adopt=take
    warnings: []
    left_out: 0
    brief: {verdict: found, left_out: 0}
    table:
      - POOL  OBJECT                            FIELD              LIVE   WANTED
      - all   ClusterPolicy gpu-cluster-policy  spec.dcgm.enabled  false  true
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.plugin_utils._filters import checked


@checked("gpu_drift_report", "a plan (gpu_plan_result.plan) and steps, a mapping of results by name")
def gpu_drift_report(plan: t.Mapping[str, t.Any], steps: t.Mapping[str, t.Any]) -> t.Any:
    """Return the report as data and as a table."""
    # Ansible loads every filter of a collection with the first one, in each task, and compiles it.
    from ansible_collections.accelerators.openshift.plugins.module_utils._drift.report import report

    return report(plan, steps)


class FilterModule:
    """The filter gpu_drift_report."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"gpu_drift_report": gpu_drift_report}
