#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_use
short_description: GPU hours by namespace and owner, and how much of them did nothing
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Asks the monitoring API of the cluster (the Thanos querier) for the metrics of the DCGM exporter, and adds
    up the hours in which pods held GPUs. Writes nothing.
  - Counts a GPU, or a slice of one by MIG, each five minutes. It is I(held) while a pod has it, I(idle) while
    a pod holds it and less than O(idle) percent of it are in use, and I(free) while no pod holds it.
  - The owner of a pod is its controller, such as a Job. For a ReplicaSet it is the Deployment, for the Job of
    a CronJob the CronJob. A pod without a controller is its own owner.
  - Needs a token, since the monitoring API takes no client certificate, and the right to read metrics
    (ClusterRole C(cluster-monitoring-view)).
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  days:
    description:
      - How many days to look back, from 1 to 90. Prometheus keeps 15 days unless its retention is set.
    type: int
    default: 7
  idle:
    description: Percent of use below which a GPU that a pod holds counts as idle, from 1 to 100.
    type: int
    default: 1
  url:
    description:
      - Address of the monitoring API, if it is not the one that the cluster's monitoring operator publishes
        (ConfigMap C(openshift-config-managed/monitoring-shared-config)).
      - With C(http), only an address of this machine, such as that of C(oc port-forward). No token is sent
        there.
    type: str
seealso:
  - module: accelerators.openshift.gpu_monitoring
"""

EXAMPLES = r"""
- name: Report the use of the last week
  accelerators.openshift.gpu_use:

- name: Report yesterday, through `oc port-forward -n openshift-monitoring pod/prometheus-k8s-0 9090`
  accelerators.openshift.gpu_use:
    days: 1
    url: http://127.0.0.1:9090
"""

RETURN = r"""
use:
  description:
    - The report. C(total) is of all GPUs. C(by_day) has the same for each 24 hours, with their end in
      C(until).
    - C(devices), C(namespaces) and C(owners) begin with those that have the most hours. C(use) and C(idle)
      are percent of their hours.
    - C(hours_with_metrics) are the hours of the period for which Prometheus has metrics of any GPU.
  returned: success
  type: dict
  sample:
    total:
      gpu_hours: 1344.0
      held_hours: 820.5
      free_hours: 523.5
      idle_hours: 98.4
      held: 61
      free: 39
      idle: 12
      use: 66
      days: 7
      hours_with_metrics: 168.0
    devices:
      - {device: NVIDIA A100-SXM4-80GB, pods: 12, hours: 1344.0, idle_hours: 622.0, use: 40, idle: 46}
    namespaces:
      - {namespace: research, pods: 9, hours: 700.0, idle_hours: 80.0, use: 70, idle: 11}
    owners:
      - {namespace: lab, kind: Job, name: train, pods: 4, hours: 600.0, idle_hours: 8.0, use: 81, idle: 1}
    by_day:
      - until: "2026-11-23T08:57:30Z"
        gpu_hours: 192.0
        held_hours: 110.0
        free_hours: 82.0
        idle_hours: 14.0
        held: 57
        free: 43
        idle: 13
        use: 64
table:
  description: The same as text, one line for each owner.
  returned: success
  type: list
  elements: str
  sample:
    - 1344.0 GPU hours in 7 days: 61 % held by pods (66 % of that in use, 12 % idle), 39 % held by no pod
left_out:
  description:
    - What the lists of a large result lack. A result has at most 84 KiB, so that it fits into a job event of
      AWX.
    - One entry for each such list, with the C(number) of the entries that are missing, and the C(sums) of
      their numbers.
  returned: when a list was cut
  type: list
  elements: dict
  sample:
    - {list: use.owners, pool: "", number: 380, sums: {hours: 12.5}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 1.4
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._use import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._use.options import GpuUseParams

SPEC = ArgumentSpec(
    options={
        "days": {"type": "int", "default": 7},
        "idle": {"type": "int", "default": 1},
        "url": {"type": "str"},
    }
).merge(AUTH, WAIT)


def ensure(api: Api, params: GpuUseParams) -> dict[str, t.Any]:
    return steps.look(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
