#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_monitoring
short_description: Alerts, metrics and a dashboard for the GPUs of the cluster
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Gives the DCGM exporter of the GPU operator a list of metrics (a ConfigMap), has Prometheus scrape the
    exporter, and creates alerts (a PrometheusRule) and a dashboard of OpenShift's console (a ConfigMap).
  - Each alert has the error code that playbooks return for the same trouble, and a link to its runbook.
  - With O(console=true) also brings NVIDIA's plugin of the console, as a Deployment with its Service and
    ConsolePlugin.
  - Records the used and the whole memory of each GPU in bytes, which the rules of the GPU operator get wrong.
  - Keeps a list of metrics and a ServiceMonitor that others made. Ends no pod but those of the exporter,
    which begin again with a new list.
  - O(state=absent) removes what this module made, and nothing else.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._lock
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  namespace:
    description: Namespace of the GPU operator.
    type: str
    default: nvidia-gpu-operator
  prometheus:
    description:
      - The Prometheus that scrapes the exporter and evaluates the alerts.
      - With V(platform) the namespace gets the label C(openshift.io/cluster-monitoring=true), unless it has
        it. A later O(state=absent) takes away only a label that this module set.
      - V(user_workload) needs C(enableUserWorkload) in the cluster's monitoring, which the module checks and
        never sets. That Prometheus has no metrics of nodes, quotas and leases, so only the alerts about
        single GPUs exist.
    type: str
    choices: [platform, user_workload]
    default: platform
  metrics:
    description:
      - Further fields that the exporter collects. The module refuses a field that the exporter does not have,
        because it would not start.
    type: list
    elements: str
    default: []
  limits:
    description: When alerts fire.
    type: dict
    suboptions:
      temperature:
        description: Degrees Celsius above which a GPU is hot. The default is 85.
        type: int
      idle:
        description: How long a pod may hold a GPU and not use it. The default is V(1h).
        type: str
      cordoned:
        description: How long a node of a pool may be cordoned. The default is V(1h).
        type: str
      upgrade:
        description: How long a node may stay in one state of a driver upgrade. The default is V(1h).
        type: str
      quota:
        description: Percent of a quota that a namespace may use. The default is 90.
        type: int
      lease:
        description: How long one run may hold the lease of this collection. The default is V(6h).
        type: str
  without:
    description: Names of alerts that the cluster does not get, such as V(GpuIdle).
    type: list
    elements: str
    default: []
  pools:
    description:
      - Pools, each with C(name), C(node_selector), and C(expected) with the devices that each node offers,
        as C(groups) in the plan of M(accelerators.openshift.gpu_plan). Without them there is no alert about
        nodes that offer fewer devices than expected.
    type: list
    elements: dict
    default: []
  dashboard:
    description: Whether the console gets the dashboard.
    type: bool
    default: true
  console:
    description:
      - Whether the console gets NVIDIA's plugin with pages and charts about GPUs. The exporter then collects
        what the plugin shows, and developers get the dashboard too.
      - The plugin enters C(spec.plugins) of Console C(cluster) when its Deployment is available; entries of
        others stay. The console's pods then begin again one after another.
      - With V(false), or O(state=absent), the plugin that this module made goes.
    type: bool
    default: false
  console_image:
    description: Image of the plugin. The default is the release of the plugin for this OpenShift.
    type: str
  url:
    description:
      - Address of the monitoring API, which is asked whether Prometheus reaches the exporters. The default is
        what the cluster's monitoring operator publishes. It needs a token.
      - With C(http), only an address of this machine, such as that of C(oc port-forward).
    type: str
  adopt:
    description:
      - What to do with objects of the same name, with fields of our objects that another field manager set,
        and with a list of metrics that others gave the exporter.
      - V(report) refuses the first two and keeps the list, with a warning. V(take) overwrites them.
    type: str
    choices: [report, take]
    default: report
"""

EXAMPLES = r"""
- name: Monitor the GPUs
  accelerators.openshift.gpu_monitoring:

- name: Let pods hold idle GPUs for four hours, and collect one more metric
  accelerators.openshift.gpu_monitoring:
    limits: {idle: 4h}
    metrics: [DCGM_FI_PROF_SM_ACTIVE]

- name: Monitor the GPUs, and give the console NVIDIA's plugin
  accelerators.openshift.gpu_monitoring:
    console: true

- name: Remove alerts, list and dashboard
  accelerators.openshift.gpu_monitoring:
    state: absent
"""

RETURN = r"""
monitoring:
  description:
    - The monitoring. C(scraped_by) is the ServiceMonitor, C(alerts) the names of the alerts, C(metrics) the
      number of fields that the exporter collects, C(kept) what others set and was kept.
    - C(scraped) is what Prometheus says itself, C(targets) and C(up) with the numbers of exporters that it
      knows and reaches, C(down) and C(without_data) with the pods of those that fail or have no metrics of
      GPUs. Without a token or the right to read metrics C(asked) is false, and C(reason) says why.
    - C(console) is the C(image) of the console plugin, with a C(note) if the console's list of plugins
      changes; empty without the plugin.
    - With O(state=absent) only C(namespace) and C(console).
  returned: success
  type: dict
  sample:
    namespace: nvidia-gpu-operator
    prometheus: platform
    stack: ClusterPolicy gpu-cluster-policy
    scraped_by: nvidia-dcgm-exporter
    scraped: {asked: true, targets: 12, up: 12, down: [], without_data: []}
    alerts: [GpuXid, GpuHot]
    metrics: 31
    kept: []
    console: {image: "quay.io/edge-infrastructure/console-plugin-nvidia-gpu:release-0.3.0"}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.4
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 1.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import adoption
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.options import (
    GpuMonitoringParams,
)

SPEC = ArgumentSpec(
    options={
        "namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "prometheus": {"type": "str", "choices": ["platform", "user_workload"], "default": "platform"},
        "metrics": {"type": "list", "elements": "str", "default": []},
        "limits": {
            "type": "dict",
            "options": {
                "temperature": {"type": "int"},
                "idle": {"type": "str"},
                "cordoned": {"type": "str"},
                "upgrade": {"type": "str"},
                "quota": {"type": "int"},
                "lease": {"type": "str"},
            },
        },
        "without": {"type": "list", "elements": "str", "default": []},
        "pools": {"type": "list", "elements": "dict", "default": []},
        "dashboard": {"type": "bool", "default": True},
        "console": {"type": "bool", "default": False},
        "console_image": {"type": "str"},
        "url": {"type": "str"},
        **adoption.OPTION,
    },
).merge(AUTH, STATE, LOCK, WAIT)


def ensure(api: Api, params: GpuMonitoringParams) -> dict[str, t.Any]:
    return steps.absent(api, params) if params["state"] == "absent" else steps.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
