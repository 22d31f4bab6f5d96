# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Failures of a validation: what stops it before the first pod, and one error for all that went wrong."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core.errors import ForbiddenError, InputError, NotReadyError
from .._core.objects import KubeObject
from .._core.readiness import Readiness
from .._nodes import devices
from .params import GpuWorkloadParams
from .pods import geometry_of


def check(params: GpuWorkloadParams) -> None:
    """Raise InputError for options that cannot work together."""
    others = [name for name in params["resources"] or {} if name != GPU]
    if params["claims"] and others:
        message = (
            f"resources[{others[0]}] cannot be validated with claims: the pods claim whole GPUs, "
            f"which count as {GPU}."
        )
        remedy = f"Name only {GPU} in resources, or leave claims out."
        raise InputError("INPUT-VALUE", message, remedy)


def problem(nodes: t.Sequence[KubeObject], params: GpuWorkloadParams) -> NotReadyError | None:
    """Return the error for too few nodes, or for nodes that offer too few devices; None if all is there."""
    selector = ",".join(f"{key}={value}" for key, value in (params["node_selector"] or {}).items())
    if len(nodes) < params["min_nodes"]:
        return NotReadyError(
            "WORK-NO-NODES",
            f"{len(nodes)} of {params['min_nodes']} nodes match {selector}, so nothing can be validated.",
            f"Look at `oc get nodes -l {selector}`; run the pool's own stage first.",
        )
    short = [
        f"{node['metadata']['name']}: offers {devices.offered(node, resource)} of {number} {resource}"
        for node in nodes
        for resource, number in (geometry_of(node, params["resources"]) or {GPU: 1}).items()
        if devices.offered(node, resource) < number
    ]
    if not short:
        return None
    return NotReadyError(
        "GPU-ALLOC",
        f"{len(short)} of {len(nodes)} nodes offer fewer devices than they should: {short[0]}",
        "Run special_resource for these nodes first; then read the log of the device plugin or DRA driver.",
        evidence=short,
    )


def check_holders(lines: t.Sequence[str]) -> None:
    """Raise NotReadyError if other pods hold devices that the validation needs. lines: one for each node."""
    if lines:
        raise NotReadyError(
            "WORK-BUSY",
            f"Other pods hold devices that the validation needs: {lines[0]}",
            "The installation is not at fault: wait for those pods, or delete them, and run again.",
            evidence=lines,
        )


def quota(error: ForbiddenError, namespace: str) -> ForbiddenError | NotReadyError:
    """Return the error for a quota that is too small, with the API's text; any other error unchanged."""
    if "exceeded quota" not in error.message:
        return error
    return NotReadyError(
        "QUOTA-TOO-SMALL",
        f"A quota in namespace {namespace} is smaller than the validation needs: {error.message}",
        f"Raise the quota in namespace {namespace}, or validate in another one (option namespace).",
        evidence=error.evidence,
    )


def failure(parts: t.Sequence[Readiness], facts: dict[str, t.Any]) -> NotReadyError:
    """Return one error for all complaints: the first one's code and message, the number of the others."""
    first = parts[0]
    more = f" (and {len(parts) - 1} more)" if len(parts) > 1 else ""
    lines = [line for part in parts for line in part.details]
    return NotReadyError(first.code, f"{first.message}{more}", first.remedy, evidence=lines[:40], facts=facts)
