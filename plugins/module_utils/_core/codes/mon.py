# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of monitoring."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
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
