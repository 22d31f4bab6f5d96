# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the PreflightValidation of KMM 2.4 and later: it checks each Module for a future kernel.

The real one pulls, builds and signs for that kernel.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import timestamp
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.modules import OPERATOR, Object

KINDS: t.Final = ("PreflightValidation", "PreflightValidationOCP")


def verdict(cluster: Cluster, module: Object, spec: Object) -> tuple[str, str]:
    """Return status and reason, in KMM's words."""
    kernel = spec["kernelVersion"]
    mapping = modules.mapping_for(module, kernel)
    if mapping is None:
        return "Failure", "mapping not found"
    if not cluster.trouble("kmm_image_missing", image=modules.image_for(mapping, kernel), kernel=kernel):
        return "Success", "verified image exists"
    if not (mapping.get("build") or mapping.get("sign")):
        return "Failure", "verified image does not exist"
    failed = [
        one
        for key, one in (("build", "kmm_build_fails"), ("sign", "kmm_sign_fails"))
        if mapping.get(key) and cluster.trouble(one, kernel=kernel)
    ]
    return (
        ("Failure", "verified image does not exist and build/sign failed")
        if failed
        else ("Success", "verified image exists")
    )


class KmmPreflight(Reconciler):
    kinds = ("Deployment", "Module", *KINDS)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = next(
            (one for one in cluster.objects("Deployment") if one["metadata"]["name"] == OPERATOR), None
        )
        if deployment is None or not cluster.available(OPERATOR, deployment["metadata"]["namespace"]):
            return
        for kind in KINDS:
            for preflight in cluster.objects(kind):
                self._check(cluster, kind, preflight)

    def _check(self, cluster: Cluster, kind: str, preflight: Object) -> None:
        before = {
            (one["namespace"], one["name"]): one
            for one in (preflight.get("status") or {}).get("modules") or []
        }
        after = []
        for module in cluster.objects("Module"):
            namespace, name = modules.place(module)
            known = before.get((namespace, name), {})
            if known.get("verificationStage") == "Done":
                after.append(known)
                continue
            done = cluster.due((preflight["metadata"]["uid"], namespace, name), "kmm_preflight", 0.5)
            status, reason = (
                verdict(cluster, module, preflight["spec"])
                if done
                else ("InProgress", "verification is not finished yet")
            )
            entry = {
                "name": name,
                "namespace": namespace,
                "verificationStatus": status,
                "statusReason": reason,
            }
            after.append(
                entry
                | {
                    "verificationStage": "Done" if done else "Image",
                    "lastTransitionTime": known.get("lastTransitionTime") or timestamp(),
                }
            )
        if after != list(before.values()):
            cluster.patch(kind, preflight["metadata"]["name"], None, {"status": {"modules": after}}, "status")
