# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the HyperConverged object of the cluster, in the newest version that it serves."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._kube.client import Api
from .._kube.kinds import Kind, known

NEW: t.Final = known("HyperConverged")
_OLD: t.Final = NEW._replace(api_version="hco.kubevirt.io/v1beta1")


def kind(api: Api) -> Kind | None:
    """Return the kind as the cluster serves it, or None without OpenShift Virtualization."""
    return next((version for version in (NEW, _OLD) if api.served(version)), None)


def look(api: Api) -> KubeObject | None:
    """Return the HyperConverged object, or None, also if it is being deleted; a cluster has at most one."""
    served = kind(api)
    found = (
        [one for one in api.list(served) if not one["metadata"].get("deletionTimestamp")] if served else []
    )
    return found[0] if found else None
