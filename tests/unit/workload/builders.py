"""Builders for unit tests of validations: parameters, nodes, pods and slices."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    GpuWorkloadParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.pods import Mark


def params(**given: t.Any) -> GpuWorkloadParams:
    """Return the parameters of gpu_workload with their defaults."""
    return GpuWorkloadParams.of({"wait_timeout": 1800, "node_selector": {"pool": "a"}, **given})


def node(
    name: str = "gpu-0", boot: str = "b1", labels: dict[str, str] | None = None, **allocatable: str
) -> KubeObject:
    """Return a node with the driver's labels. allocatable: `gpu="2"`, the default, means nvidia.com/gpu."""
    offered = (
        {"nvidia.com/gpu": "2"}
        if not allocatable
        else {f"nvidia.com/{key.replace('_', '-')}": value for key, value in allocatable.items()}
    )
    marks = {
        "pool": "a",
        "kubernetes.io/hostname": f"host-{name}",
        "nvidia.com/cuda.driver-version.full": "595.91.07",
        **(labels or {}),
    }
    return {
        "metadata": {"name": name, "labels": marks},
        "status": {"allocatable": {"cpu": "4", **offered}, "nodeInfo": {"bootID": boot}},
    }


def ended(
    name: str = "p", phase: str = "Succeeded", code: int | None = 0, host: str = "host-gpu-0", **status: t.Any
) -> KubeObject:
    """Return a validation pod that has ended. code: None without a container that has ended."""
    containers = [] if code is None else [{"name": "benchmark", "state": {"terminated": {"exitCode": code}}}]
    found = {"phase": phase, "containerStatuses": containers, **status}
    return {
        "metadata": {"name": name, "namespace": "gpu-validation"},
        "spec": {"nodeSelector": {"kubernetes.io/hostname": host}},
        "status": found,
    }


MARK: t.Final = Mark("r1", "root|bastion|boot.4026|4711|99|", 900)
# Two GPUs on gpu-0, four on gpu-1.
SLICES: t.Final[list[KubeObject]] = [
    {
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {
                    "name": f"gpu-{index}",
                    "attributes": {"type": {"string": "gpu"}, "driverVersion": {"version": "595.91.7"}},
                }
                for index in range(number)
            ],
        }
    }
    for name, number in (("gpu-0", 2), ("gpu-1", 4))
]
