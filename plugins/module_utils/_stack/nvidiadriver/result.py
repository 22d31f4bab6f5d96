# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The result of NVIDIADriver objects: the status of each, and the nodes that it owns."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, Snapshot, name
from ..._nodes.labels import labels
from ..clusterpolicy.manifest import reason, state
from .judge import OWNER


def summarize(snapshot: Snapshot, wanted: t.Sequence[KubeObject]) -> list[dict[str, t.Any]]:
    """Return one entry per wanted driver, from the live object if it exists, else from the wanted one."""
    live = {name(one): one for one in snapshot["drivers"]}
    found = []
    for one in wanted:
        driver = live.get(name(one), {"metadata": one["metadata"]})
        spec = driver.get("spec") or one["spec"]
        nodes = (node for node in snapshot["nodes"] if labels(node).get(OWNER) == name(one))
        found.append(
            {
                "name": name(one),
                "state": state(driver),
                "reason": reason(driver),
                "version": spec.get("version") or "",
                "node_selector": spec.get("nodeSelector") or {},
                "nodes": sorted(map(name, nodes)),
            }
        )
    return found
