# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SpecialResources that a cluster kept from the time of the Special Resource Operator."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import Object

REPOSITORY: t.Final = {"name": "charts", "url": "https://charts.example.com"}


def objects(cluster: Object) -> list[Object]:
    """Return them; none where the scenario has no `special_resources`.

    An entry is {name, namespace, chart: {name, version}, node_selector}.
    """
    return [
        {
            "apiVersion": "sro.openshift.io/v1beta1",
            "kind": "SpecialResource",
            "metadata": {"name": one["name"]},
            "spec": {
                "chart": {**one["chart"], "repository": REPOSITORY},
                "namespace": one["namespace"],
                "nodeSelector": one["node_selector"],
            },
        }
        for one in cluster.get("special_resources") or []
    ]
