# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for KMM's PreflightValidation: each Module against a kernel to come. The real one looks into the image's layers."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins import kmm_modules as modules
from openshift_sandbox.stand_ins.conditions import timestamp
from openshift_sandbox.stand_ins.kmm_modules import OPERATOR, Object
from openshift_sandbox.stand_ins.loop import Cluster, Reconciler

VERIFIED: t.Final = "Verification successful ({}), this Module will not be verified again in this Preflight CR"
KINDS: t.Final = ("PreflightValidation", "PreflightValidationOCP")


def verdict(cluster: Cluster, module: Object, spec: Object) -> tuple[str, str]:
    """Status and reason, in KMM's words."""
    name, kernel = module["metadata"]["name"], spec["kernelVersion"]
    mapping = modules.mapping_for(module, kernel)
    if mapping is None:
        return "Failure", f"failed to process kernel mapping in the module {name} for kernel version {kernel}"
    image = modules.image_for(mapping, kernel)
    if mapping.get("build"):
        return "Success", VERIFIED.format("build compiles and image pushed" if spec.get("pushBuiltImage") else "build compiles")
    if cluster.trouble("kmm_image_missing", image=image, kernel=kernel):
        return "Failure", f"image {image} inaccessible or does not exists"
    return "Success", VERIFIED.format("image accessible and verified")


class KmmPreflight(Reconciler):
    kinds = ("Deployment", "Module", *KINDS)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = next((one for one in cluster.objects("Deployment") if one["metadata"]["name"] == OPERATOR), None)
        if deployment is None or not cluster.available(OPERATOR, deployment["metadata"]["namespace"]):
            return
        for kind in KINDS:
            for preflight in cluster.objects(kind):
                self._check(cluster, kind, preflight)

    def _check(self, cluster: Cluster, kind: str, preflight: Object) -> None:
        before = {(one["namespace"], one["name"]): one for one in (preflight.get("status") or {}).get("modules") or []}
        after = []
        for module in cluster.objects("Module"):
            namespace, name = modules.place(module)
            known = before.get((namespace, name), {})
            if known.get("verificationStage") == "Done":
                after.append(known)
                continue
            done = cluster.due((preflight["metadata"]["uid"], namespace, name), "kmm_preflight", 0.5)
            status, reason = verdict(cluster, module, preflight["spec"]) if done else ("InProgress", "Verification has not started yet")
            entry = {"name": name, "namespace": namespace, "verificationStatus": status, "statusReason": reason}
            after.append(entry | {"verificationStage": "Done" if done else "Image", "lastTransitionTime": known.get("lastTransitionTime") or timestamp()})
        if after != list(before.values()):
            cluster.patch(kind, preflight["metadata"]["name"], None, {"status": {"modules": after}}, "status")


RECONCILERS: t.Final = (KmmPreflight,)
