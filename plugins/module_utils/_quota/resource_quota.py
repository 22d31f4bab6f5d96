# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""ResourceQuota: keys that really count, usage, and the pod that proves it."""

from __future__ import annotations

import difflib
import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import device_class
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import GPU
from ansible_collections.accelerators.openshift.plugins.module_utils._core import quantity
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims as node_claims

REQUESTS: t.Final = "requests."
STANDARD: t.Final = (
    *(
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "requests.storage",
    ),
    *(
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "services",
        "services.nodeports",
        "services.loadbalancers",
    ),
    *("replicationcontrollers", "resourcequotas", "secrets", "configmaps", "persistentvolumeclaims"),
)
_HUGE_PAGES = re.compile(r"^(requests\.)?hugepages-\d+[KMG]i$")
_OTHER_COUNTED = re.compile(r"^count/.+|\.(storageclass\.storage|deviceclass\.resource)\.k8s\.io/")


def hard(gpus: int | None, asked: t.Mapping[str, t.Any] | None, claims: bool = False) -> dict[str, str]:
    """What goes into `spec.hard`; a key that the quota controller would silently not enforce is refused. claims: GPUs are claimed as devices."""
    if gpus is not None:
        if gpus < 0:
            raise InputError(
                "QUOTA-QUANTITY",
                f"gpus is {gpus}; it must be 0 or more.",
                "Set gpus to the number of GPUs that the namespace may request.",
            )
        return {device_class.quota_key() if claims else REQUESTS + GPU: quantity.canonical(gpus)}
    if not asked:
        raise InputError(
            "QUOTA-EMPTY",
            "hard is empty: a quota without a resource limits nothing.",
            f"Set gpus: 8, or hard: {{'{REQUESTS}{GPU}': 8}}.",
        )
    return {name: _amount(name, value) for name, value in asked.items() if _counted(name)}


def build(name: str, namespace: str, limits: t.Mapping[str, str]) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"hard": dict(limits)},
    }


def named(quotas: t.Iterable[KubeObject], name: str) -> KubeObject | None:
    return next((one for one in quotas if one["metadata"]["name"] == name), None)


def judge(quotas: t.Iterable[KubeObject], name: str, limits: t.Mapping[str, str]) -> Readiness:
    """Ready when the quota controller has counted every resource; before that admission answers `status unknown for quota`."""
    status = (named(quotas, name) or {}).get("status") or {}
    counted = status.get("hard") or {}
    missing = [
        name
        for name, value in limits.items()
        if not _same(counted.get(name), value) or name not in (status.get("used") or {})
    ]
    if missing:
        return pending(
            "NotCounted",
            f"the quota controller has not yet counted {', '.join(missing)}",
            code="QUOTA-NOT-COUNTED",
            remedy=_COUNT_REMEDY,
        )
    return ready("Counted", "usage is known for every resource")


def summarize(live: KubeObject, limits: t.Mapping[str, str] | None = None) -> KubeObject:
    """Usage per resource: `{hard, used}`; used is null while the controller has not counted."""
    metadata, status = live.get("metadata") or {}, live.get("status") or {}
    wanted = limits if limits is not None else (live.get("spec") or {}).get("hard") or {}
    used = status.get("used") or {}
    usage = {name: {"hard": value, "used": used.get(name)} for name, value in wanted.items()}
    return {"name": metadata.get("name"), "namespace": metadata.get("namespace"), "resources": usage}


def extended(limits: t.Iterable[str]) -> list[str]:
    """Extended resources (as a node names them) that the quota limits."""
    return [name.removeprefix(REQUESTS) for name in limits if _is_extended(name)]


def classes(limits: t.Iterable[str]) -> list[str]:
    """DeviceClasses whose devices the quota limits."""
    return [found for name in limits if (found := device_class.counted_by(name))]


def offering(node: KubeObject) -> KubeObject:
    """What of a node matters here; thousands of whole ones would be much."""
    return {"status": {"allocatable": (node.get("status") or {}).get("allocatable")}}


def doubts(
    name: str,
    limits: t.Mapping[str, str],
    nodes: t.Sequence[KubeObject] | None,
    quotas: t.Iterable[KubeObject],
    known: t.Sequence[KubeObject] | None = None,
) -> list[str]:
    """What is allowed but makes the quota pointless: devices that no node has, another quota that is reached first.

    nodes, known (the DeviceClasses): None is unknown.
    """
    offered = {one for node in nodes or () for one in ((node.get("status") or {}).get("allocatable") or {})}
    missing = [one for one in extended(limits) if nodes is not None and one not in offered]
    found = [
        f"No node advertises {one}: quota {name} limits something that does not exist (yet)."
        for one in missing
    ]
    there = {one["metadata"]["name"] for one in known or ()}
    lacking = [one for one in classes(limits) if known is not None and one not in there]
    found += [
        f"There is no DeviceClass {one}: quota {name} limits something that does not exist (yet)."
        for one in lacking
    ]
    return found + [
        f"Quota {one} of the same namespace leaves less; quota {name} is never reached."
        for one in stricter(name, limits, quotas)
    ]


