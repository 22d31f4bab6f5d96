# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU operator makes besides DaemonSets.

The real one adds bindings, more config maps and the full rules of every Role.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import owned
from openshift_sandbox.stand_ins.gpu_operator.machines import vgpus
from openshift_sandbox.stand_ins.gpu_operator.operands import MACHINE_OPERANDS, OPERANDS, Object
from openshift_sandbox.stand_ins.gpu_operator.sharing import containers, geometry

METRICS: t.Final = "state-operator-metrics"
PREREQUISITES: t.Final = "pre-requisites"
_ALL: t.Final = (*OPERANDS, *MACHINE_OPERANDS)
STATES: t.Final[tuple[str, ...]] = (PREREQUISITES, METRICS, *(operand.state for operand in _ALL))

_SERVICES: t.Final = {
    METRICS: ("gpu-operator", "gpu-operator-metrics", 8080),
    "state-dcgm-exporter": ("nvidia-dcgm-exporter", "gpu-metrics", 9400),
    "state-node-status-exporter": ("nvidia-node-status-exporter", "node-status", 8000),
}
_RULES: t.Final[dict[str, tuple[str, list[Object]]]] = {
    METRICS: (
        "nvidia-gpu-operator-metrics",
        [
            {
                "alert": "GPUOperatorReconciliationFailed",
                "expr": "gpu_operator_reconciliation_status != 1",
                "for": "1h",
                "labels": {"severity": "warning"},
            },
            {
                "alert": "GPUOperatorReconciliationFailedNfdLabelsMissing",
                "expr": (
                    "gpu_operator_reconciliation_status != 1 AND "
                    "gpu_operator_reconciliation_has_nfd_labels == 0"
                ),
                "for": "30m",
                "labels": {"severity": "warning"},
            },
        ],
    ),
    "state-dcgm-exporter": (
        "nvidia-dcgm-exporter",
        [
            {
                "record": "accelerator_gpu_utilization",
                "expr": "DCGM_FI_DEV_GPU_UTIL",
                "labels": {"vendor_id": "10de"},
            },
            {
                "record": "accelerator_memory_used_bytes",
                "expr": "DCGM_FI_DEV_MEM_COPY_UTIL",
                "labels": {"vendor_id": "10de"},
            },
            {
                "record": "accelerator_memory_total_bytes",
                "expr": "DCGM_FI_DEV_FB_TOTAL",
                "labels": {"vendor_id": "10de"},
            },
        ],
    ),
    "state-node-status-exporter": (
        "nvidia-node-status-exporter-alerts",
        [
            {
                "alert": f"GPUOperatorNodeDeployment{part}Failed",
                "expr": f"gpu_operator_node_{metric} == 0",
                "for": "30m",
                "labels": {"severity": "warning"},
            }
            for part, metric in (
                ("Driver", "driver_ready"),
                ("Toolkit", "toolkit_ready"),
                ("Cuda", "cuda_ready"),
            )
        ],
    ),
}


def assets(state: str, policy: Object, namespace: str) -> list[Object]:
    """Return all objects of a state except its DaemonSets, in the order of creation."""
    if state == PREREQUISITES:
        return [owned(_runtime_class(name), policy) for name in ("nvidia", "nvidia-cdi", "nvidia-legacy")]
    made = [obj for operand in _ALL if operand.state == state for obj in _access(operand.account, namespace)]
    if state == "state-mig-manager":
        made += _parted(policy, namespace)
    if state == "state-vgpu-device-manager" and not _custom(policy, "vgpuDeviceManager", "config"):
        text = vgpus.shipped()
        made.append(_object("v1", "ConfigMap", vgpus.DEFAULT_CONFIG, namespace, data={vgpus.FILE: text}))
    if state in _SERVICES:
        service, monitor = _monitoring(namespace, *_SERVICES[state])
        made += [service, monitor] if _scraped(state, policy) else [service]
    if state in _RULES:
        name, rules = _RULES[state]
        groups = [{"name": name, "rules": rules}]
        made.append(
            _object("monitoring.coreos.com/v1", "PrometheusRule", name, namespace, spec={"groups": groups})
        )
    return [owned(obj, policy) for obj in made]


def _parted(policy: Object, namespace: str) -> list[Object]:
    """Return the ConfigMaps of the MIG manager; one that the policy replaces is not made."""
    part = policy["spec"].get("migManager") or {}
    texts = {
        "config": (containers.DEFAULT_PARTED, "config.yaml", geometry.generated(*geometry.models())),
        "gpuClientsConfig": (
            containers.DEFAULT_CLIENTS,
            "clients.yaml",
            "version: v1\nsystemd-services: []\n",
        ),
    }
    return [
        _object("v1", "ConfigMap", name, namespace, data={key: text})
        for option, (name, key, text) in texts.items()
        if not (part.get(option) or {}).get("name")
    ]


def _custom(policy: Object, part: str, option: str) -> str:
    return str(((policy["spec"].get(part) or {}).get(option) or {}).get("name") or "")


def _object(api_version: str, kind: str, name: str, namespace: str | None, **fields: t.Any) -> Object:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **where}, **fields}


def _runtime_class(name: str) -> Object:
    return _object("node.k8s.io/v1", "RuntimeClass", name, None, handler=name)


def _access(account: str, namespace: str) -> list[Object]:
    role = "rbac.authorization.k8s.io/v1"
    rules = [
        {
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "verbs": ["use"],
            "resourceNames": [account],
        }
    ]
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": account}
    return [
        _object("v1", "ServiceAccount", account, namespace),
        _object(role, "Role", account, namespace, rules=rules),
        _object(role, "RoleBinding", account, namespace, roleRef=reference, subjects=[subject]),
        _constraints(account, namespace),
    ]


def _constraints(account: str, namespace: str) -> Object:
    allowed = dict.fromkeys(
        ("allowHostDirVolumePlugin", "allowHostPID", "allowPrivilegeEscalation", "allowPrivilegedContainer"),
        True,
    )
    refused = dict.fromkeys(
        ("allowHostIPC", "allowHostNetwork", "allowHostPorts", "readOnlyRootFilesystem"), False
    )
    anything = {
        key: {"type": "RunAsAny"} for key in ("fsGroup", "runAsUser", "seLinuxContext", "supplementalGroups")
    }
    lists = {
        "allowedCapabilities": ["*"],
        "seccompProfiles": ["*"],
        "volumes": ["*"],
        "users": [f"system:serviceaccount:{namespace}:{account}"],
    }
    return _object(
        "security.openshift.io/v1",
        "SecurityContextConstraints",
        account,
        None,
        **allowed,
        **refused,
        **anything,
        **lists,
    )


def _scraped(state: str, policy: Object) -> bool:
    """Return whether a state has a ServiceMonitor: the exporter only where the policy asks for it."""
    exporter = policy["spec"].get("dcgmExporter") or {}
    return state != "state-dcgm-exporter" or (exporter.get("serviceMonitor") or {}).get("enabled") is True


def _monitoring(namespace: str, name: str, port: str, number: int) -> tuple[Object, Object]:
    labels = {"app": name}
    service = _object(
        "v1",
        "Service",
        name,
        namespace,
        spec={"selector": labels, "ports": [{"name": port, "port": number, "targetPort": number}]},
    )
    spec = {
        "endpoints": [{"port": port, "path": "/metrics"}],
        "jobLabel": "app",
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": labels},
    }
    monitor = _object("monitoring.coreos.com/v1", "ServiceMonitor", name, namespace, spec=spec)
    for obj in (service, monitor):
        obj["metadata"]["labels"] = labels
    return service, monitor
