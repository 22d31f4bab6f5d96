# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""ResourceQuota: the object, its usage and who uses it up, and the proof that the API server enforces it."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.device_quota import REQUESTS, quota_key
from .._core import quantity
from .._core.errors import AcceleratorError, InputError, text_of
from .._core.objects import KubeObject
from .._core.readiness import Readiness, pending, ready
from .._nodes import claims as gpu_claims
from . import keys, scopes, use
from .scopes import SELECTOR

Limits = t.Mapping[str, str]
PROOF_PATIENCE: t.Final = 10.0  # seconds: admission reads quotas from a cache, and sees a new one late
_PROOF_IMAGE: t.Final = "registry.k8s.io/pause:3.10"  # never pulled: the pod is only a dry run


def build(
    name: str,
    namespace: str,
    limits: Limits,
    selector: t.Mapping[str, t.Any] | None = None,
    annotations: t.Mapping[str, str] | None = None,
) -> KubeObject:
    """Return the ResourceQuota to apply. selector: its scopeSelector, if it counts only some pods."""
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": name,
            "namespace": namespace,
            **({"annotations": dict(annotations)} if annotations else {}),
        },
        "spec": {"hard": dict(limits), **({"scopeSelector": selector} if selector else {})},
    }


def named(quotas: t.Iterable[KubeObject], name: str) -> KubeObject | None:
    """Return the quota with this name, or None."""
    return next((quota for quota in quotas if quota["metadata"]["name"] == name), None)


def judge(quotas: t.Iterable[KubeObject], name: str, limits: Limits) -> Readiness:
    """Return ready once the controller counted every resource; until then admission says `status unknown`."""
    status = (named(quotas, name) or {}).get("status") or {}
    counted, used = status.get("hard") or {}, status.get("used") or {}
    missing = [
        key for key, value in limits.items() if not _is_same(counted.get(key), value) or key not in used
    ]
    if missing:
        return not_counted(name, ", ".join(missing))
    return ready("Counted", "usage is known for every resource")


def not_counted(quota: str, missing: str) -> Readiness:
    """Return the verdict about a quota some of whose keys the controller has not counted."""
    return pending("NotCounted", **text_of("QUOTA-NOT-COUNTED", quota=quota, keys=missing)._asdict())


def summarize(live: KubeObject, limits: Limits | None = None) -> dict[str, t.Any]:
    """Return name, namespace and usage per resource: `{hard, used}`; used is None until it is counted."""
    metadata, status = live.get("metadata") or {}, live.get("status") or {}
    wanted = limits if limits is not None else (live.get("spec") or {}).get("hard") or {}
    used = status.get("used") or {}
    usage = {name: {"hard": value, "used": used.get(name)} for name, value in wanted.items()}
    return {"name": metadata.get("name"), "namespace": metadata.get("namespace"), "resources": usage}


def is_used(facts: t.Mapping[str, t.Any]) -> bool:
    """Return whether any device is in use. facts: what C(summarize) returned."""
    usage: dict[str, dict[str, str | None]] = facts["resources"]
    return any(entry["used"] not in (None, "0") for name, entry in usage.items() if keys.is_device(name))


def counted(
    quotas: t.Iterable[KubeObject], limits: t.Iterable[str], name: str | None = None
) -> dict[str, str]:
    """Return what the namespace uses of each key that one of its quotas without scopes counts.

    name: the quota with scopes that alone counts what it limits.
    """
    found: dict[str, str] = {}
    for quota in quotas:
        is_asked = not scopes.are_set(quota.get("spec") or {}) if name is None else named([quota], name)
        if is_asked:
            found |= (quota.get("status") or {}).get("used") or {}
    return {key: found[key] for key in limits if key in found}


def held(holding: t.Iterable[t.Mapping[str, t.Any]], limits: t.Iterable[str]) -> dict[str, str]:
    """Return what the pods and claims use of each key of devices. holding: what `holders` returns."""
    sums: dict[str, int] = {}
    for holder in holding:
        for resource, amount in holder["requests"].items():
            sums[resource] = sums.get(resource, 0) + int(amount)
    devices = {key: keys.device_of(key) for key in limits if keys.is_device(key)}
    return {key: str(sums.get(device, 0)) for key, device in devices.items()}


def overused(object_name: str, limits: Limits, used: Limits) -> list[str]:
    """Return warnings about limits below what the namespace already uses."""
    return [
        f"Quota {object_name}: the namespace already uses {used[key]} of {key}, and the limit is {value}. "
        "What runs stays; nothing new starts until the use is below the limit."
        for key, value in limits.items()
        if key in used and quantity.parse(used[key]) > quantity.parse(value)
    ]


