# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual steps of an administrator with OLM: subscribe, read the install plan, approve it."""

from __future__ import annotations

import typing as t

from integration.patience import until

from openshift_sandbox.client import Client

Data = dict[str, t.Any]

GROUP = "operators.coreos.com"
V1ALPHA1 = f"{GROUP}/v1alpha1"


class Operator:
    """One package with a Subscription in one namespace and manual approval."""

    def __init__(self, client: Client, package: str, namespace: str, source: str) -> None:
        self.client = client
        self.package = package
        self.namespace = namespace
        self.source = source

    def subscribe(self, channel: str) -> None:
        metadata = {"name": self.package, "namespace": self.namespace}
        spec = {
            "name": self.package,
            "source": self.source,
            "sourceNamespace": "openshift-marketplace",
            "channel": channel,
            "installPlanApproval": "Manual",
        }
        self.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.client.apply(
            {
                "apiVersion": f"{GROUP}/v1",
                "kind": "OperatorGroup",
                "metadata": metadata,
                "spec": {"targetNamespaces": [self.namespace]},
            }
        )
        self.client.apply(
            {"apiVersion": V1ALPHA1, "kind": "Subscription", "metadata": metadata, "spec": spec}
        )

    def plan(self, csv: str) -> Data:
        """Wait for the unapproved install plan that holds a CSV; return it."""
        return until(
            lambda: next(
                (
                    one
                    for one in self.client.list(V1ALPHA1, "installplans", self.namespace)
                    if _waits(one, csv)
                ),
                None,
            ),
            f"a plan with {csv}",
        )

    def approve(self, csv: str) -> None:
        self.client.patch(
            V1ALPHA1,
            "installplans",
            self.plan(csv)["metadata"]["name"],
            self.namespace,
            {"spec": {"approved": True}},
        )

    def csv(self, name: str) -> Data | None:
        return self.client.get(V1ALPHA1, "clusterserviceversions", name, self.namespace)

    def reached(self, csv: str, phase: str) -> Data:
        """Wait until a CSV reaches a phase; return its status."""

        def look() -> Data | None:
            status: Data = (self.csv(csv) or {}).get("status", {})
            return status if status.get("phase") == phase else None

        return until(look, f"{csv} in phase {phase}")

    def status(self) -> Data:
        subscription = self.client.get(V1ALPHA1, "subscriptions", self.package, self.namespace) or {}
        return t.cast("Data", subscription.get("status", {}))


def _waits(plan: Data, csv: str) -> bool:
    return (
        csv in plan["spec"]["clusterServiceVersionNames"]
        and plan.get("status", {}).get("phase") == "RequiresApproval"
    )
