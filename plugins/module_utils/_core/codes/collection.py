# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes about runs of playbooks, monitoring and its alerts, and the collection itself."""

from __future__ import annotations

import typing as t

from .code import Code

RUN: t.Final = (
    Code(
        "RUN-LOCKED",
        "Another run holds the lease of this cluster: it changes nodes or the stack now, or it has ended and "
        "this task has not watched the lease for 30 seconds. The message names who started it, and where.",
        "Run the playbook again after that run, or set `gpu_lock_timeout` (seconds) to wait for it, 60 if it "
        "has ended.",
    ),
    Code(
        "RUN-LOST",
        "This run did not renew its lease for 30 seconds, and another run took it over.",
        "Run the playbook again after the other run: "
        "`oc get lease -n default accelerators-openshift -o yaml` names the holder.",
    ),
    Code(
        "RUN-ORPHANED",
        "The process ansible-playbook has ended, for example by `kill -9`. Its worker stops.",
        "Run `ansible-playbook` again with the same arguments: it resumes.",
    ),
)

COLLECTION: t.Final = (
    Code(
        "INTERNAL",
        "The collection has a bug. The message shows no secret.",
        "Run the task again with `ansible-playbook -vvv`, and report the message.",
    ),
)
MONITORING: t.Final = (
    Code(
        "MON-ALERT",
        "`without` names an alert that does not exist.",
        "Write a name from the message in `gpu_monitoring_without`.",
    ),
    Code(
        "MON-API",
        "The monitoring API of the cluster (the Thanos querier) does not answer, or its certificate is not "
        "trusted.",
        "Forward a port with `oc port-forward -n openshift-monitoring pod/prometheus-k8s-0 9090`, and set "
        "`gpu_monitoring_url: http://127.0.0.1:9090`.",
    ),
    Code(
        "MON-API-FORBIDDEN",
        "The identity may not read metrics of the cluster.",
        "Let an administrator run `oc adm policy add-cluster-role-to-user cluster-monitoring-view USER`.",
    ),
    Code(
        "MON-API-TOKEN",
        "The monitoring API takes only tokens, and the kubeconfig has a client certificate.",
        "Use a kubeconfig with a token (`oc login`), or forward a port and set `gpu_monitoring_url`.",
    ),
    Code(
        "MON-FOREIGN",
        "An object of the same name exists, and another tool or person created it.",
        "Delete it with `oc delete`, or set `gpu_monitoring_adopt: take`. No pod ends.",
    ),
    Code(
        "MON-LIMIT",
        "A limit of the alerts is out of range, or is no duration of Prometheus.",
        "Set `gpu_monitoring_limits` as the message says.",
    ),
    Code(
        "MON-METRIC",
        "The DCGM exporter has no metric of this name, and would not start with it.",
        "Write a name from the message in `gpu_monitoring_metrics`.",
    ),
    Code(
        "MON-NO-DATA",
        "Prometheus has no metrics of GPUs: nothing scrapes the exporters, or they have no data.",
        "Run `ansible-playbook playbooks/monitor_gpus.yml`: its result says which exporters Prometheus "
        "reaches.",
    ),
    Code(
        "MON-NO-EXPORTER",
        "The ClusterPolicy or GPUCluster switches the DCGM exporter off.",
        "Set `gpu_operator_spec: {dcgmExporter: {enabled: true}}`, and run `ansible-playbook "
        "playbooks/enable_gpus.yml`.",
    ),
    Code(
        "MON-NO-STACK",
        "The cluster has no GPU stack, so nothing exports metrics of GPUs.",
        "Run `ansible-playbook playbooks/enable_gpus.yml` first, or set `gpu_operator_namespace`.",
    ),
    Code(
        "MON-PROMETHEUS",
        "The chosen Prometheus does not scrape the namespace of the GPU operator, because of its label "
        "openshift.io/cluster-monitoring.",
        "Set `gpu_monitoring_adopt: take` to overwrite the label, or choose the other Prometheus with "
        "`gpu_monitoring_prometheus`.",
    ),
    Code(
        "MON-QUERY",
        "The monitoring API did not evaluate a query, for example because it takes too long.",
        "Set `gpu_use_days: 1`, or check `gpu_monitoring_url`.",
    ),
    Code(
        "MON-USER-WORKLOAD",
        "Monitoring of user workload is off.",
        "Take `gpu_monitoring_prometheus` out of your variables, or let an administrator run `oc edit "
        "configmap cluster-monitoring-config -n openshift-monitoring`.",
    ),
)
ALERTS: t.Final = (
    Code(
        "GPU-ECC",
        "A GPU has memory errors that ECC could not correct.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE`: a reset of the GPU clears them.",
    ),
    Code(
        "GPU-HOT",
        "A GPU is hotter than the limit.",
        "Run `oc debug node/NODE`, and look at fans and air flow; `gpu_monitoring_limits: {temperature: "
        "90}` raises the limit.",
    ),
    Code(
        "GPU-IDLE",
        "A pod holds a GPU and does not use it.",
        "Run `oc delete pod NAME -n NAMESPACE` if its owner agrees, or raise `gpu_monitoring_limits: "
        "{idle: 4h}`. The pod ends, with all its work.",
    ),
    Code(
        "GPU-LOST",
        "The device plugin took devices of a node out of service.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE`.",
    ),
    Code(
        "GPU-NO-METRICS",
        "A node has GPUs, and the exporter has no metrics of them.",
        "Run `oc get pods -n nvidia-gpu-operator -o wide` to see whether the exporter runs on the node.",
    ),
    Code(
        "GPU-REMAP",
        "A GPU remapped a row of its memory, and needs a reset.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE` at the next chance.",
    ),
    Code(
        "GPU-REMAP-FAILED",
        "A GPU could not remap a row of its memory.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE` for the report that the vendor "
        "asks for, and replace the GPU.",
    ),
    Code(
        "GPU-THROTTLED",
        "A GPU runs with a lower clock, because it is too hot or gets too little power.",
        "Run `oc debug node/NODE` to look at power supply and cooling.",
    ),
    Code(
        "NODE-CORDONED",
        "A node of a pool has been cordoned for long.",
        "Run `oc get node NODE -o yaml` to see who cordoned it, then the playbook again, or `oc adm "
        "uncordon NODE`.",
    ),
    Code(
        "QUOTA-NEARLY-USED",
        "A namespace has used most of its quota of GPUs.",
        "Raise `quota` of the pool, or `gpu_monitoring_limits: {quota: 95}`.",
    ),
    Code(
        "RUN-LONG",
        "One run has held the lease for hours, so no other run can change the GPU stack.",
        "Run `oc get lease -n default accelerators-openshift -o yaml`, which names the holder.",
    ),
)
