# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Precompiled drivers are looked up before they are asked for: a node whose kernel nobody made an image for would lose its driver."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import (
    has_nvidia_pci,
    labels,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import Change

# What only precompiled drivers need is imported for them alone.
Data = dict[str, t.Any]


def refuse_missing(api: Api, params: Data, drivers: t.Iterable[Change]) -> None:
    """Nothing is asked where nothing about precompiled drivers is written: what is there already is judged where it runs."""
    new = [one for one in drivers if one.is_new]
    if not new:
        return
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
        image as driver_image,
    )
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.lookup_steps import (
        look_up,
    )

    nodes = api.list(known("Node"), keep=lambda node: node if has_nvidia_pci(labels(node)) else None)
    needs = [need for one in new for need in driver_image.precompiled(one.after, filter(one.is_for, nodes))]
    told = look_up(api, (image for need in needs for image in need.images), params["namespace"])
    pools = params["pools"] or [{"node_selector": {}}]
    ours = {str(node["metadata"]["name"]) for pool in pools for node in nodes_of(nodes, pool)}
    for text in driver_image.judge(needs, told, ours):
        api.warn(text)


def refuse_unmade(api: Api, params: Data, live: Data, spec: Data) -> None:
    """The same for a ClusterPolicy that is about to have this specification; drivers of NVIDIADriver objects are not its own."""
    before, after = ((one.get("driver") or {}) for one in (live.get("spec") or {}, spec))
    if after.get("usePrecompiled") and not after.get("useNvidiaDriverCRD"):
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import (
            Change,
        )

        refuse_missing(api, params, [Change(before, after)])
