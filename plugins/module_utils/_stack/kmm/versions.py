# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordered upgrades of a KMM Module: a label on each node says its version; one node follows the other."""

from __future__ import annotations

import typing as t

from ..._core.errors import NotReadyError
from ..._core.objects import KubeObject, at, name as name_of
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._nodes import dra, drain
from ..._nodes.labels import labels
from ..params import StackParams
from . import devices, manifest as kmm_manifest

NODE: t.Final = known("Node")


class Versions:
    """The version labels of the nodes. nodes: those that the Module selects."""

    def __init__(self, api: Api, params: StackParams, nodes: t.Sequence[KubeObject]) -> None:
        self._api, self._params = api, params
        self._label = kmm_manifest.version_label(params.namespace, params.name)
        self._version = at(params.kmm, "version")
        self._nodes = sorted(nodes, key=name_of)

    def begin(self) -> None:
        """Label the nodes without a version before the Module gets its new one."""
        for node in self._nodes if self._version else ():
            if self._of(node) is None:
                self._set(node, self._version)

    def roll(self, wait_for: t.Callable[[str], t.Any]) -> list[str]:
        """Move the nodes to the version one after the other, and return the names of those that moved.

        wait_for: waits until the node of this name is ready. Raises NotReadyError for a node in use.
        """
        rolled = []
        for node in self._nodes if self._version else ():
            if self._of(node) in (None, self._version):
                continue
            name = name_of(node)
            self._refuse_busy(name)
            self._api.progress(f"node {name}: {self._of(node)} -> {self._version}")
            self._set(node, self._version)
            rolled.append(name)
            if self._api.wait_wanted and not self._api.check_mode:
                wait_for(name)
        return rolled

    def forget(self) -> None:
        """Remove the labels from all nodes: the Module is gone."""
        for node in self._api.list(NODE, labels=self._label):
            self._set(node, None)

    def _of(self, node: KubeObject) -> str | None:
        return labels(node).get(self._label)

    def _set(self, node: KubeObject, version: str | None) -> None:
        changes = {"metadata": {"labels": {self._label: version}}}
        self._api.merge_patch(NODE, name_of(node), None, changes)

    def _refuse_busy(self, node: str) -> None:
        """Raise NotReadyError if pods or claims use the node's devices: KMM cannot unload the module then."""
        resources = {name for pool in self._params.pools for name in pool.get("expected") or {}}
        pods = self._api.list(known("Pod"), fields=drain.on(node)) if resources else []
        busy = [drain.name(pod) for pod in pods if _holds(pod, resources)]
        if name := devices.driver(self._params):
            slices = self._api.list(known("ResourceSlice"), fields=f"spec.nodeName={node}")
            claims = self._api.list(known("ResourceClaim"))
            busy += [f"claim {one}" for one in devices.claims_on(node, name, slices, claims)]
        if busy:
            raise NotReadyError(
                "GPU-KMM-IN-USE", node=node, version=self._version, pods=", ".join(busy[:5]), evidence=busy
            )


def refuse_claimed(api: Api, module: KubeObject) -> None:
    """Raise NotReadyError if pods hold claims of the Module's DRA driver: without it they could not end."""
    driver = at(module, "spec.dra.driverName")
    if not driver or not api.served(known("ResourceClaim")):
        return
    used = dra.claims_in_use(api.list(known("ResourceClaim")), driver)
    if used:
        shown = f"{', '.join(used[:5])}{', …' if used[5:] else ''}"
        raise NotReadyError("GPU-DRA-BUSY", devices=f"devices of driver {driver}", pods=shown, evidence=used)


def _holds(pod: KubeObject, resources: t.Collection[str]) -> bool:
    asked = (at(one, "resources.requests") or {} for one in pod["spec"]["containers"])
    return not drain.is_ended(pod) and any(name in resources for one in asked for name in one)
