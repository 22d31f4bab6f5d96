# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for KMM's images: pulled, or built and signed by Builds.

The real KMM pushes images, and writes ModuleImagesConfigs and ModuleBuildSignConfigs.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster
from openshift_sandbox.stand_ins.kmm import builds, modules
from openshift_sandbox.stand_ins.kmm.modules import Object

HOLD: t.Final = "sandbox.openshift/hold"
MISSING: t.Final = "manifest unknown"
OWNER: t.Final = f"{modules.PREFIX}/image-owner"
TYPE: t.Final = f"{modules.PREFIX}/pull-pod-type"
ONCE, UNTIL = "one-time-pull", "until-success"
EXISTS, NEEDS_BUILDING, NEEDS_SIGNING = "Exists", "NeedsBuilding", "NeedsSigning"

# The images in the registries, each with the Secret of the certificate for its modules; empty when unsigned.
REGISTRY: t.Final[dict[str, str]] = {}


class Images:
    """The state of each Module's images. An image that existed once is never built or signed again."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, int, str], str] = {}

    def has(self, cluster: Cluster, module: Object, mapping: Object, kernel: str) -> bool:
        """Return whether the image of a mapping exists; pull, build or sign it when it does not."""
        image = modules.image_for(mapping, kernel)
        key = (module["metadata"]["uid"], module["spec"].get("imageRebuildTriggerGeneration") or 0, image)
        state = self._states.get(key, "")
        if state == "":
            state = self._pull(cluster, module, mapping, image, kernel)
        if state == NEEDS_BUILDING and builds.done(cluster, module, "BuildImage", mapping, kernel):
            REGISTRY[image] = ""
            state = NEEDS_SIGNING if mapping.get("sign") else EXISTS
        if state == NEEDS_SIGNING and builds.done(cluster, module, "SignImage", mapping, kernel):
            REGISTRY[image] = mapping["sign"]["certSecret"]["name"]
            state = EXISTS
        self._states[key] = state
        return state == EXISTS

    def _pull(self, cluster: Cluster, module: Object, mapping: Object, image: str, kernel: str) -> str:
        """Pull the image with a pod, until it works; only once where the image can be built or signed."""
        made = bool(mapping.get("build") or mapping.get("sign"))
        missing = cluster.trouble("kmm_image_missing", image=image, kernel=kernel) is not None or (
            made and image not in REGISTRY
        )
        name = f"{module['metadata']['name']}-pull-pod-{modules.digest(image, kernel)}"
        live = cluster.find("Pod", name, module["metadata"]["namespace"])
        if live is None:
            labels = {OWNER: module["metadata"]["name"], TYPE: ONCE if made else UNTIL}
            cluster.create(modules.pod(module, name, labels, image, None, ["/bin/sh", "-c", "exit 0"]))
            return ""
        if live["metadata"].get("deletionTimestamp"):
            return ""
        if missing and not _failed(live):
            self._fail(cluster, live, image)
        elif (missing and made) or (not missing and _failed(live)):
            cluster.delete("Pod", name, live["metadata"]["namespace"])
            return (NEEDS_BUILDING if mapping.get("build") else NEEDS_SIGNING) if missing else ""
        elif (live.get("status") or {}).get("phase") == "Succeeded" and not missing:
            cluster.delete("Pod", name, live["metadata"]["namespace"])
            REGISTRY.setdefault(image, "")
            return EXISTS
        return ""

    def _fail(self, cluster: Cluster, pod: Object, image: str) -> None:
        metadata, waiting = (
            pod["metadata"],
            {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}": {MISSING}'},
        )
        if HOLD not in (metadata.get("annotations") or {}):
            cluster.patch(
                "Pod", metadata["name"], metadata["namespace"], {"metadata": {"annotations": {HOLD: "ready"}}}
            )
        status = {
            "name": "puller",
            "image": image,
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "started": False,
            "state": {"waiting": waiting},
        }
        cluster.patch(
            "Pod",
            metadata["name"],
            metadata["namespace"],
            {"status": {"phase": "Pending", "containerStatuses": [status]}},
            "status",
        )


def _failed(pod: Object) -> bool:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return any(
        ((one.get("state") or {}).get("waiting") or {}).get("reason") == "ImagePullBackOff"
        for one in statuses
    )
