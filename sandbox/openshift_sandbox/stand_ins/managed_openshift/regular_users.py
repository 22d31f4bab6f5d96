# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the webhook regular-user-validation of ROSA Classic and OpenShift Dedicated.

It keeps customers, also those with cluster-admin, from what Red Hat manages. The real one also guards the
network's and the managed operators' objects, one ConfigMap, and lets members of Red Hat's groups pass.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.programs.foreign_webhooks import REGULAR_USERS, wanted
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.webhooks import KIND, Denial, Webhooks, rule, webhook

PATH: t.Final = "/regularuser-validation"
DENIED: t.Final = (
    "Prevented from accessing Red Hat managed resources. This is in an effort to prevent harmful actions "
    "that may cause unintended consequences or affect the stability of the cluster. If you have any "
    "questions about this, please reach out to Red Hat support at https://access.redhat.com/support"
)
GUARDED: t.Final = {
    "cloudcredential.openshift.io": ["*/*"],
    "machine.openshift.io": ["*/*"],
    "admissionregistration.k8s.io": ["*/*"],
    "autoscaling.openshift.io": ["clusterautoscalers", "machineautoscalers"],
    "config.openshift.io": [
        "clusterversions",
        "clusterversions/status",
        "schedulers",
        "apiservers",
        "proxies",
    ],
    "machineconfiguration.openshift.io": ["machineconfigs", "machineconfigpools"],
}
WEBHOOK: t.Final = webhook(
    "regular-user-validation.managed.openshift.io",
    PATH,
    [rule(group, resources, ["*"]) for group, resources in GUARDED.items()],
)


def review(request: Object) -> Denial | None:
    """Return why a customer may not do this, or None."""
    user = str(request["userInfo"]["username"])
    if user.startswith(("system:", "kube:")) and user != "system:unauthenticated":
        return None
    return Denial(DENIED)


class RegularUsers(Reconciler):
    kinds = (KIND,)

    def __init__(self) -> None:
        self._webhooks = Webhooks()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        is_managed = REGULAR_USERS in wanted(cluster.scenario)
        self._webhooks.keep(cluster, REGULAR_USERS, [WEBHOOK] if is_managed else [])
