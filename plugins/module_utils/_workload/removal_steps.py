# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of the removal of validations: delete the namespace, or only our objects where others use it."""

from __future__ import annotations

import typing as t

from .._core.errors import ForbiddenError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._kube.client import Api
from .._kube.kinds import KINDS, Kind, known
from . import fingerprints, judge, namespace, obstacles, runs
from .pods import GpuWorkloadParams
from .run_steps import POD, known_runs

_KINDS: t.Final = {kind.kind: kind for kind in KINDS.values() if kind.kind in namespace.KINDS}


def absent(api: Api, params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Delete the validation namespace if this collection made it and nobody else uses it.

    Otherwise delete only validation pods of runs that are over, and the fingerprints. Return an empty result.
    """
    obstacles.check(params)
    found = api.get(known("Namespace"), params["namespace"])
    if found is not None:
        _remove(api, params, found)
    return {"workload": judge.summarize([], [], {}, params)}


def _remove(api: Api, params: GpuWorkloadParams, found: KubeObject) -> None:
    place = params["namespace"]
    ours = [pod for pod in api.list(POD, place) if obstacles.is_ours(pod, params)]
    known_now = known_runs(api, ours)
    living = [pod for pod in ours if not known_now.is_over(pod)]
    if not namespace.is_made_for_validation(found):
        api.warn(f"Namespace {place} was not made for validations and stays.")
    elif held := [f"Pod {name(pod)} of {runs.shown(pod)}" for pod in living] + _others(api, place):
        api.warn(namespace.stays(place, held))
    else:
        api.delete(known("Namespace"), place)
        return
    for pod in ours:
        if pod not in living:
            api.delete(POD, name(pod), place, grace=1)
    for one in api.list(known("ConfigMap"), place, metadata_only=True):
        if owned(one) and name(one).startswith(fingerprints.NAME):
            api.delete(known("ConfigMap"), name(one), place)


def _others(api: Api, place: str) -> list[str]:
    """Return the objects of others in the namespace. A kind that may not be read counts as one."""
    return [text for name_of, kind in _KINDS.items() for text in _of_kind(api, name_of, kind, place)]


def _of_kind(api: Api, name_of: str, kind: Kind, place: str) -> list[str]:
    try:
        return namespace.of_others(name_of, api.list(kind, place, metadata_only=True))
    except ForbiddenError:
        return [f"perhaps some {kind.resource}, which this identity may not list"]
