# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What the cluster offers, read once for all quotas of a task: devices of nodes, and DeviceClasses."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU_PRESENT, NVIDIA
from .._core.errors import ForbiddenError
from .._core.objects import KubeObject
from .._kube.client import Api
from .._kube.kinds import known
from . import keys, resource_quota

Limits = t.Mapping[str, str]


class Offered:
    """Nodes and DeviceClasses, each read at most once. None stands for what may not be read."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._labelled: list[KubeObject] | None = None
        self._all: list[KubeObject] | None = None
        self._classes: list[KubeObject] | None = None
        self._is_forbidden = False

    def nodes(self, limits: Limits) -> list[KubeObject] | None:
        """Return the nodes that matter for the limits, or None if there is no limit of what nodes offer.

        All nodes are read only if no node with the label of the driver stack offers a resource.
        """
        wanted = keys.extended(limits)
        if not wanted or self._is_forbidden:
            return None
        try:
            return self._nodes(wanted)
        except ForbiddenError:
            self._is_forbidden = True
            return None

    def _nodes(self, wanted: t.Sequence[str]) -> list[KubeObject]:
        if all(one.startswith(NVIDIA) for one in wanted):
            if self._labelled is None:
                self._labelled = self._list(f"{GPU_PRESENT}=true")
            if resource_quota.offer_all(self._labelled, wanted):
                return self._labelled
        if self._all is None:
            self._all = self._list()
        return self._all

    def _list(self, labels: str | None = None) -> list[KubeObject]:
        return self._api.list(known("Node"), labels=labels, keep=resource_quota.offering)

    def classes(self, limits: Limits) -> list[KubeObject] | None:
        """Return the DeviceClasses, or None if the quota limits no devices or they may not be read.

        A cluster that does not serve dynamic resource allocation has none.
        """
        if not keys.classes(limits):
            return None
        kind = known("DeviceClass")
        try:
            if self._classes is None:
                is_served = self._api.served(kind)
                self._classes = self._api.list(kind, metadata_only=True) if is_served else []
        except ForbiddenError:
            return None
        return self._classes
