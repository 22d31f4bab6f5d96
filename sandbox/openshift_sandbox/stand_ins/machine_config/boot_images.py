# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-config operator's managedBootImages (trouble boot_image_update).

The real one reads the image from the ConfigMap coreos-bootimages, knows every image that Red Hat has
published, and updates a stub Ignition secret too.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from openshift_sandbox.stand_ins.clouds.cloud import provider_spec
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

ELSEWHERE: t.Final = {"ClusterAPI", "Migrating"}
GCP_PREFIX: t.Final = "projects/rhcos-cloud/global/images/"


class BootImages(Reconciler):
    kinds = ("Infrastructure", "MachineSet")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        troubles = cluster.troubles("boot_image_update")
        change = PLATFORMS.get(
            (
                (cluster.find("Infrastructure", "cluster") or {}).get("status", {}).get("platformStatus")
                or {}
            ).get("type", "")
        )
        if not troubles or change is None:
            return
        known = {cluster.scenario.cluster.get("image_id"), *(one["image"] for one in troubles)}
        for machine_set in cluster.objects("MachineSet"):
            if managed(machine_set) and (
                value := change(provider_spec(machine_set["spec"]["template"]), troubles[-1], known)
            ):
                body = {"spec": {"template": {"spec": {"providerSpec": {"value": value}}}}}
                cluster.patch(
                    "MachineSet", machine_set["metadata"]["name"], machine_set["metadata"]["namespace"], body
                )


def managed(machine_set: Object) -> bool:
    """Return whether a MachineSet gets new images: not one with an owner, of Cluster API or with Windows."""
    metadata = machine_set["metadata"]
    windows = ((machine_set["spec"]["template"].get("metadata") or {}).get("labels") or {}).get(
        "machine.openshift.io/os-id"
    ) == "Windows"
    elsewhere = (machine_set.get("status") or {}).get("authoritativeAPI") in ELSEWHERE
    return not (metadata.get("deletionTimestamp") or metadata.get("ownerReferences") or windows or elsewhere)


def aws(value: Object, update: Object, known: t.Collection[object]) -> Object | None:
    """Return the fields to change, or None. An image named by a filter, or unknown to the operator, stays."""
    current = (value.get("ami") or {}).get("id")
    if current is None or current == update["image"] or current not in known:
        return None
    return {"ami": dict.fromkeys(value["ami"]) | {"id": update["image"]}}


def azure(value: Object, update: Object, known: t.Collection[object]) -> Object | None:
    """Return the fields to change, or None: from an uploaded image to the marketplace.

    Confidential machines stay as they are.
    """
    if ((value.get("securityProfile") or {}).get("settings") or {}).get("securityType"):
        return None
    image = {
        "offer": "aro4",
        "publisher": "azureopenshift",
        "resourceID": "",
        "sku": update.get("sku", "aro_422"),
        "type": "MarketplaceNoPlan",
    }
    wanted = image | {"version": update["image"]}
    uploaded = (value.get("image") or {}).get("resourceID")
    ours = uploaded or (value.get("image") or {}).get("publisher") == "azureopenshift"
    return {"image": wanted} if ours and value["image"] != wanted else None


def gcp(value: Object, update: Object, known: t.Collection[object]) -> Object | None:
    """Return the fields to change, or None."""
    disks = [dict(disk) for disk in value.get("disks") or []]
    wanted = GCP_PREFIX + str(update["image"])
    boots = [disk for disk in disks if disk.get("boot") and disk.get("image") != wanted]
    if not boots or not all(str(disk.get("image")).startswith(GCP_PREFIX) for disk in boots):
        return None
    for disk in boots:
        disk["image"] = wanted
    return {"disks": disks}


def vsphere(value: Object, update: Object, known: t.Collection[object]) -> Object | None:
    """Return the fields to change, or None."""
    return {"template": update["image"]} if value.get("template") != update["image"] else None


PLATFORMS: t.Final[dict[str, Callable[[Object, Object, t.Collection[object]], Object | None]]] = {
    "AWS": aws,
    "Azure": azure,
    "GCP": gcp,
    "VSphere": vsphere,
}
