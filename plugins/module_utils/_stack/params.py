# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the parameters of special_resource."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._frame.argspec import BusyParams, LockParams, StateParams

# Suboption -> value; None if the user does not set it.
Values = dict[str, t.Any]


class StackPool(t.TypedDict):
    """A pool as the stack sees it, from gpu_plan. expected: resource -> number per node."""

    name: str
    node_selector: dict[str, str]
    expected: t.NotRequired[dict[str, int] | None]
    replicas: t.NotRequired[int]
    min_replicas: t.NotRequired[int]
    min_nodes: t.NotRequired[int]
    taints: t.NotRequired[list[KubeObject] | None]
    gpu_models: t.NotRequired[list[str] | None]
    driver: t.NotRequired[Values | None]


class _ClusterPolicyOptions(BusyParams, LockParams, StateParams):
    """The options of a ClusterPolicy, and those that every module has."""

    driver: Values | None
    toolkit: Values | None
    device_plugin: Values | None
    dcgm: Values | None
    dcgm_exporter: Values | None
    gfd: Values | None
    mig: Values | None
    mig_manager: Values | None
    node_status_exporter: Values | None
    validator: Values | None
    cdi: Values | None
    gds: Values | None
    gdrcopy: Values | None
    sandbox_workloads: Values | None
    vgpu_manager: Values | None
    vgpu_device_manager: Values | None
    vfio_manager: Values | None
    sandbox_device_plugin: Values | None
    kata_sandbox_device_plugin: Values | None
    kata_manager: Values | None
    cc_manager: Values | None
    host_paths: Values | None
    operator: Values | None
    daemonsets: Values | None
    registry: str | None
    driver_files: Values | None
    only_requested_gpus: bool | None


# pylint takes a TypedDict that several bases share for a second base.
class _Options(_ClusterPolicyOptions):  # pylint: disable=duplicate-bases
    """The options of special_resource except name and namespace."""

    backend: t.Literal["clusterpolicy", "nvidiadriver", "dra", "nicclusterpolicy", "custom", "kmm", "sro"]
    tolerations: list[KubeObject]
    spec: dict[str, t.Any]
    pools: list[StackPool]
    adopt: t.Literal["report", "take"]
    remove_labels: bool
    settle: float
    node_timeout: int
    go_on: bool
    given_up: list[str]
    nvidia_drivers: list[Values] | None
    gpu_cluster: Values | None
    nic_cluster_policy: Values | None
    custom: Values | None
    kmm: Values | None
    sro: Values | None


class SpecialResourceParams(_Options):  # pylint: disable=duplicate-bases
    """The options of special_resource as the user gives them. settle, grace: seconds."""

    name: str | None
    namespace: str | None
    grace: float | None


class StackParams(_Options):  # pylint: disable=duplicate-bases
    """The same after backend.choose has filled in name and namespace, which may be empty, and the graces."""

    name: str
    namespace: str
    grace: float
    slow_grace: t.NotRequired[float]


class LookParams(t.TypedDict):
    """The options that a look at a stack needs. settle, grace, slow_grace, node_timeout: seconds.

    slow_grace: the grace of containers that crash and of images that cannot be pulled; as grace if missing.
    """

    name: str
    namespace: str
    pools: list[StackPool]
    settle: float
    node_timeout: int
    grace: float
    slow_grace: t.NotRequired[float]
    go_on: bool
    given_up: list[str]
