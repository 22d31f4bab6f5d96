# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the machine-config operator that give a pool's nodes their kernel and kubelet settings."""

from __future__ import annotations

import typing as t
from urllib.parse import quote

from .._core.objects import KubeObject
from .._core.ownership import pool_label, selector
from . import topology
from .options import HugePages, Isolation, Tuning

GROUP: t.Final = "machineconfiguration.openshift.io"
ROLE: t.Final = f"{GROUP}/role"
WORKER: t.Final = "worker"
# The label by which selectors find a MachineConfigPool; the pools of OpenShift have it too.
_POOL: t.Final = "pools.operator.machineconfiguration.openshift.io/"
# Annotation of a pool that a run paused to tune its nodes: the id of the run.
ROLLOUT: t.Final = "accelerators.openshift/rollout"
# The label in the nodeSelector of a pool whose nodes go back to the pool worker: no node has it. The
# annotation of the same name has the labels of these nodes.
RELEASED: t.Final = "accelerators.openshift/released"
PROFILE_VERSION: t.Final = "performance.openshift.io/v2"
_IGNITION: t.Final = "3.2.0"
_KIB: t.Final = {"2M": 2048, "1G": 1048576}
_SYSTEM_MEMORY: t.Final = "500Mi"
_EVICTION: t.Final = {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
}
# The sum of both reservations and the eviction threshold: the static Memory Manager demands it.
_RESERVED_MEMORY: t.Final = "1100Mi"
_ALIGNED: t.Final = ("restricted", "single-numa-node")


def pool_name(pool: str) -> str:
    """Return the name of the pool's MachineConfigPool, KubeletConfig and PerformanceProfile."""
    return f"gpu-{pool}"


def kernel_name(pool: str) -> str:
    """Return the name of the pool's MachineConfig."""
    return f"99-{pool_name(pool)}-kernel"


def role_label(pool: str) -> dict[str, str]:
    """Return the label of a MachineConfig that is for this pool alone."""
    return {ROLE: pool_name(pool)}


def pool_selector(pool: str) -> dict[str, str]:
    """Return the label of the pool's MachineConfigPool, by which a KubeletConfig selects it."""
    return {f"{_POOL}{pool_name(pool)}": ""}


def uses_profile(tuning: Tuning, served: bool) -> bool:
    """Return True if a PerformanceProfile holds the settings. It takes one node label, and needs CPUs."""
    return served and tuning.isolate is not None and len(tuning.label) == 1


def tuned_parent(tuning: Tuning, served: bool) -> str:
    """Return the TuneD profile that the PerformanceProfile makes for the pool; empty without one.

    The pool's own TuneD profile has to include it, with a priority below 20 and the role label in
    machineConfigLabels: otherwise its kernel arguments get lost.
    """
    return f"openshift-node-performance-{pool_name(tuning.name)}" if uses_profile(tuning, served) else ""


def pool(tuning: Tuning, rollout: str = "") -> KubeObject:
    """Return the MachineConfigPool. rollout: the run that pauses it; empty for a pool that is not paused.

    Its maxUnavailable is not set here: the default is one node at a time, and an administrator may raise it.
    """
    manifest = _pool(tuning.name, dict(tuning.label), paused=bool(rollout))
    if rollout:
        manifest["metadata"]["annotations"] = {ROLLOUT: rollout}
    return manifest


def released_pool(name: str, label: t.Mapping[str, str]) -> KubeObject:
    """Return the MachineConfigPool of this GPU pool without nodes: they go back to the pool worker.

    label: the labels of these nodes.
    """
    manifest = _pool(name, {RELEASED: name}, paused=False)
    manifest["metadata"]["annotations"] = {RELEASED: selector(label)}
    return manifest


def is_released(pool: KubeObject) -> bool:
    """Return True if the MachineConfigPool has given up its nodes."""
    return RELEASED in _match_labels(pool)


