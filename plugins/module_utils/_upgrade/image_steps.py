# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let the cluster look up the image of the new driver before the upgrade's first write."""

from __future__ import annotations

from .._core.objects import name
from .._kube.client import Api
from .._stack.drivers.image import THERE
from .._stack.drivers.steps import look_up
from . import images
from .look_steps import Seen
from .options import GpuDriverUpgradeParams
from .plan import Plan


def check(api: Api, params: GpuDriverUpgradeParams, seen: Seen, plan: Plan) -> None:
    """Raise UPGRADE-IMAGE if a node of the plan would find no image; warn if nobody can tell.

    A node whose object asks for the driver already needs no look-up.
    """
    nodes = {name(node): node for node in seen.snapshot["nodes"] if name(node) in plan.nodes}
    groups = images.needed(seen.targets, plan.wanted, nodes)
    known = look_up(api, (one for group in groups for one in group), params.namespace)
    if gone := images.missing(groups, known):
        instead = images.others(gone, plan.wanted)
        found = look_up(api, instead, params.namespace)
        there = {one: branch for one, branch in instead.items() if found[one].verdict == THERE}
        raise images.refusal(groups, gone, there)
    if text := images.unknown(groups, known):
        api.warn(text)
