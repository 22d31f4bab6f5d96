# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back from NVIDIADriver objects to the policy's driver, node by node.

GPU operator 26.7 (its source, 2026-11): once useNvidiaDriverCRD is off, an NVIDIADriver is `disabled`, but
its DaemonSet keeps its nodes. Deleting it would end all its pods at once. The operator replaces a pod without
DaemonSet, as in an upgrade, once its node's annotation asks for that. The objects are deleted last, so that
the next run can resume an interrupted one.
"""

from __future__ import annotations

import typing as t

from ..._catalogue.well_known import DRIVER_UPGRADE
from ..._core.adoption import keeper
from ..._core.daemon_sets import is_owned_by, of_owner
from ..._core.errors import NotReadyError, text_of
from ..._core.objects import Snapshot, at, name
from ..._core.ownership import owned
from ..._core.readiness import Readiness, pending, ready
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes.labels import labels
from .manifest import state

Data = dict[str, t.Any]
COMPONENT: t.Final = "app.kubernetes.io/component=nvidia-driver"
REQUESTED: t.Final = "nvidia.com/gpu-driver-upgrade-requested"
_TOOLKIT: t.Final = "openshift.driver-toolkit"


def refuse_foreign(drivers: t.Sequence[Data], daemonsets: t.Sequence[Data]) -> list[str]:
    """Raise NotReadyError if a foreign NVIDIADriver has a DaemonSet; return warnings about other foreign
    NVIDIADrivers.
    """
    theirs = [one for one in drivers if not owned(one)]
    driving = [one for one in theirs if of_owner(daemonsets, one["metadata"]["uid"])]
    if driving:
        names = [name(one) for one in driving]
        raise NotReadyError(
            "GPU-NVD-FOREIGN",
            drivers=" and ".join(names),
            manager=keeper(driving[0]),
            names=" ".join(names),
            evidence=[f"nvidiadriver/{one}" for one in names],
        )
    return [
        f"NVIDIADriver {name(one)} was made by {keeper(one)}; it stays, and the operator disables it."
        for one in theirs
    ]


def refuse_unreplaced(spec: Data, daemonsets: t.Iterable[Data]) -> None:
    """Raise NotReadyError if the operator would not replace the pods of these DaemonSets.

    Its upgrade replaces only pods with the label of the Driver Toolkit.
    """
    plain = [name(one) for one in daemonsets if labels(one["spec"]["template"]).get(_TOOLKIT) != "true"]
    is_manual = not at(spec, "driver.upgradePolicy.autoUpgrade")
    of_others = f"DaemonSet {', '.join(plain)} has a precompiled driver, or one without the Driver Toolkit"
    causes = [
        (at(spec, "driver.enabled") is False, "driver.enabled is false"),
        (is_manual, "driver.upgrade_policy.auto_upgrade is not true"),
        (bool(at(spec, "sandboxWorkloads.enabled")), "sandbox_workloads.enabled is true"),
        (bool(plain), of_others),
    ]
    if found := [what for is_so, what in causes if is_so]:
        raise NotReadyError("GPU-NVD-BACK", causes=" and ".join(found), evidence=found)


def judge_disabled(snapshot: Snapshot) -> Readiness:
    """Return ready once all owned NVIDIADrivers are disabled; before, the operator would recreate a deleted
    DaemonSet.
    """
    late = [name(one) for one in snapshot["drivers"] if owned(one) and state(one) != "disabled"]
    if not late:
        return ready("Disabled", "Every NVIDIADriver of this collection is disabled.")
    text = text_of("GPU-NVD-NOT-READY", driver=" ".join(late), why="it is not disabled yet")
    return pending("Driving", **text._asdict())


def left_over(pods: t.Iterable[Data]) -> list[Data]:
    """Return the pods without a DaemonSet that are on a node."""
    return [pod for pod in pods if not pod["metadata"].get("ownerReferences") and pod["spec"].get("nodeName")]


def unasked(pods: t.Iterable[Data], nodes: t.Iterable[Data]) -> list[str]:
    """Return the nodes with such a pod on which no upgrade is running, requested or failed."""
    held = {pod["spec"]["nodeName"] for pod in left_over(pods)}
    idle = [
        node
        for node in nodes
        if name(node) in held and labels(node).get(DRIVER_UPGRADE, "") in ("", "upgrade-done")
    ]
    return sorted(
        name(node) for node in idle if (node["metadata"].get("annotations") or {}).get(REQUESTED) != "true"
    )


def judge_replaced(snapshot: Snapshot) -> Readiness:
    """Return ready once no node has such a pod."""
    nodes = sorted(pod["spec"]["nodeName"] for pod in left_over(snapshot["pods"]))
    if not nodes:
        return ready("Replaced", "Every node has the policy's driver.")
    message = (
        "Driver pods of NVIDIADriver objects still run on "
        f"{', '.join(nodes[:5])}{', …' if nodes[5:] else ''}."
    )
    remedy = (
        f"Run `oc get nodes -L {DRIVER_UPGRADE}`, then `oc get pods -A --field-selector "
        f"spec.nodeName={nodes[0]}` to find pods that hold its GPUs."
    )
    lines = tuple(f"{node}: driver pod is still the old one" for node in nodes)
    return pending("Replacing", message, code="GPU-UPG-RUNNING", remedy=remedy, details=lines)


DRIVER: t.Final = known("NVIDIADriver")
DAEMONSET: t.Final = known("DaemonSet")
POD: t.Final = known("Pod")
NODE: t.Final = known("Node")


def begin(api: Api, namespace: str, spec: Data) -> DriverReturn | None:
    """Return the owned NVIDIADrivers to replace, or None; raise NotReadyError if that cannot work.

    spec: the future spec of the policy.
    """
    is_kept = at(spec, "driver.useNvidiaDriverCRD") or not api.served(DRIVER)
    drivers = [] if is_kept else api.list(DRIVER)
    found = DriverReturn(api, namespace, [one for one in drivers if owned(one)])
    sets = api.list(DAEMONSET, namespace, labels=COMPONENT) if drivers else []
    for remark in refuse_foreign(drivers, sets):
        api.warn(remark)
    if not found.drivers:
        return None
    refuse_unreplaced(spec, found.of_ours(sets))
    return found


class DriverReturn:
    """The owned NVIDIADrivers that the policy's driver replaces."""

    def __init__(self, api: Api, namespace: str, drivers: t.Sequence[Data]) -> None:
        self._api, self._namespace, self.drivers = api, namespace, drivers

    def of_ours(self, daemonsets: t.Iterable[Data]) -> list[Data]:
        """Return the DaemonSets of these NVIDIADrivers."""
        uids = [one["metadata"]["uid"] for one in self.drivers]
        return [one for one in daemonsets if is_owned_by(one, uids)]

    def release(self) -> None:
        """Delete the DaemonSets but not their pods, then request the upgrade of each node."""
        api, namespace = self._api, self._namespace
        if not api.wait_wanted:
            api.warn(
                "Only a run that waits replaces NVIDIADriver objects; until then their pods keep the "
                "policy's driver off their nodes."
            )
            return
        api.wait({"drivers": Query(DRIVER)}, judge_disabled, "switch to the policy's driver")
        for one in self.of_ours(api.list(DAEMONSET, namespace, labels=COMPONENT)):
            api.delete(DAEMONSET, name(one), namespace, owned_only=False, orphan=True)
        for node in unasked(api.list(POD, namespace, labels=COMPONENT), api.list(NODE)):
            api.merge_patch(NODE, node, None, {"metadata": {"annotations": {REQUESTED: "true"}}})

    def finish(self) -> None:
        """Delete the objects once no pod uses their resources, such as the service account."""
        api = self._api
        if not api.wait_wanted:
            return
        queries = {"pods": Query(POD, self._namespace, labels=COMPONENT)}
        api.wait(queries, judge_replaced, "replacement of driver pods")
        for one in self.drivers:
            api.delete(DRIVER, name(one))
