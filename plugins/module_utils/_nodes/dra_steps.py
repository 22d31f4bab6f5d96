# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps before a task uses dynamic resource allocation: whether the cluster serves it."""

from __future__ import annotations

import typing as t

from .._core.errors import NotReadyError
from .._kube.client import Api
from .._kube.kinds import known

_SLICE: t.Final = known("ResourceSlice")


def refuse_old_cluster(api: Api) -> None:
    """Raise NotReadyError if the cluster is too old for dynamic resource allocation."""
    if api.served(_SLICE):
        return
    kind = known("ClusterVersion")
    version = api.get(kind, "version") if api.served(kind) else None
    release = (((version or {}).get("status") or {}).get("desired") or {}).get("version")
    raise NotReadyError("GPU-DRA-RELEASE", release=f" ({release})" if release else "")
