# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The webhooks of others that a scenario's cluster has, by the names of their configurations.

Stand-ins register them; `up` returns when they are registered.
"""

from __future__ import annotations

import time
import typing as t

from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox, SandboxError
from openshift_sandbox.scenario import Scenario

REGULAR_USERS: t.Final = "sre-regular-user-validation"
LAUNCHERS: t.Final = "virt-api-validator"
GATEKEEPER: t.Final = "gatekeeper-validating-webhook-configuration"
KYVERNO: t.Final = "kyverno-resource-validating-webhook-cfg"
IMAGE_PULLS: t.Final = "image-pulls.sandbox.openshift"
ENGINES: t.Final = {"gatekeeper": GATEKEEPER, "kyverno": KYVERNO}
PLURALS: t.Final = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
READY_SECONDS: t.Final = 60.0


def wanted(scenario: Scenario) -> set[str]:
    """Return the names of the configurations."""
    engines = {one.get("engine", "gatekeeper") for one in scenario.troubles_of("policy_denies")}
    found = {ENGINES[engine] for engine in engines}
    if (scenario.cluster.get("resource_tags") or {}).get("red-hat-managed") == "true":
        found.add(REGULAR_USERS)
    if scenario.trouble("virtual_machine") or scenario.cluster.get("virtualization"):
        found.add(LAUNCHERS)
    if scenario.trouble("registry_unreachable"):
        found.add(IMAGE_PULLS)
    return found


def wait_ready(sandbox: Sandbox) -> None:
    """Wait until all are registered. Raises SandboxError, or ProcessDied when the stand-ins ended."""
    client, deadline = sandbox.client(), time.monotonic() + READY_SECONDS
    while missing := wanted(sandbox.scenario) - _registered(client):
        sandbox.processes.check("stand-ins")
        if time.monotonic() > deadline:
            raise SandboxError(
                f"not registered after {READY_SECONDS:.0f} s: {', '.join(sorted(missing))}; "
                f"see {sandbox.logs / 'stand-ins.log'}"
            )
        time.sleep(0.1)


def _registered(client: Client) -> set[str]:
    found = [one for plural in PLURALS for one in client.list("admissionregistration.k8s.io/v1", plural)]
    return {one["metadata"]["name"] for one in found}
