# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cluster offers, read once for all quotas of a task: devices of nodes, and classes."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU_PRESENT, NVIDIA
from .._core.errors import ForbiddenError
from .._core.objects import KubeObject, name
from .._kube.client import Api
from .._kube.kinds import Kind, known
from . import keys, scopes
from .findings import Known
from .options import GpuQuotaParams

Limits = t.Mapping[str, str]


class Offered:
    """Nodes and classes, each read at most once. None stands for what may not be read."""

    def __init__(self, api: Api, params: GpuQuotaParams) -> None:
        planned = params["planned"] or {"resources": None, "priority_classes": None}
        self._api = api
        self._nodes_exist = params["nodes_exist"]
        self._is_planned = params["planned"] is not None
        self._resources = set(planned["resources"] or ())
        self._priorities = set(planned["priority_classes"] or ())
        self._labelled: set[str] | None = None
        self._all: set[str] | None = None
        self._names: dict[str, list[str] | None] = {}
        self._is_forbidden = False

    def known(self, limits: Limits, quotas: t.Iterable[KubeObject]) -> Known:
        """Return what exists, or will, of the things that the limits and the scopes of the quotas name.

        It asks only for what is not planned anyway.
        """
        return Known(
            self._extended(limits),
            self._device_classes(limits) if self._nodes_exist else None,
            self._priority_classes(quotas),
        )

    def _extended(self, limits: Limits) -> set[str] | None:
        """Return the resources that nodes offer or will, or None if that is not known.

        All nodes are read only if no node with the label of the driver stack offers a resource.
        """
        wanted = keys.extended(limits)
        if not wanted or self._is_forbidden or not (self._nodes_exist or self._is_planned):
            return None
        if self._resources.issuperset(wanted):
            return self._resources
        try:
            return self._resources | self._of_nodes(set(wanted) - self._resources)
        except ForbiddenError:
            self._is_forbidden = True
            return None

    def _of_nodes(self, wanted: set[str]) -> set[str]:
        if all(resource.startswith(NVIDIA) for resource in wanted):
            if self._labelled is None:
                self._labelled = self._list(f"{GPU_PRESENT}=true")
            if wanted <= self._labelled:
                return self._labelled
        if self._all is None:
            self._all = self._list()
        return self._all

    def _list(self, labels: str | None = None) -> set[str]:
        nodes = self._api.list(known("Node"), labels=labels, keep=_offering)
        return {resource for node in nodes for resource in node["status"]["allocatable"]}

    def _device_classes(self, limits: Limits) -> list[str] | None:
        """Return the names of the DeviceClasses; none on a cluster without dynamic resource allocation."""
        return self._names_of(known("DeviceClass")) if keys.classes(limits) else None

    def _priority_classes(self, quotas: t.Iterable[KubeObject]) -> set[str] | None:
        wanted = {level for quota in quotas for level in scopes.classes(quota.get("spec") or {})}
        if not wanted or not (self._nodes_exist or self._is_planned):
            return None
        if self._priorities >= wanted:
            return self._priorities
        there = self._names_of(known("PriorityClass"))
        return None if there is None else self._priorities.union(there)

    def _names_of(self, kind: Kind) -> list[str] | None:
        if kind.kind not in self._names:
            try:
                found = self._api.list_if_served(kind, metadata_only=True)
                self._names[kind.kind] = [name(obj) for obj in found]
            except ForbiddenError:
                self._names[kind.kind] = None
        return self._names[kind.kind]


def _offering(node: KubeObject) -> KubeObject:
    """Return only what is needed of a node: thousands of whole nodes would fill the memory."""
    return {"status": {"allocatable": (node.get("status") or {}).get("allocatable") or {}}}
