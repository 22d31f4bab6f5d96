"""Builders of quotas for unit tests."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject

GPU: t.Final = "requests.nvidia.com/gpu"
CLAIMED: t.Final = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"


def quota(
    hard: dict[str, str], used: dict[str, str] | None = None, name: str = "gpu-quota", **spec: t.Any
) -> KubeObject:
    """Return a live ResourceQuota of namespace `a`. used: None while the controller has not counted it."""
    status = {} if used is None else {"hard": hard, "used": used}
    return {
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"hard": hard, **spec},
        "status": status,
    }
