# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a quota limits and who uses it: devices that exist, pods and claims that hold them, and the API server's own refusal of more."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ForbiddenError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import proof, resource_quota

Data = dict[str, t.Any]


def nodes(api: Api, limits: dict[str, str]) -> list[Data] | None:
    """The nodes, where they matter and may be read."""
    try:
        return (
            api.list(known("Node"), keep=resource_quota.offering) if resource_quota.extended(limits) else None
        )
    except ForbiddenError:
        return None


def classes(api: Api, limits: dict[str, str]) -> list[Data] | None:
    """The DeviceClasses, where they matter and may be read; none where dynamic resource allocation is not served."""
    if not resource_quota.classes(limits):
        return None
    try:
        return api.list(known("DeviceClass"), metadata_only=True) if api.served(known("DeviceClass")) else []
    except ForbiddenError:
        return None


def holders(api: Api, namespace: str, limits: dict[str, str]) -> list[Data]:
    pods = (
        resource_quota.holders(limits, api.list(known("Pod"), namespace))
        if resource_quota.extended(limits)
        else []
    )
    return pods + (
        resource_quota.claimants(limits, api.list(known("ResourceClaim"), namespace))
        if resource_quota.classes(limits)
        else []
    )


def prove(api: Api, live: Data, limits: dict[str, str]) -> str:
    """The API server's own refusal of what asks for too much."""
    end = api.deadline.elapsed() + proof.PATIENCE
    while True:
        try:
            api.dry_run_create(proof.too_much(live, limits))
        except ForbiddenError as exc:
            if proof.refusal(exc.message):
                return exc.message
            if not proof.is_transient(exc.message) or api.deadline.passed:
                raise
        else:
            if api.deadline.elapsed() >= end or api.deadline.passed:
                raise proof.not_enforced(live, limits)
        api.deadline.sleep(0.2)
