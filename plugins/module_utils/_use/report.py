# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The use report: from series of the monitoring API to hours by namespace, owner, GPU and day."""

from __future__ import annotations

import datetime
import typing as t

from .._monitoring.manifest import EXPORTERS
from .._monitoring.querier import Series

Data = dict[str, t.Any]
# Namespace and pod; both are "" for a GPU that no pod holds.
Pod = tuple[str, str]
# Kind and name; both are "" for a pod whose owner the metrics do not have.
Owner = tuple[str, str]
_NONE: t.Final = ("", "<none>")


class Hours(t.NamedTuple):
    """GPU hours. there: in which the GPU had metrics. busy: weighted with its use. idle: without use."""

    there: float = 0.0
    busy: float = 0.0
    idle: float = 0.0

    def plus(self, other: Hours) -> Hours:
        return Hours(*(value + more for value, more in zip(self, other, strict=True)))

    def as_result(self) -> Data:
        """Return the hours, and the shares of use and idleness in percent."""
        return {
            "hours": round(self.there, 2),
            "idle_hours": round(self.idle, 2),
            "use": _percent(self.busy, self.there),
            "idle": _percent(self.idle, self.there),
        }


class Cell(t.NamedTuple):
    """What one pod did with GPUs of one model on one day. day: its end (seconds since 1970)."""

    pod: Pod
    device: str
    day: float
    hours: Hours


def cells(there: t.Iterable[Series], busy: t.Iterable[Series], idle: t.Iterable[Series]) -> list[Cell]:
    """Return the answers to the three queries about hours as cells."""
    found: dict[tuple[Pod, str, float], Hours] = {}
    for place, series in enumerate((there, busy, idle)):
        for line in series:
            for day, hours in line.values:
                key = (_pod(line.labels), _device(line.labels), day)
                added = Hours(*(hours if place == other else 0.0 for other in range(3)))
                found[key] = found.get(key, Hours()).plus(added)
    return [Cell(*key, hours) for key, hours in found.items()]


def _pod(labels: t.Mapping[str, str]) -> Pod:
    if labels.get("exported_pod"):
        return labels.get("exported_namespace", ""), labels["exported_pod"]
    # With honorLabels the pod is in the plain labels; for a GPU that no pod holds they name the exporter.
    pod = labels.get("pod", "")
    return ("", "") if not pod or pod.startswith(EXPORTERS) else (labels.get("namespace", ""), pod)


def _device(labels: t.Mapping[str, str]) -> str:
    words = (labels.get("modelName", ""), labels.get("GPU_I_PROFILE", ""))
    return " ".join(word for word in words if word) or "GPU"


def holders(found: t.Iterable[Cell]) -> set[Pod]:
    """Return the pods that held a GPU."""
    return {cell.pod for cell in found if cell.pod[1]}


def owners(
    pods: t.Iterable[Series], replica_sets: t.Iterable[Series], jobs: t.Iterable[Series]
) -> dict[Pod, Owner]:
    """Return the owner of each pod: its Deployment, CronJob or other controller, or the pod itself."""
    above = {
        "ReplicaSet": _table(replica_sets, "replicaset"),
        "Job": _table(jobs, "job_name"),
    }
    found: dict[Pod, Owner] = {}
    for (space, pod), (kind, name) in _table(pods, "pod").items():
        higher = above.get(kind, {}).get((space, name), ("", ""))
        found[space, pod] = next(
            pair for pair in (higher, (kind, name), ("Pod", pod)) if pair[1] not in _NONE
        )
    return found


def _table(series: t.Iterable[Series], label: str) -> dict[tuple[str, str], Owner]:
    return {
        (line.labels.get("namespace", ""), line.labels.get(label, "")): (
            line.labels.get("owner_kind", ""),
            line.labels.get("owner_name", ""),
        )
        for line in series
    }


def report(found: t.Sequence[Cell], owned: t.Mapping[Pod, Owner], covered: float, days: int) -> Data:
    """Return the report. covered: hours of which the cluster has metrics. Lists begin with the most hours."""
    held = [cell for cell in found if cell.pod[1]]
    return {
        "total": {**_total(found), "days": days, "hours_with_metrics": round(covered, 2)},
        "devices": _grouped(found, lambda cell: {"device": cell.device}),
        "namespaces": _grouped(held, lambda cell: {"namespace": cell.pod[0]}),
        "owners": _grouped(held, lambda cell: {"namespace": cell.pod[0], **_owner(owned, cell.pod)}),
        "by_day": [
            {"until": _moment(day), **_total([cell for cell in found if cell.day == day])}
            for day in sorted({cell.day for cell in found})
        ],
    }


def _owner(owned: t.Mapping[Pod, Owner], pod: Pod) -> Data:
    kind, name = owned.get(pod, ("Pod", pod[1]))
    return {"kind": kind, "name": name}


def _total(found: t.Iterable[Cell]) -> Data:
    """Return the hours of all GPUs, of those that pods held, and of those that no pod held."""
    everywhere, held = Hours(), Hours()
    for cell in found:
        everywhere = everywhere.plus(cell.hours)
        held = held.plus(cell.hours) if cell.pod[1] else held
    free = everywhere.there - held.there
    return {
        "gpu_hours": round(everywhere.there, 2),
        "held_hours": round(held.there, 2),
        "free_hours": round(free, 2),
        "idle_hours": round(held.idle, 2),
        "held": _percent(held.there, everywhere.there),
        "free": _percent(free, everywhere.there),
        "idle": _percent(held.idle, held.there),
        "use": _percent(held.busy, held.there),
    }


def _grouped(found: t.Iterable[Cell], key: t.Callable[[Cell], Data]) -> list[Data]:
    sums: dict[tuple[tuple[str, str], ...], tuple[Hours, set[Pod]]] = {}
    for cell in found:
        object_name = tuple(key(cell).items())
        hours, pods = sums.get(object_name, (Hours(), set()))
        sums[object_name] = (hours.plus(cell.hours), pods | ({cell.pod} if cell.pod[1] else set()))
    rows = [
        {**dict(object_name), "pods": len(pods), **hours.as_result()}
        for object_name, (hours, pods) in sums.items()
    ]
    return sorted(rows, key=lambda row: (-row["hours"], [str(value) for value in row.values()]))


def _percent(part: float, whole: float) -> int:
    return round(100 * part / whole) if whole else 0


def _moment(seconds: float) -> str:
    return f"{datetime.datetime.fromtimestamp(seconds, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"


def table(found: t.Mapping[str, t.Any]) -> list[str]:
    """Return the report as text: a line about all GPUs, then a line for each owner."""
    total = found["total"]
    lines = [
        f"{total['gpu_hours']:.1f} GPU hours in {total['days']} days: {total['held']} % held by pods "
        f"({total['use']} % of that in use, {total['idle']} % idle), {total['free']} % held by no pod"
    ]
    rows = [("NAMESPACE", "OWNER", "PODS", "GPU HOURS", "USE", "IDLE", "IDLE HOURS")]
    rows += [
        (
            *(line["namespace"], f"{line['kind']}/{line['name']}", str(line["pods"]), f"{line['hours']:.1f}"),
            *(f"{line['use']} %", f"{line['idle']} %", f"{line['idle_hours']:.1f}"),
        )
        for line in found["owners"]
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows if rows[1:] else ():
        cut = [
            text.ljust(width) if column < 2 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cut).rstrip())
    return lines
