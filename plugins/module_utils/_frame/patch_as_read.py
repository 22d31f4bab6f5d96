# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a list without a merge key as a whole, while others write it too."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import ConflictError
from .._core.objects import KubeObject
from .._kube.client import Api
from .._kube.kinds import Kind

_TRIES: t.Final = 5


def patch_as_read(api: Api, kind: Kind, object_name: str, patch: t.Callable[[], KubeObject]) -> bool:
    """Merge a patch into a cluster-wide object. Return False if there is nothing to change.

    patch: reads the object and returns the patch with the resourceVersion that it read, or {}. It is called
    again while another writer was faster. Raises ConflictError when others were faster five times.
    """
    for attempt in range(1, _TRIES + 1):
        if not (body := patch()):
            break
        with contextlib.suppress(*([ConflictError] if attempt < _TRIES else [])):
            api.merge_patch(kind, object_name, None, body)
            return True
    return False