def node_label(pool: KubeObject) -> dict[str, str]:
    """Return the labels of the nodes that the MachineConfigPool has, or had before it gave them up."""
    if not is_released(pool):
        return _match_labels(pool)
    text = str((pool["metadata"].get("annotations") or {}).get(RELEASED) or "")
    return {key: value for key, _equals, value in (one.partition("=") for one in text.split(",")) if key}


def has_other_nodes(pool: KubeObject, label: t.Mapping[str, str]) -> bool:
    """Return True if the MachineConfigPool selects by other labels than these."""
    return _match_labels(pool) != dict(label)


def _match_labels(pool: KubeObject) -> dict[str, str]:
    return dict((pool["spec"].get("nodeSelector") or {}).get("matchLabels") or {})


def _pool(name: str, label: dict[str, str], paused: bool) -> KubeObject:
    roles = {"key": ROLE, "operator": "In", "values": [WORKER, pool_name(name)]}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": pool_name(name), "labels": {**pool_label(name), **pool_selector(name)}},
        "spec": {
            "machineConfigSelector": {"matchExpressions": [roles]},
            "nodeSelector": {"matchLabels": label},
            "paused": paused,
        },
    }


def manifests(tuning: Tuning, served: bool) -> list[KubeObject]:
    """Return the objects with the pool's settings, without the MachineConfigPool.

    served: the cluster serves PerformanceProfiles.
    """
    cpus = topology.isolation(tuning)
    if cpus is not None and uses_profile(tuning, served):
        devices = machine_config(Tuning(tuning.name, tuning.label, vfio=tuning.vfio), None)
        return [performance_profile(tuning, cpus), *([devices] if devices else [])]
    found = [machine_config(tuning, cpus), kubelet_config(tuning, cpus)]
    return [one for one in found if one is not None]


def machine_config(tuning: Tuning, cpus: Isolation | None) -> KubeObject | None:
    """Return the MachineConfig with kernel arguments, huge pages and files; None if there are none."""
    arguments = kernel_arguments(tuning, cpus)
    units = [_unit(pages) for pages in tuning.huge_pages if pages.numa_node is not None]
    if not arguments and not units and not tuning.vfio:
        return None
    config: KubeObject = {"ignition": {"version": _IGNITION}}
    if units:
        config["systemd"] = {"units": units}
    if tuning.vfio:
        config["storage"] = {"files": [_file(path, text) for path, text in vfio_files(tuning.vfio)]}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MachineConfig",
        "metadata": {
            "name": kernel_name(tuning.name),
            "labels": {**pool_label(tuning.name), **role_label(tuning.name)},
        },
        "spec": {"config": config, "kernelArguments": arguments},
    }


def vfio_files(devices: t.Sequence[str]) -> list[tuple[str, str]]:
    """Return the files, as path and text, with which the driver vfio-pci takes these devices at a boot."""
    return [
        ("/etc/modprobe.d/vfio.conf", f"options vfio-pci ids={','.join(devices)}\n"),
        ("/etc/modules-load.d/vfio-pci.conf", "vfio-pci\n"),
    ]


def _file(path: str, text: str) -> KubeObject:
    source = f"data:,{quote(text)}"
    return {"path": path, "mode": 0o644, "overwrite": True, "contents": {"source": source}}


def kernel_arguments(tuning: Tuning, cpus: Isolation | None) -> list[str]:
    """Return the arguments of the kernel command line, in their order."""
    found = list(tuning.kernel_arguments)
    if tuning.huge_pages:
        found.append(f"default_hugepagesz={tuning.huge_pages[0].size}")
    for pages in tuning.huge_pages:
        if pages.numa_node is None:
            found += [f"hugepagesz={pages.size}", f"hugepages={pages.count}"]
    if cpus is not None:
        # systemd takes no ranges here before version 246.
        system = ",".join(map(str, sorted(topology.parse(cpus.reserved))))
        found += [
            f"isolcpus=managed_irq,{cpus.isolated}",
            f"rcu_nocbs={cpus.isolated}",
            f"systemd.cpu_affinity={system}",
        ]
    return found


