# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Ordered upgrades of a KMM Module: a label per node says which version it is to have, and nodes follow one after the other."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import slices as node_slices
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    devices,
    manifest as kmm_manifest,
)

Data = dict[str, t.Any]
NODE: t.Final = known("Node")


class Versions:
    """wait_for: brings one node's name to readiness, or raises."""

    def __init__(self, api: Api, params: Data, nodes: t.Sequence[Data]) -> None:
        self._api, self._params = api, params
        self._label = kmm_manifest.version_label(params["namespace"], params["name"])
        self._version = (params["kmm"] or {}).get("version")
        self._nodes = sorted(nodes, key=lambda node: str(node["metadata"]["name"]))

    def begin(self) -> None:
        """Nodes that never had a version get the new one before the Module has it: nothing is loaded there, or all of it is to be replaced."""
        for node in self._nodes if self._version else ():
            if self._of(node) is None:
                self._set(node)

    def roll(self, wait_for: t.Callable[[str], t.Any]) -> list[str]:
        """Names of the nodes that went from one version to the other."""
        rolled = []
        for node in self._nodes if self._version else ():
            if self._of(node) in (None, self._version):
                continue
            name = str(node["metadata"]["name"])
            self._refuse_busy(name)
            self._api.progress(f"node {name}: {self._of(node)} -> {self._version}")
            self._set(node)
            rolled.append(name)
            if self._api.wait_wanted and not self._api.check_mode:
                wait_for(name)
        return rolled

    def forget(self) -> None:
        """Labels of a Module that is gone."""
        for node in self._api.list(NODE, labels=self._label):
            self._api.merge_patch(
                NODE, node["metadata"]["name"], None, {"metadata": {"labels": {self._label: None}}}
            )

    def _of(self, node: Data) -> str | None:
        return (node["metadata"].get("labels") or {}).get(self._label)

    def _set(self, node: Data) -> None:
        self._api.merge_patch(
            NODE, node["metadata"]["name"], None, {"metadata": {"labels": {self._label: self._version}}}
        )

    def _refuse_busy(self, node: str) -> None:
        """A kernel module that is in use cannot be unloaded, and nobody's pod is moved unasked."""
        resources = {name for pool in self._params["pools"] for name in pool.get("expected") or {}}
        pods = self._api.list(known("Pod"), fields=f"spec.nodeName={node}") if resources else []
        busy = [
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            for pod in pods
            if _holds(pod, resources)
        ]
        if name := devices.driver(self._params):
            slices, claims = (
                self._api.list(known("ResourceSlice"), fields=f"spec.nodeName={node}"),
                self._api.list(known("ResourceClaim")),
            )
            busy += [f"claim {one}" for one in devices.claims_on(node, name, slices, claims)]
        if busy:
            message = f"Node {node} cannot get version {self._version} while pods hold its devices: {', '.join(busy[:5])}."
            remedy = f"End them, or `oc adm cordon {node}` and move them, then run this again: nodes that are done stay done."
            raise NotReadyError("GPU-KMM-INUSE", message, remedy, evidence=busy)


def refuse_claimed(api: Api, module: Data) -> None:
    """Without its DRA driver a pod that holds a claim could not end."""
    driver = (module["spec"].get("dra") or {}).get("driverName")
    used = (
        node_slices.held(api.list(known("ResourceClaim")), driver)
        if driver and api.served(known("ResourceClaim"))
        else []
    )
    if used:
        message = f"Pods use devices of driver {driver} by {len(used)} ResourceClaims: {', '.join(used[:5])}. Without the driver they could not end."
        raise NotReadyError(
            "GPU-DRA-BUSY", message, "Delete those pods first: `oc get resourceclaims -A`.", used
        )


def _holds(pod: Data, resources: t.Collection[str]) -> bool:
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return False
    return any(
        name in resources
        for one in pod["spec"]["containers"]
        for name in ((one.get("resources") or {}).get("requests") or {})
    )
