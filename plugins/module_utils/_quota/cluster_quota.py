# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterResourceQuota of OpenShift: one limit for all namespaces that a selector finds."""

from __future__ import annotations

import typing as t

from .._core import quantity
from .._core.errors import AcceleratorError, InputError
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
    for number, one in enumerate(asked):
        path = f"cluster_quotas[{number}]"
        if not one["name"] or any(map(name_fault, one["name"].split("."))):
            raise _refused(
                f"{path}.name", f"{one['name']!r} is no valid name", "Set a name such as team-a-gpus."
            )
        if one["name"] in [other.name for other in found]:
            raise _refused(f"{path}.name", f"{one['name']} is in the list twice", "Set another name.")
        found.append(_wanted(path, one))
    return found


def _wanted(path: str, one: ClusterQuotaParams) -> Wanted:
    labels = {key: str(value) for key, value in (one["labels"] or {}).items()}
    annotations = {key: str(value) for key, value in (one["annotations"] or {}).items()}
    if not labels and not annotations:
        remedy = "Set labels or annotations of namespaces, such as labels: {team: vision}."
        raise _refused(path, "has neither labels nor annotations, so it would limit every namespace", remedy)
    for key, value in labels.items():
        if fault := value_fault(value):
            raise _refused(f"{path}.labels.{key}", fault, "Set the value of a label.")
    try:
        limits = keys.hard(one["gpus"], one["hard"])
    except InputError as exc:
        exc.message = f"{path}: {exc.message}"
        raise
    for key in limits:
        if keys.classes([key]):
            remedy = "Set a quota with claims for each namespace."
            raise _refused(
                f"{path}.hard[{key}]", "a ClusterResourceQuota counts no claims of devices", remedy
            )
    return Wanted(one["name"], labels, annotations, limits)


def _refused(path: str, why: str, remedy: str) -> InputError:
    return InputError("QUOTA-CLUSTER", f"{path}: {why}.", remedy)


def not_served() -> AcceleratorError:
    """Return the error for a cluster that does not know the kind."""
    return AcceleratorError("QUOTA-NOT-SERVED", version=API_VERSION)


def foreign(live: KubeObject) -> AcceleratorError:
    """Return the error for a quota of that name that this collection did not create."""
    return AcceleratorError("QUOTA-FOREIGN", quota=name(live))


def build(one: Wanted) -> KubeObject:
    """Return the ClusterResourceQuota to apply."""
    selector: dict[str, t.Any] = {}
    if one.labels:
        selector["labels"] = {"matchLabels": one.labels}
    if one.annotations:
        selector["annotations"] = one.annotations
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterResourceQuota",
        "metadata": {"name": one.name},
        "spec": {"selector": selector, "quota": {"hard": dict(one.limits)}},
    }


def judge(quotas: t.Iterable[KubeObject], wanted: t.Iterable[Wanted]) -> Readiness:
    """Return ready once the controller has counted every limit of every quota."""
    live = {name(one): (one.get("status") or {}).get("total") or {} for one in quotas}
    for one in wanted:
        hard, used = (live.get(one.name, {}).get(key) or {} for key in ("hard", "used"))
        for key, value in one.limits.items():
            if key not in used or key not in hard or quantity.parse(hard[key]) != quantity.parse(value):
                return not_counted(one.name, key)
    return ready("Counted", "usage is known for every resource")


def summarize(one: Wanted, live: KubeObject) -> dict[str, t.Any]:
    """Return name, use of each limit, and the namespaces with what each uses, the first with most."""
    status = live.get("status") or {}
    used = (status.get("total") or {}).get("used") or {}
    spaces = [
        {
            "namespace": entry["namespace"],
            "used": {key: _used(entry).get(key, "0") for key in one.limits},
        }
        for entry in status.get("namespaces") or []
    ]
    return {
        "name": one.name,
        "resources": {key: {"hard": value, "used": used.get(key)} for key, value in one.limits.items()},
        "namespaces": sorted(
            spaces,
            key=lambda entry: (-sum(map(quantity.parse, entry["used"].values())), entry["namespace"]),
        ),
    }


def _used(entry: t.Mapping[str, t.Any]) -> dict[str, str]:
    return (entry.get("status") or {}).get("used") or {}


def findings(one: Wanted, live: KubeObject) -> list[Finding]:
    """Return that the selector finds no namespace, once the quota is counted."""
    status = live.get("status") or {}
    if not status.get("total") or status.get("namespaces"):
        return []
    message = f"ClusterResourceQuota {one.name} selects no namespace, so it counts nothing."
    return [Finding(COUNTS_NOTHING, one.name, "spec.selector", message)]
