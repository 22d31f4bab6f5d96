# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Write a pool's machine sets.

A boot image that another manager updates is no conflict.
"""

from __future__ import annotations

import typing as t

from ..._core.errors import ConflictError
from ..._core.objects import KubeObject
from ..._kube.client import Api
from ..._kube.kinds import known
from .. import dropped_fields, replicas
from ..plan import MachinePlan

_TRIES: t.Final = 5


def apply(api: Api, plan: MachinePlan, existing: t.Mapping[str, KubeObject]) -> None:
    """Write the sets, each new one after a dry run of all. Raise MachineError or ConflictError.

    existing: live sets by name.
    """
    for name, manifest in plan.manifests.items():
        if name not in existing:
            dropped_fields.check(api.dry_run_create(manifest), manifest, _patch(plan, name))
    for name, manifest in plan.manifests.items():
        dropped_fields.check(_applied(api, manifest, existing.get(name)), manifest, _patch(plan, name))


def _applied(api: Api, manifest: KubeObject, live: KubeObject | None) -> KubeObject:
    try:
        return api.apply(manifest, live=live)
    except ConflictError as exc:
        rest = [line for line in exc.evidence if not replicas.is_about_them(line)]
        if live is None or (rest and not dropped_fields.is_about_images(rest)) or not exc.evidence:
            raise
        if len(rest) < len(exc.evidence):
            if replicas.is_scaled_by_hand(live):
                raise
            return _resized(api, manifest, live)
        return api.apply(manifest, force_conflicts=True, live=live)


def _resized(api: Api, manifest: KubeObject, live: KubeObject) -> KubeObject:
    """Write a set that the autoscaler scales; replicas that the autoscaler changes at the same time stay."""
    read = live
    for _try in range(_TRIES):
        wanted = replicas.settled(manifest, read, live)
        try:
            return api.apply(wanted, force_conflicts=True, live=live)
        except ConflictError:
            live = (
                api.get(known("MachineSet"), manifest["metadata"]["name"], manifest["metadata"]["namespace"])
                or live
            )
    return live


def _patch(plan: MachinePlan, name: str) -> t.Mapping[str, t.Any]:
    return plan.shares[name].candidate.patch
