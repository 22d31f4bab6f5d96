"""The ConfigMap that the contract tests write, and the type of the fixture that makes an Api."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

CONFIG_MAP = kinds.known("ConfigMap")
MakeApi = t.Callable[..., Api]


def manifest(name: str = "a", **data: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "contract"},
        "data": data,
    }
