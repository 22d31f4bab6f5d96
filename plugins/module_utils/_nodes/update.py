# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Updates of a node by the machine-config operator, which drains it and reboots it with another kernel."""

from __future__ import annotations

import typing as t

from .._core.readiness import Readiness, pending
from .cordon import is_cordoned
from .system import system

_NAMESPACE: t.Final = "openshift-machine-config-operator"
_KEYS: t.Final = "machineconfiguration.openshift.io/"
_GIVEN_UP: t.Final = ("Degraded", "Unreconcilable")


class Update(t.NamedTuple):
    """Update of one node. state: its daemon's (Working, Done, Degraded), or empty. reason: why Degraded."""

    state: str
    under_way: bool
    reason: str

    @property
    def is_stuck(self) -> bool:
        return self.state in _GIVEN_UP


def update(node: dict[str, t.Any]) -> Update:
    notes = node["metadata"].get("annotations") or {}
    state = str(notes.get(f"{_KEYS}state") or "")
    differs = notes.get(f"{_KEYS}currentConfig") != notes.get(f"{_KEYS}desiredConfig")
    return Update(state, bool(state) and (differs or state != "Done"), str(notes.get(f"{_KEYS}reason") or ""))


def judge(node: dict[str, t.Any]) -> Readiness | None:
    """Return pending while the node is being updated, because the update drains it, else None."""
    found, name = update(node), str(node["metadata"]["name"])
    if not found.under_way:
        return None
    if found.is_stuck:
        said = found.reason or "it says no reason"
        what = f"the machine-config daemon has given up ({found.state}): {said}"
        remedy = (
            f"oc logs -n {_NAMESPACE} -c machine-config-daemon --tail=50 "
            f"$(oc get pods -n {_NAMESPACE} -o name -l k8s-app=machine-config-daemon "
            f"--field-selector spec.nodeName={name})"
        )
        return pending(
            f"Degraded:{name}",
            f"Node {name}: {what}.",
            code="GPU-NODE-DEGRADED",
            remedy=remedy,
            details=(f"{name}: {what}",),
        )
    cordoned = ", cordoned" if is_cordoned(node) else ""
    what = f"is being updated by the machine-config operator{cordoned}, still on kernel {system(node).kernel}"
    remedy = "Look at `oc get machineconfigpools`, and for pods that keep the node from being drained."
    return pending(
        f"Updating:{name}",
        f"Node {name} {what}.",
        code="GPU-NODE-UPDATING",
        remedy=remedy,
        details=(f"{name}: {what}",),
    )
