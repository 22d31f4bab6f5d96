# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for one node to be Ready, by the frame and the Api that the collection's modules use."""

from __future__ import annotations

import time
import typing as t

from ansible.plugins.action import ActionBase

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import execute
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.node import is_ready


def judge(snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
    nodes = snapshot["node"]
    return ready() if nodes and is_ready(nodes[0]) else pending("NotReady", "the node is not Ready")


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    api.wait({"node": Query(known("Node"), name=params["name"])}, judge, "node")
    return {"known_at": time.monotonic()}


class ActionModule(ActionBase):  # type: ignore[misc]
    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        return {**result, **execute("wait_for_node", ensure, {**self._task.args, "wait": True}, False, False)}
