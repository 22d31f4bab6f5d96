# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a machine that starts again: another boot id, and the pods of its node are created again.

The real node is NotReady for minutes, and the pods keep their names and start again.
"""

from __future__ import annotations

import hashlib

from openshift_sandbox.stand_ins.core import drain
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object


def boot_id(digest: str) -> str:
    """Return a boot id made of the digest."""
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))


def next_boot(node: Object) -> str:
    """Return the boot id after the next start of the node."""
    before = f"{node['metadata']['name']}/{node['status']['nodeInfo']['bootID']}"
    return boot_id(hashlib.sha256(before.encode()).hexdigest())


def has_restarted(node: Object) -> bool:
    """Return whether a node has started again since it was made."""
    info = node["status"]["nodeInfo"]
    return bool(info["bootID"] != boot_id(str(info["machineID"])))


def restart(cluster: Cluster, node: Object) -> None:
    """Start the node again."""
    name = node["metadata"]["name"]
    cluster.patch("Node", name, None, {"status": {"nodeInfo": {"bootID": next_boot(node)}}}, "status")
    drain.bury(cluster, name)
