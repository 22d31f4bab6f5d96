# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The taint of scenario untolerated-taint, which somebody sets and nobody takes away."""

from __future__ import annotations

import typing as t

from integration.patience import until

from openshift_sandbox.client import Client

Data = dict[str, t.Any]
KEY: t.Final = "example.com/maintenance"


def tainted(node: Data) -> bool:
    return any(one["key"] == KEY for one in node["spec"].get("taints") or [])


def untaint(client: Client) -> None:
    """Remove the taint from all nodes, when the trouble is cleared.

    A stand-in that read the scenario a moment before sets it once more: the last look comes a second later.
    """

    def is_done() -> bool:
        found = [node for node in client.list("v1", "nodes") if tainted(node)]
        for node in found:
            kept = [one for one in node["spec"]["taints"] if one["key"] != KEY]
            client.patch("v1", "nodes", node["metadata"]["name"], None, {"spec": {"taints": kept}})
        return not found

    until(is_done, "nodes without the taint", pause=1)
