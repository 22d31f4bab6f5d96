# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the names and labels of pools against those of the cluster and of this collection."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import (
    DRIVER_UPGRADE,
    FEATURE,
    INSTANCE_TYPE,
    MIG_CONFIG,
    PLUGIN_CONFIG,
    WORKLOAD,
)
from .._core.input import Problems
from .._core.ownership import POOL
from .model import ACCELERATOR

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
# A machine set's name is <infrastructure>-<pool>-<zone>. The name of its machine is six characters longer,
# and on most platforms it is also the host name, with at most 63 characters.
LONGEST_SET: t.Final = 57
# The infrastructure name is the cluster's name and six characters. While it is not known, only names that
# are too long for every cluster are wrong.
_SHORTEST_PREFIX: t.Final = 7
# A selector of these roles would bring drivers and validation pods to the control plane.
_CONTROL_PLANE: t.Final = ("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane")
_OWN: t.Final = "Leave it to them. A label of your own, such as example.com/team, is allowed."
_GPU_OPERATOR: t.Final = "steers the GPU operator on the node"
# Beginning of a label that somebody else writes or obeys -> who, and the option that does it properly.
_STEERS: t.Final = {
    PLUGIN_CONFIG: (f"{_GPU_OPERATOR}: it chooses how GPUs are shared", "Set sharing of the pool."),
    MIG_CONFIG: (f"{_GPU_OPERATOR}: it partitions the GPUs", "Set sharing.mig of the pool."),
    WORKLOAD: (
        f"{_GPU_OPERATOR}: containers or virtual machines",
        "Set workload of the pool.",
    ),
    "nvidia.com/gpu.deploy.": (
        f"{_GPU_OPERATOR}: it switches an operand off",
        "Switch the operand off in gpu_operator_spec, for all pools.",
    ),
    DRIVER_UPGRADE: ("is the operator's own record of a driver upgrade", "Use upgrade_driver.yml."),
    "nvidia.com/gpu-driver-upgrade": ("steers the operator's driver upgrade", "Use upgrade_driver.yml."),
    "nvidia.com/ofed-driver-upgrade": ("steers the NIC driver's upgrade", "Use upgrade_operators.yml."),
    "nvidia.com/": ("belongs to the GPU operator and its operands", _OWN),
    "network.nvidia.com/": ("belongs to the network operator", _OWN),
    "amd.com/": ("belongs to AMD's operator and its operands", _OWN),
    "gpu.intel.com/": ("belongs to Intel's operator and its operands", _OWN),
    "habana.ai/": ("belongs to Intel's operator and its operands", _OWN),
    "kmm.node.kubernetes.io/": ("belongs to the Kernel Module Management operator", _OWN),
    "kmm.sigs.x-k8s.io/": ("belongs to the Kernel Module Management operator", _OWN),
    FEATURE: ("belongs to Node Feature Discovery", "Describe it in node_feature_discovery_rules."),
    "node.openshift.io/": ("belongs to OpenShift", _OWN),
    "machineconfiguration.openshift.io/": ("belongs to the machine-config operator", _OWN),
    "machine.openshift.io/": ("belongs to the Machine API", _OWN),
    "kubernetes.io/hostname": ("is written by the kubelet: one value would be on all nodes", _OWN),
    "kubernetes.io/arch": ("is written by the kubelet", "Choose an instance_type of that architecture."),
    "kubernetes.io/os": ("is written by the kubelet", _OWN),
    "beta.kubernetes.io/": ("is written by the kubelet", _OWN),
    INSTANCE_TYPE: ("is written by the cloud", "Set instance_type of the candidates."),
    "topology.kubernetes.io/": ("is written by the cloud", "Set zones of the candidates."),
    "failure-domain.beta.kubernetes.io/": ("is written by the cloud", "Set zones of the candidates."),
    "topology.ebs.csi.aws.com/": ("is written by a storage driver", _OWN),
}
# The installer's machine sets have these names.
_INSTALLERS: t.Final = ("worker", "infra", "master")


def check_name(pool: Description, path: str, problems: Problems, prefix: str | None) -> None:
    """Add a problem if machine sets cannot have the name. prefix: the infrastructure name."""
    if pool.get("candidates") and pool.get("name") in _INSTALLERS:
        problems.add(
            "POOL-NAME",
            f"{path}.name",
            f"{pool['name']} names the installer's own machine sets.",
            "Choose another name, such as gpu.",
        )
        return
    zones = [zone for candidate in pool.get("candidates") or [] for zone in candidate.get("zones") or []]
    for zone in dict.fromkeys(zones):
        most = LONGEST_SET - (len(prefix) if prefix else _SHORTEST_PREFIX) - len(zone) - 2
        if len(pool.get("name") or "") > most:
            problems.add(
                "POOL-NAME",
                f"{path}.name",
                f"with zone {zone} the machine set's name would be longer than {LONGEST_SET} characters.",
                f"Use at most {most} characters.",
            )
            return


def check_labels(pool: Description, path: str, problems: Problems) -> None:
    """Add a problem for each label that the pool may not set."""
    check_roles(pool.get("labels") or {}, f"{path}.labels", problems)
    ours = {POOL: "its value is the pool's name", ACCELERATOR: "set accelerator instead"}
    if pool.get("sharing"):
        ours |= dict.fromkeys((PLUGIN_CONFIG, MIG_CONFIG), "sharing chooses its value")
    for key in pool.get("labels") or {}:
        where = f"{path}.labels.{key}"
        steers = next(filter(key.startswith, _STEERS), "")
        if key in ours:
            problems.add("POOL-LABEL-TAKEN", where, why=f"is set by the collection: {ours[key]}")
        elif steers:
            why, instead = _STEERS[steers]
            problems.add("POOL-LABEL-TAKEN", where, why=why, also=f" {instead}")


def check_roles(labels: t.Mapping[str, t.Any], path: str, problems: Problems) -> None:
    """Add a problem for each label of the control plane."""
    for key in _CONTROL_PLANE:
        if key in labels:
            why = "belongs to control-plane nodes: nothing of this collection runs there"
            also = " Another label, such as node-role.kubernetes.io/worker, is allowed."
            problems.add("POOL-LABEL-TAKEN", f"{path}.{key}", why=why, also=also)
