# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for KMM's images: pods that pull, build and sign the image of a kernel. Real builds take minutes and push; no ModuleImagesConfig is written."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins import kmm_modules as modules
from openshift_sandbox.stand_ins.kmm_modules import KIND, Object
from openshift_sandbox.stand_ins.loop import Cluster
from openshift_sandbox.stand_ins.pod_logs import PodLogs

HOLD: t.Final = "sandbox.openshift/hold"
EXIT: t.Final = "sandbox.openshift/exit-code"
MISSING: t.Final = "manifest unknown"


class Images:
    """Which images there are, as their pods have shown."""

    def __init__(self) -> None:
        self._there: set[str] = set()
        self._logs = PodLogs()

    def has(self, cluster: Cluster, module: Object, mapping: Object, kernel: str, node: str) -> bool:
        image = modules.image_for(mapping, kernel)
        if image in self._there:
            return True
        steps = [(step, suffix) for step, suffix, key in (("BuildImage", "build", "build"), ("SignImage", "sign", "sign")) if mapping.get(key)]
        for step, suffix in steps or [("", "pull-pod")]:
            if not self._done(cluster, module, step, f"{module['metadata']['name']}-{suffix}-{modules.digest(image, kernel)}", image, kernel, node):
                return False
        self._there.add(image)
        return True

    def tidy(self, cluster: Cluster, module: Object) -> None:
        """Pods that succeeded are taken away; they have said what they had to."""
        for pod in self._pods(cluster, module):
            done = (pod.get("status") or {}).get("phase") == "Succeeded" and not pod["metadata"].get("deletionTimestamp")
            if done and pod["spec"]["containers"][0]["image"] in self._there:
                cluster.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])

    def _pods(self, cluster: Cluster, module: Object) -> list[Object]:
        namespace, name = modules.place(module)
        found = cluster.objects("Pod", namespace)
        return [pod for pod in found if (pod["metadata"].get("labels") or {}).get(modules.MODULE) == name and KIND in pod["metadata"]["labels"]]

    def _done(self, cluster: Cluster, module: Object, step: str, name: str, image: str, kernel: str, node: str) -> bool:
        namespace, _name = modules.place(module)
        live = cluster.find("Pod", name, namespace)
        if live is None:
            where = None if step else node
            labels = {KIND: step or "PullImage", f"{modules.PREFIX}/target-kernel": kernel}
            cluster.create(modules.pod(module, name, labels, image, where, ["/bin/sh", "-c", step or "exit 0"]))
            return False
        self._trouble(cluster, live, step, image, kernel)
        return (live.get("status") or {}).get("phase") == "Succeeded"

    def _trouble(self, cluster: Cluster, pod: Object, step: str, image: str, kernel: str) -> None:
        metadata, held = pod["metadata"], pod["metadata"].get("annotations") or {}
        missing = cluster.trouble("kmm_image_missing", image=image, kernel=kernel) if not step else None
        failing = cluster.trouble("kmm_build_fails" if step == "BuildImage" else "kmm_sign_fails", kernel=kernel) if step else None
        if missing and HOLD not in held:
            cluster.patch("Pod", metadata["name"], metadata["namespace"], {"metadata": {"annotations": {HOLD: "ready"}}})
        if missing and not _pull_failed(pod):
            waiting = {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{image}": {MISSING}'}
            status = {"name": "puller", "image": image, "imageID": "", "ready": False, "restartCount": 0, "started": False, "state": {"waiting": waiting}}
            cluster.patch("Pod", metadata["name"], metadata["namespace"], {"status": {"phase": "Pending", "containerStatuses": [status]}}, "status")
        if failing and EXIT not in held:
            self._logs.write(cluster, pod, [f"STEP 1/4: FROM driver-toolkit AS {step}", str(failing.get("text", "make: *** [Makefile:4: all] Error 2"))])
            cluster.patch("Pod", metadata["name"], metadata["namespace"], {"metadata": {"annotations": {EXIT: "1"}}})
        if (not missing and _pull_failed(pod)) or (not failing and EXIT in held):
            cluster.delete("Pod", metadata["name"], metadata["namespace"])


def _pull_failed(pod: Object) -> bool:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return any(((one.get("state") or {}).get("waiting") or {}).get("reason") == "ImagePullBackOff" for one in statuses)
