# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The proof that a quota is enforced: a pod that must be refused, and what the refusal says."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import device_class
from ansible_collections.accelerators.openshift.plugins.module_utils._core import quantity
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import resource_quota

Object = dict[str, t.Any]

PATIENCE: t.Final = 10.0  # admission reads quotas from a cache: a new one is not seen at once
_IMAGE: t.Final = "registry.k8s.io/pause:3.10"  # never pulled: the pod is only a dry run


def check(limits: t.Mapping[str, str]) -> None:
    """Before anything is written: is there something to prove?"""
    if not resource_quota.extended(limits) and not resource_quota.classes(limits):
        message = f"prove: needs an extended resource in hard, such as requests.nvidia.com/gpu, or devices of a class, such as {device_class.quota_key()}."
        raise InputError("QUOTA-PROOF", message, "Add one, or set prove: false.")


def too_much(live: Object, limits: t.Mapping[str, str]) -> Object:
    """What asks for one more than what is left: a pod, or where devices are claimed, a claim."""
    if names := resource_quota.extended(limits):
        return pod(live, names[0], _over(live, limits, resource_quota.REQUESTS + names[0]))
    (name, *_others) = resource_quota.classes(limits)
    return claims.claim(
        "gpu-quota-proof-",
        live["metadata"]["namespace"],
        _over(live, limits, device_class.quota_key(name)),
        name,
    )


def _over(live: Object, limits: t.Mapping[str, str], key: str) -> int:
    used = ((live.get("status") or {}).get("used") or {}).get(key, "0")
    return max(1, int(quantity.parse(limits[key]) - quantity.parse(used)) + 1)


def pod(live: Object, name: str, over: int) -> Object:
    """With small cpu and memory requests, so that another quota does not ask for them first."""
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
    """The quota that an admission's Forbidden text names, or None when it speaks of something else."""
    match = re.search(r"exceeded quota: ([^,]+), requested: ", text)
    return match[1] if match else None


def is_transient(text: str) -> bool:
    """Just created: the quota, or the namespace's service account, is not yet seen by admission."""
    return (
        "status unknown for quota" in text
        or re.search(r'serviceaccount "[^"]+" not found', text) is not None
        or "no API token found" in text
    )


def not_enforced(live: Object, limits: t.Mapping[str, str]) -> AcceleratorError:
    metadata = live["metadata"]
    message = f"What is over the limit of quota {metadata['name']} in namespace {metadata['namespace']} would be admitted."
    remedy = "See that the admission plugin ResourceQuota is on, and that the quota has no scopes that leave such pods out."
    return AcceleratorError(
        "QUOTA-NOT-ENFORCED",
        message,
        remedy,
        [f"{name}: {value}" for name, value in limits.items()],
    )
