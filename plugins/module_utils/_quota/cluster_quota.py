# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterResourceQuota of OpenShift: one limit for all namespaces that a selector finds."""

from __future__ import annotations

import typing as t

from .._core import quantity
from .._core.errors import InputError
from .._core.objects import KubeObject, name
from .._core.readiness import Readiness, ready
from .._core.syntax import name_fault, value_fault
from . import keys
from .findings import COUNTS_NOTHING, Finding
from .resource_quota import not_counted

API_VERSION: t.Final = "quota.openshift.io/v1"
_NAMESPACE_LABEL: t.Final = "kubernetes.io/metadata.name"
# The options of one quota of several namespaces.
OPTIONS: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "required": True},
    "labels": {"type": "dict"},
    "annotations": {"type": "dict"},
    "gpus": {"type": "int"},
    "hard": {"type": "dict"},
}


class ClusterQuotaParams(t.TypedDict):
    """A quota of all namespaces with these labels and annotations."""

    name: str
    labels: dict[str, t.Any] | None
    annotations: dict[str, t.Any] | None
    gpus: int | None
    hard: dict[str, t.Any] | None


class Wanted(t.NamedTuple):
    """A ClusterResourceQuota that the task asks for."""

    name: str
    labels: dict[str, str]
    annotations: dict[str, str]
    limits: dict[str, str]


def read(asked: t.Sequence[ClusterQuotaParams]) -> list[Wanted]:
    """Return the quotas with canonical limits. Raises InputError with the path of the option."""
    found: list[Wanted] = []
    for number, quota in enumerate(asked):
        path = f"cluster_quotas[{number}]"
        if not quota["name"] or any(map(name_fault, quota["name"].split("."))):
            raise _refused(
                f"{path}.name", f"{quota['name']!r} is no valid name", "Set a name such as team-a-gpus."
            )
        if quota["name"] in [other.name for other in found]:
            raise _refused(f"{path}.name", f"{quota['name']} is in the list twice", "Set another name.")
        found.append(_wanted(path, quota))
    return found


def _wanted(path: str, quota: ClusterQuotaParams) -> Wanted:
    labels = {key: str(value) for key, value in (quota["labels"] or {}).items()}
    annotations = {key: str(value) for key, value in (quota["annotations"] or {}).items()}
    if not labels and not annotations:
        remedy = "Set labels or annotations of namespaces, such as labels: {team: vision}."
        raise _refused(path, "has neither labels nor annotations, so it would limit every namespace", remedy)
    for key, value in labels.items():
        if fault := value_fault(value):
            raise _refused(f"{path}.labels.{key}", fault, "Set the value of a label.")
    try:
        limits = keys.hard(quota["gpus"], quota["hard"])
    except InputError as exc:
        exc.message = f"{path}: {exc.message}"
        raise
    for key in limits:
        if keys.classes([key]):
            remedy = "Set a quota with claims for each namespace."
            raise _refused(
                f"{path}.hard[{key}]", "a ClusterResourceQuota counts no claims of devices", remedy
            )
    return Wanted(quota["name"], labels, annotations, limits)


def _refused(path: str, why: str, remedy: str) -> InputError:
    return InputError("QUOTA-CLUSTER", f"{path}: {why}.", remedy)


def build(quota: Wanted) -> KubeObject:
    """Return the ClusterResourceQuota to apply."""
    selector: dict[str, t.Any] = {}
    if quota.labels:
        selector["labels"] = {"matchLabels": quota.labels}
    if quota.annotations:
        selector["annotations"] = quota.annotations
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterResourceQuota",
        "metadata": {"name": quota.name},
        "spec": {"selector": selector, "quota": {"hard": dict(quota.limits)}},
    }


def judge(quotas: t.Iterable[KubeObject], wanted: t.Iterable[Wanted]) -> Readiness:
    """Return ready once the controller has counted every limit of every quota."""
    live = {name(quota): (quota.get("status") or {}).get("total") or {} for quota in quotas}
    for quota in wanted:
        hard, used = (live.get(quota.name, {}).get(key) or {} for key in ("hard", "used"))
        for key, value in quota.limits.items():
            if key not in used or key not in hard or quantity.parse(hard[key]) != quantity.parse(value):
                return not_counted(quota.name, key)
    return ready("Counted", "usage is known for every resource")


def summarize(quota: Wanted, live: KubeObject) -> dict[str, t.Any]:
    """Return name, use of each limit, and the namespaces with what each uses, the first with most."""
    status = live.get("status") or {}
    used = (status.get("total") or {}).get("used") or {}
    spaces = [
        {
            "namespace": entry["namespace"],
            "used": {key: _used(entry).get(key, "0") for key in quota.limits},
        }
        for entry in status.get("namespaces") or []
    ]
    return {
        "name": quota.name,
        "resources": {key: {"hard": value, "used": used.get(key)} for key, value in quota.limits.items()},
        "namespaces": sorted(
            spaces,
            key=lambda entry: (-sum(map(quantity.parse, entry["used"].values())), entry["namespace"]),
        ),
    }


def _used(entry: t.Mapping[str, t.Any]) -> dict[str, str]:
    return (entry.get("status") or {}).get("used") or {}


def findings(quota: Wanted, live: KubeObject) -> list[Finding]:
    """Return that the selector finds no namespace, once the quota is counted."""
    status = live.get("status") or {}
    if not status.get("total") or status.get("namespaces"):
        return []
    message = f"ClusterResourceQuota {quota.name} selects no namespace, so it counts nothing."
    return [Finding(COUNTS_NOTHING, quota.name, "spec.selector", message)]
