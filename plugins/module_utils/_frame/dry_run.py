# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dry run of an apply, before other writes that it must not fail after."""

from __future__ import annotations

import typing as t

from .._core import diff
from .._core.objects import KubeObject
from .._core.ownership import mark, owned
from .._kube import writes
from .._kube.client import Api


def dry_run_apply(
    api: Api, manifest: t.Mapping[str, t.Any], live: KubeObject | None, force: bool = False
) -> KubeObject:
    """Return what the server would make of an apply over live, if a field differs; it stores nothing.

    live: None for an object that does not exist yet. force: fields of other managers are no conflict.
    """
    wanted: KubeObject = diff.plain(manifest)
    if live is None or owned(live):
        mark(wanted)
    if (
        live is not None
        and diff.covers(live, wanted)
        and not diff.has_stale_fields(diff.managed_fields(live), wanted)
    ):
        return live
    kind = writes.kind_of(api, wanted)
    return writes.send_apply(api, kind, wanted, force=force, dry_run=True, creates=live is None)