def _unit(pages: HugePages) -> KubeObject:
    """Return the systemd unit that makes the pages of one NUMA node before the kubelet counts them."""
    size = f"{_KIB[pages.size]}kB"
    path = f"/sys/devices/system/node/node{pages.numa_node}/hugepages/hugepages-{size}/nr_hugepages"
    contents = f"""[Unit]
Description=Huge pages of {size} on NUMA node {pages.numa_node}
Before=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/bin/bash -c 'echo {pages.count} > {path} && test "$(cat {path})" -eq {pages.count}'
[Install]
WantedBy=multi-user.target
"""
    name = f"gpu-huge-pages-{size}-numa{pages.numa_node}.service"
    return {"name": name, "enabled": True, "contents": contents}


def kubelet_config(tuning: Tuning, cpus: Isolation | None) -> KubeObject | None:
    """Return the KubeletConfig with the managers of CPUs, memory and topology; None if none is asked for."""
    if cpus is None and not tuning.topology:
        return None
    kubelet: KubeObject = {}
    if tuning.topology:
        kubelet["topologyManagerPolicy"] = tuning.topology
    if cpus is not None:
        kubelet |= {
            "cpuManagerPolicy": "static",
            "cpuManagerReconcilePeriod": "5s",
            "reservedSystemCPUs": cpus.reserved,
        }
        if tuning.topology in _ALIGNED:
            kubelet |= _memory_manager()
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KubeletConfig",
        "metadata": {"name": pool_name(tuning.name), "labels": pool_label(tuning.name)},
        "spec": {
            "machineConfigPoolSelector": {"matchLabels": pool_selector(tuning.name)},
            "kubeletConfig": kubelet,
        },
    }


def _memory_manager() -> KubeObject:
    return {
        "memoryManagerPolicy": "Static",
        "kubeReserved": {"memory": _SYSTEM_MEMORY},
        "systemReserved": {"memory": _SYSTEM_MEMORY},
        "evictionHard": dict(_EVICTION),
        "reservedMemory": [{"numaNode": 0, "limits": {"memory": _RESERVED_MEMORY}}],
    }


def profile_kubelet(profile: KubeObject) -> KubeObject:
    """Return the values that the KubeletConfig of a PerformanceProfile has."""
    spec = profile["spec"]
    policy = spec["numa"]["topologyPolicy"]
    found = {
        "cpuManagerPolicy": "static",
        "cpuManagerReconcilePeriod": "5s",
        "reservedSystemCPUs": spec["cpu"]["reserved"],
        "topologyManagerPolicy": policy,
        **_memory_manager(),
    }
    if policy not in _ALIGNED:
        del found["memoryManagerPolicy"], found["reservedMemory"]
    return found


def performance_profile(tuning: Tuning, cpus: Isolation) -> KubeObject:
    """Return the PerformanceProfile, which makes MachineConfig, KubeletConfig and Tuned by itself."""
    spec: KubeObject = {
        "cpu": {"isolated": cpus.isolated, "reserved": cpus.reserved},
        "machineConfigLabel": role_label(tuning.name),
        "machineConfigPoolSelector": pool_selector(tuning.name),
        "nodeSelector": dict(tuning.label),
        "numa": {"topologyPolicy": tuning.topology or "best-effort"},
        "workloadHints": {"realTime": False, "highPowerConsumption": False, "perPodPowerManagement": False},
    }
    if tuning.kernel_arguments:
        spec["additionalKernelArgs"] = list(tuning.kernel_arguments)
    if tuning.huge_pages:
        spec["hugepages"] = {
            "defaultHugepagesSize": tuning.huge_pages[0].size,
            "pages": [_page(pages) for pages in tuning.huge_pages],
        }
    return {
        "apiVersion": PROFILE_VERSION,
        "kind": "PerformanceProfile",
        "metadata": {"name": pool_name(tuning.name), "labels": pool_label(tuning.name)},
        "spec": spec,
    }


def _page(pages: HugePages) -> KubeObject:
    node = {} if pages.numa_node is None else {"node": pages.numa_node}
    return {"size": pages.size, "count": pages.count, **node}