def stricter(name: str, limits: t.Mapping[str, str], quotas: t.Iterable[KubeObject]) -> list[str]:
    """Other quotas of the namespace that leave less than this one, so that this one is never reached."""
    found = []
    for quota in quotas:
        other, held = quota["metadata"]["name"], (quota.get("spec") or {}).get("hard") or {}
        if (
            other == name
            or (quota.get("spec") or {}).get("scopes")
            or (quota.get("spec") or {}).get("scopeSelector")
        ):
            continue
        found += [
            f"{other} ({key}: {held[key]})"
            for key, value in limits.items()
            if key in held and quantity.parse(held[key]) < quantity.parse(value)
        ]
    return found


def no_namespace(namespace: str) -> AcceleratorError:
    return AcceleratorError(
        "QUOTA-NO-NAMESPACE",
        f"Namespace {namespace} does not exist.",
        "Create it, or set create_namespace: true.",
    )


def is_used(facts: KubeObject) -> bool:
    """Whether any device is in use."""
    return any(
        entry["used"] not in (None, "0") for name, entry in facts["resources"].items() if _is_device(name)
    )


def holders(limits: t.Iterable[str], pods: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Pods that hold what the quota limits; finished pods hold nothing."""
    names, held = extended(limits), []
    for pod in pods:
        if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            continue
        amounts = {name: _requested(pod, name) for name in names}
        if any(amounts.values()):
            held.append(
                {
                    "pod": pod["metadata"]["name"],
                    "requests": {name: amount for name, amount in amounts.items() if amount},
                }
            )
    return held


def claimants(limits: t.Iterable[str], claims: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Claims that count, and the pod that uses each (none yet: an empty name); a claim counts from when it is made until it is gone."""
    names, held = classes(limits), []
    for claim in claims:
        amounts = {name: amount for name, amount in node_claims.asked(claim).items() if name in names}
        if amounts:
            pods = node_claims.users(claim)
            held.append(
                {"pod": pods[0] if pods else "", "claim": claim["metadata"]["name"], "requests": amounts}
            )
    return held


_COUNT_REMEDY = (
    "Look at the kube-controller-manager: it counts usage (oc get clusteroperator kube-controller-manager)."
)


def _counted(name: str) -> bool:
    """True, or InputError: the API accepts any name with a slash, but enforces only some."""
    path, bare = f"hard[{name}]", name.removeprefix(REQUESTS)
    if name.startswith("limits.") and "/" in name:
        right = REQUESTS + name.removeprefix("limits.")
        why = "the API accepts this key and never enforces it: for extended resources only requests.* is counted"
        raise InputError("QUOTA-KEY", f"{path}: {why}.", f"Write {right} instead.")
    if _OTHER_COUNTED.search(name) or name in STANDARD or _HUGE_PAGES.match(name):
        return True
    if "/" in name and bare == name:
        why = "the API accepts this key and never enforces it: extended resources are counted under requests.* only"
        raise InputError("QUOTA-KEY", f"{path}: {why}.", f"Write {REQUESTS}{name} instead.")
    if "/" in name and bare.split("/")[0] and bare.split("/")[1]:
        return True
    near = difflib.get_close_matches(name, [*STANDARD, REQUESTS + GPU], n=3)
    raise InputError(
        "QUOTA-KEY",
        f"{path}: not a resource that a quota can limit.",
        f"Did you mean {' or '.join(near or [REQUESTS + GPU])}?",
    )


def _amount(name: str, value: object) -> str:
    try:
        whole, text = quantity.is_whole(value), quantity.canonical(value)
    except ValueError:
        raise InputError(
            "QUOTA-QUANTITY",
            f"hard[{name}]: {value!r} is not a quantity.",
            "Use a number such as 8, 500m or 64Gi.",
        ) from None
    if text.startswith("-") or isinstance(value, bool):
        raise InputError(
            "QUOTA-QUANTITY",
            f"hard[{name}]: {value!r} is not allowed; it must be 0 or more.",
            "Use a number such as 8.",
        )
    if _is_device(name) and not whole:
        raise InputError(
            "QUOTA-QUANTITY",
            f"hard[{name}]: {value!r} is not allowed; devices are counted in whole numbers.",
            "Use a whole number such as 8.",
        )
    return text


def _is_extended(name: str) -> bool:
    return name.startswith(REQUESTS) and "/" in name and not _OTHER_COUNTED.search(name)


def _is_device(name: str) -> bool:
    return _is_extended(name) or bool(device_class.counted_by(name))


def _same(held: object, wanted: str) -> bool:
    return held is not None and quantity.parse(held) == quantity.parse(wanted)


def _requested(pod: KubeObject, name: str) -> int:
    containers = (pod.get("spec") or {}).get("containers") or []
    return sum(
        int(quantity.parse(((one.get("resources") or {}).get("requests") or {}).get(name, "0")))
        for one in containers
    )
