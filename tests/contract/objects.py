"""An object of the contract."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api

CONFIG_MAP = _kinds.known("ConfigMap")
MakeApi = t.Callable[..., Api]


def manifest(name: str = "a", **data: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "contract"},
        "data": data,
    }
