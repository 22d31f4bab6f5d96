# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a colleague who limits a namespace by hand (namespace_quota).

The real one tells nobody.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.loop import Cluster, Reconciler

NAME: t.Final = "set-by-a-colleague"


class ForeignQuotas(Reconciler):
    kinds = ("Namespace", "ResourceQuota")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for trouble in cluster.troubles("namespace_quota"):
            namespace = trouble["namespace"]
            if cluster.find("Namespace", namespace) is None:
                cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            if cluster.find("ResourceQuota", NAME, namespace) is None:
                metadata = {"name": NAME, "namespace": namespace}
                cluster.apply(
                    {
                        "apiVersion": "v1",
                        "kind": "ResourceQuota",
                        "metadata": metadata,
                        "spec": {"hard": trouble["hard"]},
                    }
                )
