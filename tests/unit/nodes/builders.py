# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods for tests of drains."""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]
GOING: dict[str, t.Any] = {"deletionTimestamp": "2026-11-21T00:00:00Z"}


def pod(
    name: str,
    owner: str = "ReplicaSet",
    node: str = "n1",
    phase: str = "Running",
    gpus: int = 0,
    data: bool = False,
    **metadata: t.Any,
) -> Data:
    owners = [{"kind": owner, "name": "o", "controller": True}] if owner else []
    container: Data = (
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}} if gpus else {"name": "c"}
    )
    spec: Data = {
        "nodeName": node,
        "containers": [container],
        "volumes": [{"name": "d", "emptyDir": {}}] if data else [],
    }
    return {
        "metadata": {"name": name, "namespace": "team", "uid": name, "ownerReferences": owners, **metadata},
        "spec": spec,
        "status": {"phase": phase},
    }
