# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the GPU operator's NVIDIADriver controller: owners of nodes, DaemonSets, status.

The real one also asks the registry for precompiled images. Compared with the source of v26.7.0 (2026-11):
when the policy switches it off it only reports that; its DaemonSets, their pods and the labels of owners
stay. Anti-affinity keeps driver pods of both kinds of owner from one node. A deleted NVIDIADriver takes its
DaemonSets and pods along at once.
"""

from __future__ import annotations

import hashlib
import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.gpu_operator import assets, daemon_sets, driver_owners, readiness
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import ImageError
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import OWNER, labels
from openshift_sandbox.stand_ins.gpu_operator.operands import DRIVER, Object
from openshift_sandbox.stand_ins.gpu_operator.operator import TOOLKIT_STREAM
from openshift_sandbox.stand_ins.gpu_operator.rules.facts import kernels, toolkit_images
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release, running
from openshift_sandbox.stand_ins.gpu_operator.rules.turns import active

MAJOR: t.Final = "feature.node.kubernetes.io/system-os_release.VERSION_ID.major"
DONE: t.Final = ("Reconciled", "All resources have been successfully reconciled")


def daemon_set(driver: Object, release: Release, version: str, image: str | None, system: str = "") -> Object:
    """Return the DaemonSet of an NVIDIADriver for one version of RHCOS."""
    spec, name = driver["spec"], driver["metadata"]["name"]
    shared = {
        "tolerations": spec.get("tolerations"),
        "labels": spec.get("labels"),
        "annotations": spec.get("annotations"),
    }
    policy = {"metadata": driver["metadata"], "spec": {"driver": spec, "daemonsets": shared}}
    (made,) = daemon_sets.driver_daemon_sets(policy, release, {version: image}, system)
    digest = hashlib.sha256(f"{name} {version}".encode()).hexdigest()[:6]
    title = f"nvidia-{spec.get('driverType', 'gpu')}-driver-rhel{version.partition('.')[0]}-{digest}"
    made["metadata"] |= {"name": title}
    owner = made["metadata"]["ownerReferences"][0]
    owner |= {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver"}
    template = made["spec"]["template"]
    for marks in (
        made["metadata"]["labels"],
        made["spec"]["selector"]["matchLabels"],
        template["metadata"]["labels"],
    ):
        marks["app"] = title
    template["spec"]["nodeSelector"] |= {OWNER: name} | (spec.get("nodeSelector") or {})
    return made


class NvidiaDriver(Reconciler):
    kinds = (
        "ClusterPolicy",
        "ConfigMap",
        "ControllerRevision",
        "DaemonSet",
        "Deployment",
        "GPUCluster",
        "ImageStream",
        "NVIDIADriver",
        "Node",
        "Pod",
        "ServiceAccount",
    )

    def __init__(self) -> None:
        self._prepared: set[str] = set()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        release, policy = running(cluster), active(cluster.objects("ClusterPolicy"))
        if release is None:
            return
        drivers = [
            one for one in cluster.objects("NVIDIADriver") if not one["metadata"].get("deletionTimestamp")
        ]
        off = policy is not None and not (policy["spec"].get("driver") or {}).get("useNvidiaDriverCRD")
        nodes = cluster.objects("Node")
        conflict = driver_owners.conflict(drivers, nodes)
        if not off and not conflict and (policy or cluster.objects("GPUCluster")):
            self._own(cluster, driver_owners.owners(drivers, nodes), nodes)
        if policy and not off and policy["metadata"]["uid"] not in self._prepared:
            for obj in assets.assets(DRIVER.state, policy, release.namespace):
                cluster.apply(obj)
            self._prepared.add(policy["metadata"]["uid"])
        for driver in drivers:
            if off:
                self._write_error(
                    cluster,
                    driver,
                    "disabled",
                    "Reconciled",
                    "useNvidiaDriverCRD is not enabled in ClusterPolicy",
                )
            elif conflict:
                self._write_error(cluster, driver, "notReady", *conflict)
            else:
                self._drive(cluster, driver, release)

    def _own(self, cluster: Cluster, owners: dict[str, str | None], nodes: list[Object]) -> None:
        for node in nodes:
            name = node["metadata"]["name"]
            if name in owners and labels(node).get(OWNER) != owners[name]:
                cluster.patch("Node", name, None, {"metadata": {"labels": {OWNER: owners[name]}}})

    def _drive(self, cluster: Cluster, driver: Object, release: Release) -> None:
        """Apply the DaemonSets of a driver.

        No driver counts a node without the label of its major version: it says ready without any DaemonSet.
        """
        owned = [
            node
            for node in cluster.objects("Node")
            if labels(node).get(OWNER) == driver["metadata"]["name"] and MAJOR in labels(node)
        ]
        versions, system = (
            toolkit_images(cluster.find("ImageStream", *TOOLKIT_STREAM), owned),
            next(iter(kernels(owned, release).values()), ""),
        )
        try:
            daemon_sets.refuse_unmounted(cluster, driver["spec"], release.namespace)
            wanted = {
                one["metadata"]["name"]: one
                for version, image in versions.items()
                for one in [daemon_set(driver, release, version, image, system)]
            }
            self._keep(cluster, driver, release.namespace, wanted)
        except (ApiError, ImageError) as error:
            text = str(getattr(error, "message", error))
            self._write_error(cluster, driver, "notReady", "ReconcileFailed", text)
            return
        late = [name for name in wanted if not self._ready(cluster, name, release.namespace)]
        if late:
            self._write_error(
                cluster, driver, "notReady", "DriverNotReady", "Waiting for driver pod to be ready"
            )
        else:
            self._write(cluster, driver, "ready", {"Ready": ("True", *DONE), "Error": ("False", "Ready", "")})

    def _keep(self, cluster: Cluster, driver: Object, namespace: str, wanted: dict[str, Object]) -> None:
        if wanted and cluster.find("ServiceAccount", DRIVER.account, namespace) is None:
            cluster.apply(
                {
                    "apiVersion": "v1",
                    "kind": "ServiceAccount",
                    "metadata": {"name": DRIVER.account, "namespace": namespace},
                }
            )
        for obj in wanted.values():
            whole, live = (
                daemon_sets.with_hash(obj),
                cluster.find("DaemonSet", obj["metadata"]["name"], namespace),
            )
            mark = daemon_sets.APPLIED
            if (
                not live
                or (live["metadata"].get("annotations") or {}).get(mark)
                != whole["metadata"]["annotations"][mark]
            ):
                cluster.apply(whole)
        for live in cluster.objects("DaemonSet", namespace):
            metadata = live["metadata"]
            ours = any(
                owner["uid"] == driver["metadata"]["uid"] for owner in metadata.get("ownerReferences") or []
            )
            if ours and metadata["name"] not in wanted and not metadata.get("deletionTimestamp"):
                cluster.delete("DaemonSet", metadata["name"], namespace)

    def _ready(self, cluster: Cluster, name: str, namespace: str) -> bool:
        live = cluster.find("DaemonSet", name, namespace)
        if live is None:
            return False
        uid = live["metadata"]["uid"]
        pods = [
            pod
            for pod in cluster.objects("Pod", namespace)
            if any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences") or [])
        ]
        revision = readiness.latest_revision(cluster.objects("ControllerRevision", namespace), live)
        return readiness.daemon_set_ready(live, pods, revision)

    def _write_error(self, cluster: Cluster, driver: Object, state: str, reason: str, message: str) -> None:
        self._write(
            cluster, driver, state, {"Ready": ("False", "Error", ""), "Error": ("True", reason, message)}
        )

    def _write(
        self, cluster: Cluster, driver: Object, state: str, conditions: dict[str, tuple[str, str, str]]
    ) -> None:
        status = readiness.status({"state": state, **conditions}, driver.get("status") or {}, "")
        del status["namespace"]
        readiness.write(cluster, "NVIDIADriver", driver, status)
