# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade ends, before OLM has made its InstallPlan: from the installed CSV and the catalogue."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._impact import driver, policy_fields
from .._impact.impact import Question
from .._olm import busy, driver_change
from . import order


def image_changes(running: KubeObject | None, offer: KubeObject, csv: str) -> tuple[str, ...]:
    """Return the names of the drivers' images that the CSV no longer has; empty if the catalogue cannot tell.

    The catalogue lists the images of a CSV that is the head of a channel, without their names.
    """
    related = _related(offer, csv)
    return tuple(name for name, image in busy.images(running).items() if related and image not in related)


def questions(
    running: KubeObject | None,
    offer: KubeObject,
    csv: str,
    policies: t.Sequence[KubeObject],
    kept: t.Collection[str] = (),
) -> list[Question]:
    """Return what to find out before the upgrade to this CSV begins.

    policies: ClusterPolicies and NVIDIADrivers, or the policies of the network operator. kept: names
    of images that the task keeps as they are.
    """
    package = csv.partition(".")[0]
    if running is None or package not in (order.GPU, order.NETWORK):
        return []
    object_name = f"the upgrade leads from {running['metadata']['name']} to {csv}"
    if package == order.GPU:
        changes = [one for one in image_changes(running, offer, csv) if one not in kept]
        return busy.questions(policies, object_name, changes)
    if not driver.has_nic_driver(policies):
        return []
    why = f"{object_name}, and the catalogue does not show what changes"
    return [policy_fields.nic_upgrade(why, policies)]


def new_driver(
    running: KubeObject | None,
    offer: KubeObject,
    csv: str,
    policies: t.Sequence[KubeObject],
) -> driver_change.Change | None:
    """Return the change of the GPU driver that the catalogue shows for the upgrade, or None."""
    followers = tuple(one for one in policies if driver_change.follows(one))
    before, related = driver_change.default(running), _related(offer, csv)
    if running is None or not followers or not related or before in related:
        return None
    return driver_change.Change("", running["metadata"]["name"], csv, before, "", followers)


def _related(offer: KubeObject, csv: str) -> frozenset[str]:
    channels = (offer.get("status") or {}).get("channels") or []
    heads = [one.get("currentCSVDesc") or {} for one in channels if one.get("currentCSV") == csv]
    return frozenset(str(image) for head in heads for image in head.get("relatedImages") or [])
