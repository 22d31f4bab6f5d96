# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Gatekeeper and Kyverno where a policy refuses the images of pods (policy_denies).

The API server asks them before it counts quota. The real ones judge any object by policies of the cluster;
here a trouble is the policy.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.programs.foreign_webhooks import ENGINES, wanted
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.webhooks import KIND, Denial, Webhooks, rule, webhook

PATHS: t.Final = {"gatekeeper": "/v1/admit", "kyverno": "/validate/fail"}
NAMES: t.Final = {"gatekeeper": "validation.gatekeeper.sh", "kyverno": "validate.kyverno.svc-fail"}
POLICY: t.Final = "allowed-repos"
BAD_REQUEST: t.Final = 400


def review(request: Object, scenario: Scenario, engine: str) -> Denial | None:
    """Return why the engine refuses a pod, or None."""
    for trouble in scenario.troubles_of("policy_denies", namespace=request.get("namespace")):
        if trouble.get("engine", "gatekeeper") != engine:
            continue
        refused = str(trouble.get("image", ""))
        for number, container in enumerate(request["object"]["spec"].get("containers") or []):
            if container.get("image", "").startswith(refused):
                policy, text = str(trouble.get("policy", POLICY)), trouble.get("text")
                if engine == "kyverno":
                    return _kyverno(request, policy, text, number)
                return Denial(f"[{policy}] {text or _gatekeeper(container)}")
    return None


def _gatekeeper(container: Object) -> str:
    return (
        f"container <{container['name']}> has an invalid image repo <{container['image']}>, "
        'allowed repos are ["registry.example.com/"]'
    )


def _kyverno(request: Object, policy: str, text: str | None, number: int) -> Denial:
    metadata = request["object"]["metadata"]
    pod = f"{request.get('namespace')}/{metadata.get('name') or metadata.get('generateName')}"
    return Denial(
        f"\n\nresource Pod/{pod} was blocked due to the following policies \n\n{policy}:\n"
        f"  validate-registries: 'validation error: {text or 'Unknown image registry.'} rule\n"
        f"    validate-registries failed at path /spec/containers/{number}/image/'\n",
        BAD_REQUEST,
        "",
    )


class PolicyEngines(Reconciler):
    kinds = (KIND,)

    def __init__(self) -> None:
        self._webhooks = Webhooks()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        found, rules = wanted(cluster.scenario), [rule("", ["pods"], ["CREATE"])]
        for engine, name in ENGINES.items():
            there = [webhook(NAMES[engine], PATHS[engine], rules)] if name in found else []
            self._webhooks.keep(cluster, name, there)
