# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the webhook of KMM 2.6, which OLM registers when it installs the operator.

The real one is part of the operator: while that is down, no Module can be changed. It also guards
PreflightValidations and the deletion of namespaces.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.core.webhooks import KIND, Denial, Webhooks, rule, webhook
from openshift_sandbox.stand_ins.kmm import module_rules
from openshift_sandbox.stand_ins.kmm.modules import API, OPERATOR, Object

CONFIGURATION: t.Final = "vmodule.kb.io-6nq9x"
PATH: t.Final = "/validate-kmm-sigs-x-k8s-io-v1beta1-module"
WEBHOOK: t.Final = webhook(
    "vmodule.kb.io", PATH, [rule(API.partition("/")[0], ["modules"], ["CREATE", "UPDATE"])], "Fail"
)


def review(request: Object) -> Denial | None:
    """Return why a Module is refused, or None."""
    text = module_rules.refusal(request["object"], request.get("oldObject"))
    return Denial(text) if text else None


class KmmWebhook(Reconciler):
    kinds = ("Deployment", KIND)

    def __init__(self) -> None:
        self._webhooks = Webhooks()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        installed = any(one["metadata"]["name"] == OPERATOR for one in cluster.objects("Deployment"))
        self._webhooks.keep(cluster, CONFIGURATION, [WEBHOOK] if installed else [])
