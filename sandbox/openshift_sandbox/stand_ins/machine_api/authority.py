# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the pause of the Machine API's controllers where Cluster API is the authority.

In the real cluster somebody can move the authority; here nobody does.
"""

from __future__ import annotations

from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object


def paused(cluster: Cluster, obj: Object) -> bool:
    """Return whether a Machine or MachineSet must be left alone.

    Write so in its status where the CRD has the fields.
    """
    wanted, status = obj["spec"].get("authoritativeAPI"), obj.get("status") or {}
    authority = status.get("authoritativeAPI") or wanted
    if authority is None:
        return False
    conditions = merged(status.get("conditions") or [], [_condition(authority)])
    if authority != status.get("authoritativeAPI") or conditions != status.get("conditions"):
        body = {"status": {"authoritativeAPI": authority, "conditions": conditions}}
        cluster.patch(obj["kind"], obj["metadata"]["name"], obj["metadata"]["namespace"], body, "status")
    return bool(authority != "MachineAPI")


def _condition(authority: str) -> Object:
    message = f"The AuthoritativeAPI status is set to '{authority}'"
    if authority == "MachineAPI":
        return condition("Paused", False, "AuthoritativeAPIMachineAPI", message, severity="Info")
    return condition("Paused", True, "AuthoritativeAPINotMachineAPI", message)
