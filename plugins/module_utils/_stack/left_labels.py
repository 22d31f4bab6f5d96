# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels that the GPU operator leaves on nodes and on its namespace when its stack is removed."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import DRIVER_UPGRADE, GPU_PRESENT
from .._core.objects import KubeObject
from .._core.ownership import managers_of_label
from .._nodes.labels import labels
from .operands import DEPLOY

_OF_NODES: t.Final = (GPU_PRESENT, DRIVER_UPGRADE, "nvidia.com/gpu-operator.driver.owner")
_MONITORING: t.Final = "openshift.io/cluster-monitoring"
_POD_SECURITY: t.Final = "pod-security.kubernetes.io/"
_OPERATOR: t.Final = "gpu-operator"


def of_node(node: KubeObject) -> list[str]:
    """Return the labels of the operator on the node. A user's gpu.deploy label with the value false stays."""
    return [
        key
        for key, value in sorted(labels(node).items())
        if key in _OF_NODES or (key.startswith(DEPLOY) and value != "false")
    ]


def of_namespace(namespace: KubeObject) -> list[str]:
    """Return the labels that the operator alone has set on its namespace, by the record of the API server."""
    wanted = [key for key in sorted(labels(namespace)) if key == _MONITORING or key.startswith(_POD_SECURITY)]
    return [key for key in wanted if managers_of_label(namespace, key) == {_OPERATOR}]


def without(keys: t.Iterable[str]) -> KubeObject:
    """Return the merge patch that takes these labels away."""
    return {"metadata": {"labels": dict.fromkeys(keys)}}
