# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test file leaves on a sandbox that the next file uses too: find it, name it, remove it."""

from __future__ import annotations

import time
import typing as t

from openshift_sandbox.client import ApiError, Object
from openshift_sandbox.sandbox import Sandbox

# The label of what rbac.yml gives to a playbook.
RIGHTS: t.Final = "accelerators.openshift/rights-of"
# What tests make and later tests can stumble over, in the order in which it is removed: an operator has to
# run until its custom resources are gone. API version, plural, labels that select.
KINDS: t.Final = (
    ("nvidia.com/v1", "clusterpolicies", None),
    ("nvidia.com/v1alpha1", "nvidiadrivers", None),
    ("mellanox.com/v1alpha1", "nicclusterpolicies", None),
    ("kmm.sigs.x-k8s.io/v1beta1", "modules", None),
    ("nfd.openshift.io/v1", "nodefeaturediscoveries", None),
    ("tuned.openshift.io/v1", "tuneds", None),
    ("performance.openshift.io/v2", "performanceprofiles", None),
    ("machineconfiguration.openshift.io/v1", "kubeletconfigs", None),
    ("machineconfiguration.openshift.io/v1", "machineconfigpools", None),
    ("autoscaling.openshift.io/v1", "clusterautoscalers", None),
    ("autoscaling.openshift.io/v1beta1", "machineautoscalers", None),
    ("machine.openshift.io/v1beta1", "machinehealthchecks", None),
    ("machine.openshift.io/v1beta1", "machinesets", None),
    ("machine.openshift.io/v1beta1", "machines", None),
    # A node without a Machine: a removal keeps the drivers for it.
    ("v1", "nodes", None),
    ("operators.coreos.com/v1alpha1", "subscriptions", None),
    ("operators.coreos.com/v1alpha1", "clusterserviceversions", "!olm.copiedFrom"),
    ("v1", "resourcequotas", None),
    ("quota.openshift.io/v1", "clusterresourcequotas", None),
    ("scheduling.k8s.io/v1", "priorityclasses", None),
    ("rbac.authorization.k8s.io/v1", "clusterrolebindings", RIGHTS),
    ("rbac.authorization.k8s.io/v1", "clusterroles", RIGHTS),
    # Tests have namespaces of their own. These two are the collection's: a removal keeps one of them that it
    # did not make.
    ("v1", "namespaces", "kubernetes.io/metadata.name in (accelerators-openshift,gpu-validation)"),
)
LABEL, TAINT, CORDON = "label", "taint", "cordon"
# After an API server that refused connections, Kubernetes' own controllers pause for up to a minute: a new
# namespace got its service account after 8 to 28 s.
RESTART: t.Final = "restart"
SERVER: t.Final = "kube-apiserver"
# What belongs to the components of the cluster may change at any time.
_CLUSTERS_OWN: t.Final = ("node.kubernetes.io/", "kubernetes.io/", "beta.kubernetes.io/")
# Some things go a moment after the task that removed them.
GRACE: t.Final = 10.0
PATIENCE: t.Final = 60.0


class Left(t.NamedTuple):
    """One thing on the cluster: an object, or what somebody did to a node or to the API server.

    what: the plural, or LABEL, TAINT, CORDON or RESTART. place: the namespace, or the node.
    """

    what: str
    place: str
    name: str

    def __str__(self) -> str:
        where = f"{self.place}/" if self.place else ""
        return f"{self.what} {where}{self.name}".rstrip("/")


class Leftovers:
    """What is on a sandbox and was not there when this object was made."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._client, self._processes = sandbox.client("integration-tests"), sandbox.processes
        self._server = self._processes.find(SERVER)
        self._nodes = {one["metadata"]["name"] for one in self._client.list("v1", "nodes")}
        self._before = self._look()

    def names(self) -> list[Left]:
        """Return what is left now."""
        return sorted(self._look() - self._before)

    def sweep(self, grace: float = GRACE) -> list[Left]:
        """Return what is left after the grace, and remove it.

        Raises TimeoutError if it cannot be removed.
        """
        left = self._after(grace)
        for version, plural, _labels in KINDS:
            going = [one for one in left if one.what == plural]
            for one in going:
                self._client.delete(version, plural, one.name, one.place or None)
            if stays := self._after(PATIENCE, going):
                raise TimeoutError(f"cannot be removed from the sandbox: {', '.join(map(str, stays))}")
        for one in left:
            self._tidy(one)
        return left

    def _after(self, seconds: float, of: t.Collection[Left] | None = None) -> list[Left]:
        """Return what is left after so many seconds, at once if nothing is left. of: only these."""
        deadline = time.monotonic() + seconds
        while (left := self._left(of)) and time.monotonic() < deadline:
            time.sleep(0.2)
        return left

    def _left(self, of: t.Collection[Left] | None) -> list[Left]:
        return [] if of == [] else [one for one in self.names() if of is None or one in of]

    def _look(self) -> set[Left]:
        found = {
            Left(plural, one["metadata"].get("namespace") or "", one["metadata"]["name"])
            for version, plural, labels in KINDS
            for one in self._listed(version, plural, labels)
        }
        if self._processes.find(SERVER) != self._server:
            found.add(Left(RESTART, "", SERVER))
        for node in self._client.list("v1", "nodes"):
            # A new node goes with its Machine.
            if node["metadata"]["name"] in self._nodes:
                found |= _done_to(node)
        return found

    def _listed(self, version: str, plural: str, labels: str | None) -> list[Object]:
        try:
            return self._client.list(version, plural, labels=labels)
        except ApiError as error:
            if error.status != 404:
                raise
            return []

    def _tidy(self, one: Left) -> None:
        """Take away a label, a taint or the cordon of a node; get used to a new API server."""
        if one.what == LABEL:
            self._client.patch("v1", "nodes", one.place, None, {"metadata": {"labels": {one.name: None}}})
        elif one.what == RESTART:
            self._server = self._processes.find(SERVER)
        elif one.what == CORDON:
            self._client.patch("v1", "nodes", one.place, None, {"spec": {"unschedulable": None}})
        elif one.what == TAINT:
            node = self._client.get("v1", "nodes", one.place) or {"spec": {}}
            kept = [taint for taint in node["spec"].get("taints") or [] if taint["key"] != one.name]
            self._client.patch("v1", "nodes", one.place, None, {"spec": {"taints": kept}})


def _done_to(node: Object) -> set[Left]:
    """Return the labels, the taints and the cordon of a node."""
    name, spec = node["metadata"]["name"], node["spec"]
    labels = {Left(LABEL, name, key) for key in node["metadata"].get("labels") or {} if _is_of_users(key)}
    taints = {Left(TAINT, name, one["key"]) for one in spec.get("taints") or [] if _is_of_users(one["key"])}
    return labels | taints | ({Left(CORDON, name, "")} if spec.get("unschedulable") else set())


def _is_of_users(key: str) -> bool:
    return not key.startswith(_CLUSTERS_OWN)
