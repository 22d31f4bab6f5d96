# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of Kueue in the version that the cluster serves, or will serve when Kueue comes."""

from __future__ import annotations

import contextlib
import typing as t

from .._catalogue import kueue
from .._core.errors import KindNotServedError
from .._kube.client import Api
from .._kube.kinds import Kind


class Kinds(t.NamedTuple):
    """The kinds of Kueue in the newest version that the cluster serves."""

    version: str
    flavor: Kind
    cluster_queue: Kind
    local_queue: Kind
    workload: Kind
    topology: Kind | None


def kinds(api: Api) -> Kinds | None:
    """Return the kinds of Kueue, or None where the cluster does not serve them."""
    for version in kueue.VERSIONS:
        with contextlib.suppress(KindNotServedError):
            names = (kueue.FLAVOR, kueue.QUEUE, kueue.LOCAL_QUEUE, kueue.WORKLOAD)
            flavor, queue, local, workload = (api.resolve(f"{kueue.GROUP}/{version}", kind) for kind in names)
            topology = optional(api, f"{kueue.GROUP}/{version}", kueue.TOPOLOGY)
            return Kinds(version, flavor, queue, local, workload, topology)
    return None


def optional(api: Api, api_version: str, kind: str) -> Kind | None:
    """Return a kind that some clusters do not serve in this version, or None."""
    try:
        return api.resolve(api_version, kind)
    except KindNotServedError:
        return None


def expected() -> Kinds:
    """Return the kinds that the newest Kueue serves."""
    version = f"{kueue.GROUP}/{kueue.VERSIONS[0]}"
    flavor, queue = (Kind(version, kind, f"{kind.lower()}s", False) for kind in (kueue.FLAVOR, kueue.QUEUE))
    local, workload = (
        Kind(version, kind, f"{kind.lower()}s") for kind in (kueue.LOCAL_QUEUE, kueue.WORKLOAD)
    )
    topology = Kind(version, kueue.TOPOLOGY, "topologies", False)
    return Kinds(kueue.VERSIONS[0], flavor, queue, local, workload, topology)
