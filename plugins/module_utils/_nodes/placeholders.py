# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Placeholder pods: they keep devices spare, do no work, and give way to pods that may preempt."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject

# The label of a placeholder pod, with the name of its pool.
LABEL: t.Final = "accelerators.openshift/spare"
PRIORITY_CLASS: t.Final = "gpu-spare"


def is_placeholder(pod: KubeObject) -> bool:
    """Return True for a placeholder pod. The label alone proves nothing: work has a priority of 0 or more."""
    marks = pod["metadata"].get("labels") or {}
    return LABEL in marks and int(pod["spec"].get("priority") or 0) < 0
