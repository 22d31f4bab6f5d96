# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Deployment that the operator makes for a ClusterAutoscaler; its arguments carry the specification."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE

Object = dict[str, t.Any]

SERVICE_ACCOUNT: t.Final = "cluster-autoscaler"
EXPANDERS: t.Final = {"LeastWaste": "least-waste", "Priority": "priority", "Random": "random"}
SCALE_DOWN: t.Final = {
    "delayAfterAdd": "scale-down-delay-after-add",
    "delayAfterDelete": "scale-down-delay-after-delete",
    "delayAfterFailure": "scale-down-delay-after-failure",
    "unneededTime": "scale-down-unneeded-time",
    "utilizationThreshold": "scale-down-utilization-threshold",
}
PLAIN: t.Final = {
    "maxNodeProvisionTime": "max-node-provision-time",
    "podPriorityThreshold": "expendable-pods-priority-cutoff",
    "balanceSimilarNodeGroups": "balance-similar-node-groups",
    "ignoreDaemonsetsUtilization": "ignore-daemonsets-utilization",
    "skipNodesWithLocalStorage": "skip-nodes-with-local-storage",
}


def name(autoscaler: Object) -> str:
    """Return the name of the Deployment."""
    return f"cluster-autoscaler-{autoscaler['metadata']['name']}"


def arguments(spec: Object) -> list[str]:
    """Return the arguments of the autoscaler for a specification."""
    found = [
        "--logtostderr",
        "--record-duplicated-events",
        "--cloud-provider=openshift",
        f"--namespace={MACHINE_NAMESPACE}",
    ]
    found += [f"--startup-taint={key}" for key in spec.get("startupTaints") or []]
    found += [f"--{flag}={_text(spec[key])}" for key, flag in PLAIN.items() if key in spec]
    caps = spec.get("resourceLimits") or {}
    found += [f"--max-nodes-total={caps['maxNodesTotal']}"] if "maxNodesTotal" in caps else []
    found += [
        f"--{key}-total={caps[key].get('min', 0)}:{caps[key]['max']}"
        for key in ("cores", "memory")
        if key in caps
    ]
    found += [f"--gpu-total={one['type']}:{one.get('min', 0)}:{one['max']}" for one in caps.get("gpus") or []]
    if down := spec.get("scaleDown"):
        found.append(f"--scale-down-enabled={_text(down['enabled'])}")
        found += [
            f"--{flag}={down[key]}" for key, flag in SCALE_DOWN.items() if down["enabled"] and key in down
        ]
    delay = (spec.get("scaleUp") or {}).get("newPodScaleUpDelay")
    found += [f"--new-pod-scale-up-delay={delay}"] if delay else []
    chosen = [EXPANDERS[one] for one in spec.get("expanders") or []]
    return [
        *found,
        *([f"--expander={','.join(chosen)}"] if chosen else []),
        f"--v={spec.get('logVerbosity', 1)}",
    ]


def manifest(autoscaler: Object) -> Object:
    """Return the Deployment."""
    metadata = autoscaler["metadata"]
    labels = {"cluster-autoscaler": metadata["name"], "k8s-app": "cluster-autoscaler"}
    owner = {
        "apiVersion": autoscaler["apiVersion"],
        "kind": "ClusterAutoscaler",
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name(autoscaler),
            "namespace": MACHINE_NAMESPACE,
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod(autoscaler)},
        },
    }


def _pod(autoscaler: Object) -> Object:
    container = {
        "name": "cluster-autoscaler",
        "image": "quay.io/openshift-release-dev/ocp-v4.0-art-dev:cluster-autoscaler",
        "command": ["cluster-autoscaler"],
        "args": arguments(autoscaler.get("spec") or {}),
        "ports": [{"name": "metrics", "containerPort": 8085}],
        "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
    }
    return {
        "serviceAccountName": SERVICE_ACCOUNT,
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": {"node-role.kubernetes.io/master": "", "beta.kubernetes.io/os": "linux"},
        "tolerations": [
            {"key": "CriticalAddonsOnly", "operator": "Exists"},
            {"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"},
        ],
        "containers": [container],
    }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
