# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A cordon, and who does not mind it."""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]
# On cordoned nodes: what tolerates it is put there all the same.
_TAINT: t.Final = "node.kubernetes.io/unschedulable"


def since(node: Data) -> str:
    """As the API writes times; empty where it is not cordoned, or nobody has noticed yet."""
    taints = (node.get("spec") or {}).get("taints") or []
    return next((str(one.get("timeAdded") or "") for one in taints if one.get("key") == _TAINT), "")


def toleration(pod: Data) -> str:
    """The toleration by which the scheduler puts the pod on a cordoned node; empty without one."""
    for one in pod["spec"].get("tolerations") or []:
        exists = one.get("operator") == "Exists"
        if (
            one.get("effect") in (None, "", "NoSchedule")
            and (one.get("key") == _TAINT or (exists and not one.get("key")))
            and (exists or not one.get("value"))
        ):
            return (
                "{"
                + ", ".join(f"{key}: {one[key]}" for key in ("key", "operator", "effect") if one.get(key))
                + "}"
            )
    return ""
