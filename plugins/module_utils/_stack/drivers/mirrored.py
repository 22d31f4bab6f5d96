# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options of a GPU stack whose images come from a mirror: what the operator would pull, and what the cluster sends elsewhere already."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    registry as driver_registry,
)

Data = dict[str, t.Any]


def mirrored(api: Api, params: Data, csvs: t.Callable[[], list[Data]]) -> Data:
    """The same options where no registry is given. csvs: the installed operators."""
    registry = params.get("registry")
    if not registry:
        return params
    sets: list[Data] = []
    for kind in driver_registry.SETS:
        with contextlib.suppress(KindNotServedError):
            sets += [{"kind": kind, **one} for one in api.list(known(kind))]
    found = driver_registry.mirrored(
        params, registry, driver_registry.images(csvs()), driver_registry.sources(sets)
    )
    if found.kept:
        api.warn(
            f"registry: nothing was rewritten for {', '.join(found.kept)}, since the cluster sends those images to a mirror already."
        )
    if found.unknown:
        api.warn(
            f"registry: the operator does not say which images it takes for {', '.join(found.unknown)}; give version, repository and image there."
        )
    return found.params
