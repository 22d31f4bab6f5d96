# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the registry of bundle images, and for the node that pulls them.

The real node pulls the image, and the pod extracts it. OLM's Job, its deadline and its pod are real here, and
so is `opm alpha bundle extract`, which runs on a folder with the content of the image.
"""

from __future__ import annotations

import typing as t
from pathlib import Path

from openshift_sandbox.catalogue import bundles
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

REF: t.Final = "operatorframework.io/bundle-unpack-ref"
PULLED: t.Final = "sandbox.openshift/pulled"
PULL: t.Final = "pull"
BACK_OFF: t.Final = "ImagePullBackOff"
MISSING: t.Final = "reading manifest {digest} in {repository}: manifest unknown"


def image_of(pod: Object) -> str:
    """Return the image of the bundle that a pod unpacks."""
    return next(
        (str(one["image"]) for one in pod["spec"].get("initContainers") or [] if one["name"] == PULL), ""
    )


def refused(pod: Object) -> Object:
    """Return the status of a pod with an init container whose image no registry has.

    The ones before it are done.
    """
    found, image = [], image_of(pod)
    repository, _at, digest = image.partition("@")
    for one in pod["spec"]["initContainers"]:
        entry: Object = {
            "name": one["name"],
            "image": one["image"],
            "imageID": "",
            "ready": one["name"] != PULL,
            "restartCount": 0,
            "started": False,
        }
        text = (
            f'Back-off pulling image "{image}": ErrImagePull: '
            f"{MISSING.format(digest=digest, repository=repository)}"
        )
        waiting = {"waiting": {"reason": BACK_OFF, "message": text}}
        found.append(
            {
                **entry,
                "state": waiting
                if one["name"] == PULL
                else {"terminated": {"exitCode": 0, "reason": "Completed"}},
            }
        )
    return {"phase": "Pending", "initContainerStatuses": found}


class BundleUnpack(Reconciler):
    kinds = ("Pod",)

    def __init__(self) -> None:
        self._extracted: set[str] = set()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for pod in cluster.objects("Pod"):
            metadata, image = pod["metadata"], image_of(pod)
            if REF in (metadata.get("labels") or {}) and image and not metadata.get("deletionTimestamp"):
                place = bundles.folder(Sandbox(cluster.directory).run, image)
                if place.is_dir():
                    self._extract(cluster, pod, place)
                elif pod["spec"].get("nodeName") and _is_pending(pod) and not _is_refused(pod):
                    cluster.patch(
                        "Pod", metadata["name"], metadata["namespace"], {"status": refused(pod)}, "status"
                    )

    def _extract(self, cluster: Cluster, pod: Object, place: Path) -> None:
        """Extract the bundle; the simulated pod goes on when the ConfigMap is written."""
        metadata, sandbox = pod["metadata"], Sandbox(cluster.directory)
        ref = metadata["labels"][REF]
        name = f"opm-extract-{ref[:8]}"
        if metadata["uid"] not in self._extracted:
            self._extracted.add(metadata["uid"])
            argv = [
                sandbox.binary("olm", "opm"),
                "alpha",
                "bundle",
                "extract",
                "-m",
                f"{place}/",
                "-n",
                metadata["namespace"],
                "-c",
                ref,
                "-z",
            ]
            argv += ["-k", sandbox.component_kubeconfig("olm")]
            sandbox.processes.start(name, argv, {"CONTAINER_IMAGE": image_of(pod)})
        elif PULLED not in (metadata.get("annotations") or {}) and not sandbox.processes.alive(name):
            cluster.patch(
                "Pod",
                metadata["name"],
                metadata["namespace"],
                {"metadata": {"annotations": {PULLED: "true"}}},
            )


def _is_pending(pod: Object) -> bool:
    return bool((pod.get("status") or {}).get("phase", "Pending") == "Pending")


def _is_refused(pod: Object) -> bool:
    statuses = (pod.get("status") or {}).get("initContainerStatuses") or []
    return any(((one.get("state") or {}).get("waiting") or {}).get("reason") == BACK_OFF for one in statuses)
