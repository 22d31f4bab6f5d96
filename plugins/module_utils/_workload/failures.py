# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What can be wrong before a validation pod is made, and the one error of all that went wrong in them."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import GPU
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ForbiddenError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.pods import geometry_of


def check(params: dict[str, t.Any]) -> None:
    """Before the first request."""
    others = [name for name in params.get("resources") or {} if name != GPU]
    if params["claims"] and others:
        message = f"resources[{others[0]}] cannot be validated with claims: the pods claim whole GPUs, counted as {GPU}."
        raise InputError("INPUT-VALUE", message, f"Name only {GPU} in resources, or leave claims out.")


def problem(nodes: t.Sequence[KubeObject], params: dict[str, t.Any]) -> NotReadyError | None:
    """Every node has to be there and to offer what it promises, else nothing is worth a try."""
    selector = ",".join(f"{key}={value}" for key, value in params["node_selector"].items())
    if len(nodes) < params["min_nodes"]:
        return NotReadyError(
            "WORK-NO-NODES",
            f"{len(nodes)} of {params['min_nodes']} nodes match {selector}, so nothing can be validated.",
            f"Look at `oc get nodes -l {selector}`; run the pool's own stage first.",
        )
    short = [
        f"{node['metadata']['name']}: offers {devices.offered(node, resource)} of {number} {resource}"
        for node in nodes
        for resource, number in (geometry_of(node, params.get("resources")) or {GPU: 1}).items()
        if devices.offered(node, resource) < number
    ]
    if short:
        return NotReadyError(
            "GPU-ALLOC",
            f"{len(short)} of {len(nodes)} nodes offer fewer devices than they should: {short[0]}",
            "Bring the stack to the nodes first (special_resource), and look at the log of the device plugin, or of the DRA driver.",
            evidence=short,
        )
    return None


def check_holders(lines: t.Sequence[str]) -> None:
    if lines:
        raise NotReadyError(
            "WORK-BUSY",
            f"Other pods hold devices that the validation needs: {lines[0]}",
            "This is no fault of the installation: wait for those pods, or delete them, and run again.",
            evidence=lines,
        )


def quota(error: ForbiddenError, namespace: str) -> ForbiddenError | NotReadyError:
    """A refusal that names a quota becomes one with that name; the API's own text is kept."""
    if "exceeded quota" not in error.message:
        return error
    return NotReadyError(
        "QUOTA-TOO-SMALL",
        f"A quota in namespace {namespace} is smaller than the validation needs: {error.message}",
        f"Raise the quota in namespace {namespace}, or validate in another one (option namespace).",
        evidence=error.evidence,
    )


def failure(parts: t.Sequence[Readiness], facts: dict[str, t.Any]) -> NotReadyError:
    first = parts[0]
    more = f" (and {len(parts) - 1} more)" if len(parts) > 1 else ""
    lines = [line for part in parts for line in part.details]
    return NotReadyError(first.code, f"{first.message}{more}", first.remedy, evidence=lines[:40], facts=facts)
