# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of monitoring."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "MON-ALERT",
        "without[{index}]: there is no alert {name}.",
        "Write {known} in `gpu_monitoring_without`.",
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
        "The monitoring API {host} {refusal}.",
        "Let an administrator run `oc adm policy add-cluster-role-to-user cluster-monitoring-view USER` "
        "(for a service account: -z NAME -n NAMESPACE).",
    ),
    Code(
        "MON-API-TOKEN",
        "The monitoring API {address} takes only tokens, and the identity of this task has none: its "
        "kubeconfig has a client certificate.",
        "Use a kubeconfig with a token (`oc login`), or forward a port with `oc port-forward -n "
        "openshift-monitoring pod/prometheus-k8s-0 9090`, and set `gpu_monitoring_url: "
        "http://127.0.0.1:9090`.",
    ),
    Code(
        "MON-FOREIGN",
        "{object} exists and was created by {owner}. Nothing was changed.",
        "Delete it with `oc delete` (no pod ends), or set `gpu_monitoring_adopt: take` (module option "
        "`adopt`).",
    ),
    Code(
        "MON-LIMIT",
        "A limit of the alerts is out of range, or is no duration of Prometheus.",
        "Set `gpu_monitoring_limits` as the message says.",
    ),
    Code(
        "MON-METRIC",
        "metrics[{index}]: the DCGM exporter has no metric {name}, and would not start with it.",
        "Write {known} in `gpu_monitoring_metrics`.",
    ),
    Code(
        "MON-NO-DATA",
        "The monitoring API {host} has no metrics of GPUs in the last {days} days.",
        "Run `ansible-playbook playbooks/monitor_gpus.yml`: its result says which exporters Prometheus "
        "reaches. Prometheus keeps metrics for 15 days unless its retention is set.",
    ),
    Code(
        "MON-NO-EXPORTER",
        "{policy} switches the DCGM exporter off (spec.dcgmExporter.enabled).",
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
        "The monitoring API {host} did not evaluate a query: {answer}",
        "For a query that takes too long, set `gpu_use_days: 1`. Else check `gpu_monitoring_url`.",
    ),
    Code(
        "MON-USER-WORKLOAD",
        "Monitoring of user workload is off: ConfigMap openshift-monitoring/cluster-monitoring-config has"
        " no enableUserWorkload: true. Nothing was changed.",
        "Take `gpu_monitoring_prometheus` out of your variables, or let an administrator set it with `oc "
        "edit configmap cluster-monitoring-config -n openshift-monitoring`.",
    ),
)
