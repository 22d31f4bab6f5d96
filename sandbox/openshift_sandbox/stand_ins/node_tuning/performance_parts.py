# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that the performance profile controller makes of a PerformanceProfile."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.pools import KEYS, MACHINE_CONFIG
from openshift_sandbox.seed.tuning import NAMESPACE, TUNED_API

Object = dict[str, t.Any]

PRIORITY: t.Final = 20
STATIC_MEMORY: t.Final = ("restricted", "single-numa-node")
EVICTION: t.Final = {
    "imagefs.available": "15%",
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
}
RESERVED_MEMORY: t.Final = "1100Mi"


def name_of(profile: Object) -> str:
    """Return the name of the KubeletConfig and of the RuntimeClass."""
    return f"performance-{profile['metadata']['name']}"


def tuned_name(profile: Object) -> str:
    """Return the name of the Tuned."""
    return f"openshift-node-performance-{profile['metadata']['name']}"


def names(profile: Object) -> list[tuple[str, str, str | None]]:
    """Return kind, name and namespace of all objects."""
    return [
        ("Tuned", tuned_name(profile), NAMESPACE),
        ("KubeletConfig", name_of(profile), None),
        ("RuntimeClass", name_of(profile), None),
        ("MachineConfig", f"50-{name_of(profile)}", None),
    ]


def machine_config_labels(profile: Object) -> dict[str, str]:
    """Return the labels of its MachineConfigs: its own, or the role in the first key of its node selector."""
    own = profile["spec"].get("machineConfigLabel")
    role = next(iter(profile["spec"]["nodeSelector"])).partition("/")[2]
    return dict(own) if own else {f"{KEYS}role": role}


def tuned(profile: Object) -> Object:
    """Return the Tuned, whose kernel arguments the operator writes into 50-nto-<pool>."""
    name = tuned_name(profile)
    rule = {
        "profile": name,
        "priority": PRIORITY,
        "machineConfigLabels": machine_config_labels(profile),
    }
    return {
        "apiVersion": TUNED_API,
        "kind": "Tuned",
        "metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": [_owner(profile)]},
        "spec": {"profile": [{"name": name, "data": tuned_text(profile)}], "recommend": [rule]},
    }


def tuned_text(profile: Object) -> str:
    """Return the TuneD profile."""
    spec = profile["spec"]
    isolation = "managed_irq" if spec["cpu"].get("balanceIsolated", True) else "domain,managed_irq"
    lines = [
        "[main]",
        "summary=Openshift node optimized for deterministic performance",
        "include=openshift-node,cpu-partitioning",
        "[variables]",
        f"isolated_cores={spec['cpu']['isolated']}",
        "[sysctl]",
        "kernel.timer_migration=1",
        "net.ipv4.tcp_fastopen=3",
        "vm.swappiness=10",
        "[bootloader]",
        "cmdline_cpu_part=+nohz=on rcu_nocbs=${isolated_cores}",
        f"cmdline_isolation=+isolcpus={isolation},${{isolated_cores}}",
    ]
    if (spec.get("workloadHints") or {}).get("realTime", True):
        lines.append("cmdline_realtime=+nohz_full=${isolated_cores} nosoftlockup skew_tick=1")
    lines += [f"cmdline_hugepages=+{pages}"] if (pages := huge_pages(spec)) else []
    if extra := spec.get("additionalKernelArgs"):
        lines.append(f"cmdline_additionalArg=+{' '.join(extra)}")
    return "\n".join(lines) + "\n"


def huge_pages(spec: Object) -> str:
    """Return the kernel arguments; pages of one NUMA node are allocated by a service.

    The real one adds `hugepagesz=2M hugepages=0` where only such pages of 2M are asked for beside a default
    of 1G: without it the kernel has no directory for that size.
    """
    wanted = spec.get("hugepages") or {}
    size = wanted.get("defaultHugepagesSize")
    default = [f"default_hugepagesz={size}"] if size else []
    pages = [
        f"hugepagesz={page['size']} hugepages={page['count']}"
        for page in wanted.get("pages") or []
        if page.get("node") is None
    ]
    small = {page.get("node") is None for page in wanted.get("pages") or [] if page["size"] == "2M"}
    none = ["hugepagesz=2M hugepages=0"] if size == "1G" and small == {False} else []
    return " ".join(default + pages + none)


def machine_config(profile: Object) -> Object:
    """Return the MachineConfig: a service for huge pages of a NUMA node, and the kernel's type."""
    spec = profile["spec"]
    units = [
        {
            "name": f"hugepages-allocation-{_kilobytes(page['size'])}kB-NUMA{page['node']}.service",
            "enabled": True,
            "contents": f"[Service]\nEnvironment=HUGEPAGES_COUNT={page['count']}\n",
        }
        for page in (spec.get("hugepages") or {}).get("pages") or []
        if page.get("node") is not None
    ]
    realtime = (spec.get("realTimeKernel") or {}).get("enabled")
    metadata = {
        "name": f"50-{name_of(profile)}",
        "labels": machine_config_labels(profile),
        "ownerReferences": [_owner(profile)],
    }
    config: Object = {"ignition": {"version": "3.2.0"}, "systemd": {"units": [_irq_unit(), *units]}}
    kernel = "realtime" if realtime else "default"
    return MACHINE_CONFIG | {"metadata": metadata, "spec": {"config": config, "kernelType": kernel}}


def kubelet_config(profile: Object, pool: Object) -> Object:
    """Return the KubeletConfig: CPU manager static, and what the topology policy asks for."""
    spec = profile["spec"]
    policy = (spec.get("numa") or {}).get("topologyPolicy") or "best-effort"
    values: Object = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "cpuManagerPolicy": "static",
        "cpuManagerReconcilePeriod": "5s",
        "topologyManagerPolicy": policy,
        "reservedSystemCPUs": spec["cpu"]["reserved"],
        "evictionHard": dict(EVICTION),
        "kubeReserved": {"memory": "500Mi"},
        "systemReserved": {"memory": "500Mi"},
    }
    if policy in STATIC_MEMORY:
        reserved = [{"numaNode": 0, "limits": {"memory": RESERVED_MEMORY}}]
        values |= {"memoryManagerPolicy": "Static", "reservedMemory": reserved}
    if policy == "single-numa-node":
        values["cpuManagerPolicyOptions"] = {"full-pcpus-only": "true"}
    labels = spec.get("machineConfigPoolSelector") or pool["metadata"].get("labels") or {}
    return {
        "apiVersion": pool["apiVersion"],
        "kind": "KubeletConfig",
        "metadata": {"name": name_of(profile), "ownerReferences": [_owner(profile)]},
        "spec": {"machineConfigPoolSelector": {"matchLabels": dict(labels)}, "kubeletConfig": values},
    }


def runtime_class(profile: Object) -> Object:
    """Return the RuntimeClass."""
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name_of(profile), "ownerReferences": [_owner(profile)]},
        "handler": "high-performance",
        "scheduling": {"nodeSelector": profile["spec"]["nodeSelector"]},
    }


def _owner(profile: Object) -> Object:
    return {
        "apiVersion": profile["apiVersion"],
        "kind": profile["kind"],
        "name": profile["metadata"]["name"],
        "uid": profile["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _irq_unit() -> Object:
    return {
        "name": "clear-irqbalance-banned-cpus.service",
        "enabled": True,
        "contents": "[Service]\nExecStart=/usr/local/bin/clear-irqbalance-banned-cpus.sh\n",
    }


def _kilobytes(size: str) -> int:
    return 1048576 if size == "1G" else 2048
