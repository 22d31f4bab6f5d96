# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for KubeVirt's webhook that sees evictions of virtual machines.

Compared with pod-eviction-admitter.go of KubeVirt v1.8. The real webhook marks the VirtualMachineInstance,
and a live migration takes it to another node. Here the launcher's pod is marked too, and is deleted a while
later.
A machine with a device of its host never migrates, so with the strategy LiveMigrate, which HyperConverged
sets, its eviction is refused for ever.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import MERGE, Client, resource_path
from openshift_sandbox.stand_ins.core.reconciler import Object
from openshift_sandbox.stand_ins.core.webhooks import Denial, rule, webhook

PATH: t.Final = "/launcher-eviction-validate"
WEBHOOK: t.Final = webhook(
    "virt-launcher-eviction-interceptor.kubevirt.io", PATH, [rule("", ["pods/eviction"], ["CREATE"])]
)
API: t.Final = "kubevirt.io/v1"
INSTANCES: t.Final = "virtualmachineinstances"
LAUNCHER: t.Final = {"kubevirt.io": "virt-launcher"}
DOMAIN: t.Final = "kubevirt.io/domain"
CREATED_BY: t.Final = "kubevirt.io/created-by"
LEAVING: t.Final = "descheduler.alpha.kubernetes.io/eviction-in-progress"
TOO_MANY_REQUESTS: t.Final = 429


def devices(spec: Object) -> list[tuple[str, str]]:
    """Return what a machine wants of its host: the word of the refusal, and the resource."""
    wanted = (spec.get("domain") or {}).get("devices") or {}
    return [("GPU", one["deviceName"]) for one in wanted.get("gpus") or []] + [
        ("HostDevice", one["deviceName"]) for one in wanted.get("hostDevices") or []
    ]


def review(request: Object, client: Client) -> Denial | None:
    """Refuse to evict a launcher that stays, or that shall migrate first; allow every other eviction."""
    namespace, name = request["namespace"], request["name"]
    pod = client.get("v1", "pods", name, namespace) or {"metadata": {}}
    labels = pod["metadata"].get("labels") or {}
    domain = (pod["metadata"].get("annotations") or {}).get(DOMAIN)
    if domain is None or not LAUNCHER.items() <= labels.items():
        return None
    instance = None
    if CREATED_BY in labels:
        instance = client.get(API, INSTANCES, domain, namespace)
        if instance is None:
            text = f'virtualmachineinstances.kubevirt.io "{domain}" not found'
            return Denial(f"kubevirt failed getting the vmi: {text}", TOO_MANY_REQUESTS, "")
        found = _unasked(instance, client)
        if found is not _MIGRATES:
            return found
    text = f'Eviction triggered evacuation of VMI "{namespace}/{domain}"'
    if instance and (instance.get("status") or {}).get("evacuationNodeName"):
        return Denial(f"Evacuation in progress: {text}", TOO_MANY_REQUESTS, "")
    if not request.get("dryRun"):
        _mark(client, pod, instance)
    return Denial(text, TOO_MANY_REQUESTS, "")


_MIGRATES: t.Final = Denial("")


def _unasked(instance: Object, client: Client) -> Denial | None:
    """Return the answer about a machine that does not migrate, None where it is evicted, else _MIGRATES."""
    configured = [
        (one["spec"].get("configuration") or {}).get("evictionStrategy")
        for one in client.list(API, "kubevirts")
    ]
    strategy = instance["spec"].get("evictionStrategy") or next(iter(configured), None)
    migrates = not devices(instance["spec"])
    if strategy == "LiveMigrate" and not migrates:
        name = instance["metadata"]["name"]
        text = f"VMI {name} is configured with an eviction strategy but is not live-migratable"
        return Denial(text, TOO_MANY_REQUESTS, "")
    marked = strategy in ("External", "LiveMigrate") or (strategy == "LiveMigrateIfPossible" and migrates)
    return _MIGRATES if marked else None


def _mark(client: Client, pod: Object, instance: Object | None) -> None:
    """Mark what shall leave its node; with the strategy External somebody else has to take it away."""
    metadata = pod["metadata"]
    path = resource_path("v1", "pods", metadata["name"], metadata["namespace"])
    if instance is None or instance["spec"].get("evictionStrategy") != "External":
        mark = {"metadata": {"annotations": {LEAVING: "kubevirt"}}}
        client.request("PATCH", path, mark, MERGE)
    if instance:
        body = {"status": {"evacuationNodeName": pod["spec"]["nodeName"]}}
        own = instance["metadata"]
        client.patch(API, INSTANCES, own["name"], own["namespace"], body, "status")
