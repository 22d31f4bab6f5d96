# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The queries of the use report. Each value of the first four is of 24 hours, in GPU hours."""

from __future__ import annotations

import typing as t

from .._monitoring.rules import ACTIVE_OF

DAY: t.Final = 86400
# Seconds between two looks at a GPU, and how many looks an hour has.
STEP: t.Final = 300
_AN_HOUR: t.Final = 3600 // STEP
_WINDOW: t.Final = f"[{DAY}s:{STEP}s]"
# The pod that holds the GPU: in the first two labels, or with honorLabels in the next two.
BY: t.Final = ("exported_namespace", "exported_pod", "namespace", "pod", "modelName", "GPU_I_PROFILE")
_SUM: t.Final = f"sum by ({', '.join(BY)})"

# Hours in which the GPU was there.
THERE: t.Final = f"{_SUM} (count_over_time(({ACTIVE_OF}){_WINDOW})) / {_AN_HOUR}"
# The same, weighted with how much of the GPU was in use.
BUSY: t.Final = f"{_SUM} (sum_over_time(({ACTIVE_OF}){_WINDOW})) / {_AN_HOUR}"
# Hours of which any GPU has metrics: fewer than 24 are a gap.
COVERED: t.Final = f"count_over_time(count({ACTIVE_OF}){_WINDOW}) / {_AN_HOUR}"
# So many namespaces in one query: the address of a request has a limit.
_NAMESPACES: t.Final = 50


def idle(percent: int) -> str:
    """Return the query of the hours in which less than so many percent of a GPU were in use."""
    return f"{_SUM} (sum_over_time((({ACTIVE_OF}) < bool {percent / 100:g}){_WINDOW})) / {_AN_HOUR}"


class Owners(t.NamedTuple):
    """A metric of kube-state-metrics that says who owns an object. label: of the object's name."""

    metric: str
    label: str

    def query(self, namespaces: t.Sequence[str], days: int) -> str:
        """Return the query of the controllers of all objects that were there in these days."""
        chosen = f'{self.metric}{{namespace=~"{"|".join(namespaces)}", owner_is_controller!="false"}}'
        return f"max by (namespace, {self.label}, owner_kind, owner_name) (max_over_time({chosen}[{days}d]))"


PODS: t.Final = Owners("kube_pod_owner", "pod")
REPLICA_SETS: t.Final = Owners("kube_replicaset_owner", "replicaset")
JOBS: t.Final = Owners("kube_job_owner", "job_name")


def in_parts(namespaces: t.Iterable[str]) -> list[list[str]]:
    """Return the names in lists that are short enough for one query."""
    names = sorted(namespaces)
    return [names[start : start + _NAMESPACES] for start in range(0, len(names), _NAMESPACES)]


def windows(now: float, days: int) -> tuple[float, float]:
    """Return the ends of the first and of the last day (seconds since 1970).

    No end is a moment at which the series are looked at. So a day has the same number of looks in each
    release of Prometheus, whichever end of a range belongs to it.
    """
    last = now // STEP * STEP - STEP / 2
    return last - (days - 1) * DAY, last
