# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builders for unit tests of backend sro: parameters and a SpecialResource."""

from __future__ import annotations

import typing as t

from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackParams

CHART = {"name": "simple-kmod", "version": "0.0.1", "repository": {"name": "charts", "url": "file:///charts"}}


def params(**more: t.Any) -> StackParams:
    """Return options of special_resource for backend sro."""
    base = {
        "backend": "sro",
        "name": "kmod",
        "namespace": "kmod",
        "grace": 10.0,
        "sro": {"chart": CHART},
    }
    return some_params(**(base | more))


def special(**conditions: str) -> KubeObject:
    """Return a SpecialResource. conditions: type -> message of each that is True."""
    status = {
        "state": "Working",
        "conditions": [
            {"type": kind, "status": "True", "message": text, "reason": kind}
            for kind, text in conditions.items()
        ],
    }
    return {"metadata": {"name": "kmod"}, "spec": {"chart": CHART, "namespace": "kmod"}, "status": status}
