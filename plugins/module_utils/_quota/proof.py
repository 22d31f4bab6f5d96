# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Proof that a quota is enforced: a pod or claim that the API server must refuse, and its refusal."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import quota_key
from .._core import quantity
from .._core.errors import AcceleratorError, InputError
from .._core.objects import KubeObject
from .._nodes import dra
from . import keys

PATIENCE: t.Final = 10.0  # seconds: admission reads quotas from a cache, and sees a new one late
_IMAGE: t.Final = "registry.k8s.io/pause:3.10"  # never pulled: the pod is only a dry run


def check(limits: t.Mapping[str, str]) -> None:
    """Raise InputError if the quota limits nothing that can be proved."""
    if not keys.extended(limits) and not keys.classes(limits):
        message = (
            "prove: needs an extended resource in hard, such as requests.nvidia.com/gpu, "
            f"or devices of a class, such as {quota_key()}."
        )
        raise InputError("QUOTA-PROOF", message, "Add one, or set prove: false.")


def too_much(live: KubeObject, limits: t.Mapping[str, str]) -> KubeObject:
    """Return a pod, or a claim if the quota counts claimed devices, that asks for one more than is left."""
    if names := keys.extended(limits):
        return pod(live, names[0], _over(live, limits, keys.REQUESTS + names[0]))
    (name, *_others) = keys.classes(limits)
    return dra.claim(
        "gpu-quota-proof-",
        live["metadata"]["namespace"],
        _over(live, limits, quota_key(name)),
        name,
    )


def _over(live: KubeObject, limits: t.Mapping[str, str], key: str) -> int:
    used = ((live.get("status") or {}).get("used") or {}).get(key, "0")
    return max(1, int(quantity.parse(limits[key]) - quantity.parse(used)) + 1)


def pod(live: KubeObject, name: str, over: int) -> KubeObject:
    """Return a pod that requests too much, with cpu and memory, since another quota may require them."""
    amounts = {"cpu": "1m", "memory": "1Mi", name: str(over)}
    container = {
        "name": "proof",
        "image": _IMAGE,
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    metadata = {"generateName": "gpu-quota-proof-", "namespace": live["metadata"]["namespace"]}
    security = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": security,
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def refusal(text: str) -> str | None:
    """Return the name of the exceeded quota in a Forbidden message, or None if it has another cause."""
    match = re.search(r"exceeded quota: ([^,]+), requested: ", text)
    return match[1] if match else None


def is_transient(text: str) -> bool:
    """Return whether admission has not yet seen the new quota, or the namespace's new service account."""
    return (
        "status unknown for quota" in text
        or re.search(r'serviceaccount "[^"]+" not found', text) is not None
        or "no API token found" in text
    )


def not_enforced(live: KubeObject, limits: t.Mapping[str, str]) -> AcceleratorError:
    """Return the error for an API server that would admit more than the limit."""
    metadata = live["metadata"]
    where = f"quota {metadata['name']} in namespace {metadata['namespace']}"
    message = f"The API server would admit a pod or a claim over the limit of {where}."
    remedy = "Check that the admission plugin ResourceQuota is on, and that the quota has no scopes."
    evidence = [f"{name}: {value}" for name, value in limits.items()]
    return AcceleratorError("QUOTA-NOT-ENFORCED", message, remedy, evidence)