def holders(
    limits: t.Iterable[str], pods: t.Iterable[KubeObject], classes: t.Collection[str] = ()
) -> list[dict[str, t.Any]]:
    """Return each pod that holds limited devices, with its owner and requests; ended pods hold nothing.

    classes: the priority classes whose pods alone count; all pods without one.
    """
    names, held = keys.extended(limits), []
    for pod in pods:
        if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            continue
        if classes and (pod.get("spec") or {}).get("priorityClassName") not in classes:
            continue
        amounts = {name: amount for name in names if (amount := _requested(pod, name))}
        if amounts:
            held.append({"pod": pod["metadata"]["name"], "owner": use.owner(pod), "requests": amounts})
    return held


def claimants(limits: t.Iterable[str], claims: t.Iterable[KubeObject]) -> list[dict[str, t.Any]]:
    """Return each claim of limited devices, with the pod that uses it (empty if none does).

    A claim counts from its creation until its deletion.
    """
    names, held = keys.classes(limits), []
    for claim in claims:
        amounts = {name: amount for name, amount in asked(claim).items() if name in names}
        if amounts:
            pods, object_name = gpu_claims.users(claim), claim["metadata"]["name"]
            who = {"kind": "Pod", "name": pods[0]} if pods else {"kind": "ResourceClaim", "name": object_name}
            held.append(
                {"pod": pods[0] if pods else "", "claim": object_name, "owner": who, "requests": amounts}
            )
    return held


def _is_same(held: object, wanted: str) -> bool:
    return held is not None and quantity.parse(held) == quantity.parse(wanted)


def _requested(pod: KubeObject, name: str) -> int:
    containers = (pod.get("spec") or {}).get("containers") or []
    return sum(
        int(quantity.parse(((container.get("resources") or {}).get("requests") or {}).get(name, "0")))
        for container in containers
    )


def check_provable(limits: t.Mapping[str, str]) -> None:
    """Raise InputError if the quota limits nothing that can be proved."""
    if not keys.extended(limits) and not keys.classes(limits):
        raise InputError("QUOTA-PROOF", key=quota_key())


def proof(live: KubeObject, limits: t.Mapping[str, str], priority_class: str = "") -> KubeObject:
    """Return a pod, or a claim if the quota counts claimed devices, that asks for one more than is left.

    priority_class: the class of the pod, if the quota counts only pods of some classes.
    """
    if names := keys.extended(limits):
        return _proof_pod(live, names[0], _over(live, limits, REQUESTS + names[0]), priority_class)
    (name, *_others) = keys.classes(limits)
    return gpu_claims.claim(
        "gpu-quota-proof-",
        live["metadata"]["namespace"],
        _over(live, limits, quota_key(name)),
        name,
    )


def _over(live: KubeObject, limits: t.Mapping[str, str], key: str) -> int:
    used = ((live.get("status") or {}).get("used") or {}).get(key, "0")
    return max(1, int(quantity.parse(limits[key]) - quantity.parse(used)) + 1)


def _proof_pod(live: KubeObject, name: str, over: int, priority_class: str) -> KubeObject:
    """Return a pod that requests too much, with cpu and memory, since another quota may require them."""
    amounts = {"cpu": "1m", "memory": "1Mi", name: str(over)}
    container = {
        "name": "proof",
        "image": _PROOF_IMAGE,
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    metadata = {"generateName": "gpu-quota-proof-", "namespace": live["metadata"]["namespace"]}
    security = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": security,
        "containers": [container],
        **({"priorityClassName": priority_class} if priority_class else {}),
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def refusing_quota(text: str) -> str | None:
    """Return the name of the exceeded quota in a Forbidden message, or None if it has another cause."""
    match = re.search(r"exceeded quota: ([^,]+), requested: ", text)
    return match[1] if match else None


def not_enforced(live: KubeObject, limits: t.Mapping[str, str]) -> AcceleratorError:
    """Return the error for an API server that would admit more than the limit."""
    metadata = live["metadata"]
    evidence = [f"{name}: {value}" for name, value in limits.items()]
    return AcceleratorError(
        "QUOTA-NOT-ENFORCED", evidence=evidence, quota=metadata["name"], namespace=metadata["namespace"]
    )


def void(object_name: str, message: str, path: str) -> AcceleratorError:
    """Return the error for a quota that counts no pod with a device, since another manager gave it scopes."""
    namespace, _slash, name = object_name.partition("/")
    remedy = (
        "Set gpu_policy_adopt: take (module option adopt)."
        if path.startswith(SELECTOR)
        else f"Run `oc delete resourcequota {name} -n {namespace}`, and run this again: scopes never change."
    )
    return AcceleratorError("QUOTA-COUNTS-NOTHING", f"{object_name}: {message}", remedy)


def asked(claim: KubeObject) -> dict[str, int]:
    """Return DeviceClass -> number of devices that a quota counts for the claim.

    Alternatives and claims of all devices are not included.
    """
    found: dict[str, int] = {}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or []:
        exactly = request.get("exactly") or {}
        if exactly.get("deviceClassName"):
            name = exactly["deviceClassName"]
            found[name] = found.get(name, 0) + int(exactly.get("count") or 1)
    return found
