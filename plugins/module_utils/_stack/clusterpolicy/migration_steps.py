# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Replace the drivers of NVIDIADriver objects by the policy's driver, node by node.

The objects are deleted last, so that the next run can resume an interrupted one.
"""

from __future__ import annotations

import typing as t

from ..._core.daemon_sets import is_owned_by
from ..._core.objects import name
from ..._core.ownership import owned
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from . import migration

Data = dict[str, t.Any]
DRIVER: t.Final = known("NVIDIADriver")
DAEMONSET: t.Final = known("DaemonSet")
POD: t.Final = known("Pod")
NODE: t.Final = known("Node")


def begin(api: Api, namespace: str, spec: Data) -> DriverReturn | None:
    """Return the owned NVIDIADrivers to replace, or None; raise NotReadyError if that cannot work.

    spec: the future spec of the policy.
    """
    drivers = (
        []
        if (spec.get("driver") or {}).get("useNvidiaDriverCRD") or not api.served(DRIVER)
        else api.list(DRIVER)
    )
    found = DriverReturn(api, namespace, [one for one in drivers if owned(one)])
    sets = api.list(DAEMONSET, namespace, labels=migration.COMPONENT) if drivers else []
    for remark in migration.refuse_strangers(drivers, sets):
        api.warn(remark)
    if not found.drivers:
        return None
    migration.refuse_unreplaced(spec, found.of_ours(sets))
    return found


class DriverReturn:
    """The owned NVIDIADrivers that the policy's driver replaces."""

    def __init__(self, api: Api, namespace: str, drivers: t.Sequence[Data]) -> None:
        self._api, self._namespace, self.drivers = api, namespace, drivers

    def of_ours(self, daemonsets: t.Iterable[Data]) -> list[Data]:
        """Return the DaemonSets of these NVIDIADrivers."""
        uids = [one["metadata"]["uid"] for one in self.drivers]
        return [one for one in daemonsets if is_owned_by(one, uids)]

    def release(self) -> None:
        """Delete the DaemonSets but not their pods, then request the upgrade of each node."""
        api, namespace = self._api, self._namespace
        if not api.wait_wanted:
            api.warn(
                "NVIDIADriver objects go in a run that waits; until then their pods keep the policy's "
                "driver from their nodes."
            )
            return
        api.wait({"drivers": Query(DRIVER)}, migration.judge_disabled, "NVIDIADriver objects stop")
        for one in self.of_ours(api.list(DAEMONSET, namespace, labels=migration.COMPONENT)):
            api.delete(DAEMONSET, name(one), namespace, owned_only=False, orphan=True)
        for node in migration.unasked(api.list(POD, namespace, labels=migration.COMPONENT), api.list(NODE)):
            api.merge_patch(NODE, node, None, {"metadata": {"annotations": {migration.REQUESTED: "true"}}})

    def finish(self) -> None:
        """Delete the objects once no pod uses their resources, such as the service account."""
        api = self._api
        if not api.wait_wanted:
            return
        api.wait(
            {"pods": Query(POD, self._namespace, labels=migration.COMPONENT)},
            migration.judge_replaced,
            "policy's driver",
        )
        for one in self.drivers:
            api.delete(DRIVER, name(one))
