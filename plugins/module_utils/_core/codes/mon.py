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
        "The monitoring API {host} does not answer: {problem}.",
        "Run `oc port-forward -n openshift-monitoring pod/prometheus-k8s-0 9090` in another terminal, and "
        "set `gpu_monitoring_url: http://127.0.0.1:9090` (module option `url`).",
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
        "MON-CONSOLE",
        "Deployment {namespace}/console-plugin-nvidia-gpu is not available, so the console does not load "
        "the plugin: {why}.",
        "Run `oc describe pods -n {namespace} -l app.kubernetes.io/name=console-plugin-nvidia-gpu`. If the "
        "image cannot be pulled, set `gpu_monitoring_console_image` (module option `console_image`).",
    ),
    Code(
        "MON-FOREIGN",
        "{object} exists and was created by {owner}. Nothing was changed.",
        "Delete it with `oc delete` (no pod with a GPU ends), or set `gpu_monitoring_adopt: take` (module "
        "option `adopt`).",
    ),
    Code(
        "MON-LIMIT",
        "`limits.{name}` is {value}, and must be {wanted}.",
        "Set `gpu_monitoring_limits` (module option `limits`) to a mapping such as {{name}: {example}}.",
    ),
    Code(
        "MON-METRIC",
        "metrics[{index}]: the DCGM exporter has no metric {name}, and would not start with it.",
        "Write {known} in `gpu_monitoring_metrics`.",
    ),
    Code(
        "MON-NO-CONSOLE",
        "The cluster has no web console for NVIDIA's plugin: {why}. Nothing was changed.",
        "Set `gpu_monitoring_console: false` (module option `console`).",
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
        "playbooks/enable_gpus.yml -e @FILE`.",
    ),
    Code(
        "MON-NO-STACK",
        "{lack}, so nothing exports metrics of GPUs.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE` first, or set `gpu_operator_namespace` "
        "(module option `namespace`).",
    ),
    Code(
        "MON-PASSED-OVER",
        "The Prometheus of user workload passes over the exporter: namespace {namespace} has the label "
        "{label}=true. Nothing was changed.",
        "Set `gpu_monitoring_prometheus` to platform (module option `prometheus`).",
    ),
    Code(
        "MON-PROMETHEUS",
        "The platform's Prometheus would not scrape the exporter: namespace {namespace} has the label "
        "{label}={value}. Nothing was changed.",
        "Run `oc label namespace {namespace} {label}-`, or set `gpu_monitoring_adopt: take` (module option "
        "`adopt`) to overwrite the label.",
    ),
    Code(
        "MON-QUERY",
        "The monitoring API {host} did not evaluate a query: {answer}",
        "For a query that takes too long, set `gpu_use_days: 1`. Else check `gpu_monitoring_url`.",
    ),
    Code(
        "MON-UNSEEN",
        "The cluster's monitoring does not see the metrics of the GPUs: {why}.",
        "{todo|Run `ansible-playbook playbooks/monitor_gpus.yml -e @FILE`.}",
    ),
    Code(
        "MON-USER-WORKLOAD",
        "Monitoring of user workload is off: ConfigMap openshift-monitoring/cluster-monitoring-config has"
        " no enableUserWorkload: true. Nothing was changed.",
        "Take `gpu_monitoring_prometheus` out of your variables, or let an administrator set it with `oc "
        "edit configmap cluster-monitoring-config -n openshift-monitoring`.",
    ),
)
