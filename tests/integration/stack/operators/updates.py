# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cluster updates in scenario before-update: the verdicts of the preflight, and troubles to stage."""

from __future__ import annotations

import contextlib
import typing as t

from cluster import Cluster
from integration.playbook import TaskResult

from openshift_sandbox import faults

Data = dict[str, t.Any]
POOL: t.Final = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "replicas": 2,
    "expected": {"nvidia.com/gpu": 1},
}
KERNEL, RHCOS = "5.14.0-611.5.1.el9_7.x86_64", "9.8.20260815-0"
DRIVER: t.Final = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07"}
GPU: t.Final = "nvidia-gpu-operator"
NEXT: t.Final[Data] = {"version": "4.22.9", "kernel": KERNEL, "rhcos": RHCOS}


def verdicts(result: TaskResult) -> Data:
    """Return the verdict of each check of a preflight."""
    return {check["name"]: check["verdict"] for check in result["checks"]}


def said(result: TaskResult, name: str) -> str:
    """Return the message of one check of a preflight."""
    return str(next(check["message"] for check in result["checks"] if check["name"] == name))


@contextlib.contextmanager
def patched(
    cluster: Cluster, kind: tuple[str, str, str, str | None], change: Data, back: Data
) -> t.Iterator[None]:
    """Patch an object with `change`, and with `back` at the end."""
    cluster.client.patch(*kind, change)
    try:
        yield
    finally:
        cluster.client.patch(*kind, back)


@contextlib.contextmanager
def trouble(cluster: Cluster, kind: str, **fields: t.Any) -> t.Iterator[None]:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, kind, fields)
    try:
        yield
    finally:
        faults.clear(sandbox, kind, fields)
