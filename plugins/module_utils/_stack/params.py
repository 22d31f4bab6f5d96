# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the parameters of special_resource."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.objects import KubeObject

# Suboption -> value; None if the user does not set it.
Values = dict[str, t.Any]


class StackPool(t.TypedDict):
    """A pool as the stack sees it, from gpu_plan. expected: resource -> number per node.

    workload, virtual_machines: as in the pool; C(virtual_machines.gpus) has the GPUs of a node.
    """

    name: str
    node_selector: dict[str, str]
    expected: t.NotRequired[dict[str, int] | None]
    replicas: t.NotRequired[int]
    min_replicas: t.NotRequired[int]
    min_nodes: t.NotRequired[int]
    taints: t.NotRequired[list[KubeObject] | None]
    gpu_models: t.NotRequired[list[str] | None]
    driver: t.NotRequired[Values | None]
    workload: t.NotRequired[str]
    virtual_machines: t.NotRequired[Values]


@dataclass(frozen=True, kw_only=True)
class LookParams:
    """The options that a look at a stack needs. settle, grace, slow_grace, node_timeout: seconds.

    name, namespace: may be empty. slow_grace: the grace of containers that crash and of images that cannot be
    pulled.
    """

    name: str
    namespace: str
    pools: list[StackPool]
    grace: float
    slow_grace: float
    node_timeout: int
    settle: float = 0.0
    go_on: bool = False
    given_up: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class StackParams(LookParams):
    """The options of special_resource, with name, namespace and graces as backend.choose fills them in."""

    backend: t.Literal["clusterpolicy", "nvidiadriver", "dra", "nicclusterpolicy", "custom", "kmm", "sro"]
    state: t.Literal["present", "absent"]
    tolerations: list[KubeObject]
    spec: dict[str, t.Any]
    adopt: t.Literal["report", "take"]
    remove_labels: bool
    on_busy: t.Literal["fail", "drain", "wait"]
    only_pools: bool = False
    driver: Values | None = None
    toolkit: Values | None = None
    device_plugin: Values | None = None
    dcgm: Values | None = None
    dcgm_exporter: Values | None = None
    gfd: Values | None = None
    mig: Values | None = None
    mig_manager: Values | None = None
    node_status_exporter: Values | None = None
    validator: Values | None = None
    cdi: Values | None = None
    gds: Values | None = None
    gdrcopy: Values | None = None
    sandbox_workloads: Values | None = None
    vgpu_manager: Values | None = None
    vgpu_device_manager: Values | None = None
    vfio_manager: Values | None = None
    sandbox_device_plugin: Values | None = None
    kata_sandbox_device_plugin: Values | None = None
    kata_manager: Values | None = None
    cc_manager: Values | None = None
    host_paths: Values | None = None
    operator: Values | None = None
    daemonsets: Values | None = None
    registry: str | None = None
    driver_files: Values | None = None
    only_requested_gpus: bool | None = None
    nvidia_drivers: list[Values] | None = None
    gpu_cluster: Values | None = None
    nic_cluster_policy: Values | None = None
    node_traffic: t.Literal["refuse", "accept"] | None = None
    custom: Values | None = None
    kmm: Values | None = None
    sro: Values | None = None
