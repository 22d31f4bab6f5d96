# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What has to hold before the first write of a GPU stack: no other stack in the cluster, and everything there that options name."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ForbiddenError,
    KindNotServedError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import references

Data = dict[str, t.Any]


def refuse_other_stack(api: Api, name: str) -> None:
    """A GPUCluster and a ClusterPolicy exclude each other; the operator would reconcile neither."""
    if other := gpu_cluster(api):
        message = f"GPUCluster {other} exists (the stack for dynamic resource allocation); with it ClusterPolicy {name} would be a conflicting resource."
        remedy = f"Use backend dra, or take that stack away first: special_resource with backend dra and state absent, or `oc delete gpucluster {other}`."
        raise NotReadyError("GPU-CP-CONFLICT", message, remedy, [f"gpucluster/{other}"])


def gpu_cluster(api: Api) -> str:
    """The name of the GPUCluster that is there, or nothing."""
    with contextlib.suppress(KindNotServedError):
        return next((str(one["metadata"]["name"]) for one in api.list(known("GPUCluster"))), "")
    return ""


def check_references(api: Api, params: Data) -> None:
    """Only whether they are there: what a Secret holds is not looked at. Before the operator is installed its namespace may be empty."""
    for path, kind, name in references.named(params):
        try:
            found = api.get(known(kind), name, params["namespace"])
        except ForbiddenError:
            api.warn(
                f"{path}: whether {kind} {name} exists in namespace {params['namespace']} may not be looked at."
            )
            continue
        if found:
            continue
        message = f"{path} names {kind} {name}, and namespace {params['namespace']} has none."
        if api.check_mode:
            api.warn(message)
        else:
            raise NotReadyError(
                "GPU-CP-REFERENCE", message, f"Make it there (module manifests), or correct {path}."
            )
