# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_use: ask the monitoring API, and add up. They write nothing."""

from __future__ import annotations

import time
import typing as t

from .._core.errors import AcceleratorError
from .._kube.client import Api
from .._monitoring.querier import Querier, Series, opened
from . import options, queries, report
from .options import GpuUseParams

# So many days in one query: the querier gives a query two minutes.
_DAYS: t.Final = 7


def look(api: Api, params: GpuUseParams, now: t.Callable[[], float] = time.time) -> dict[str, t.Any]:
    """Return the use report. Raises AcceleratorError if the monitoring API has no answer or no metrics."""
    options.check(params)
    querier, days = opened(api, params["url"]), params["days"]
    first, last = queries.windows(now(), days)

    def hours(expression: str) -> list[Series]:
        parts = (querier.over(expression, *part, queries.DAY) for part in _parts(first, last))
        return [series for part in parts for series in part]

    there = hours(queries.THERE)
    if not there:
        raise AcceleratorError("MON-NO-DATA", host=querier.host, days=days)
    found = report.cells(there, hours(queries.BUSY), hours(queries.idle(params["idle"])))
    covered = sum(value for hour in hours(queries.COVERED) for _day, value in hour.values)
    if covered < days * 24 - 1:
        api.warn(
            f"Prometheus has metrics of GPUs for {covered:.0f} of the {days * 24} hours. The report lacks "
            "the others."
        )
    owned = _owners(querier, {space for space, _pod in report.holders(found)}, days, last)
    use = report.report(found, owned, covered, days)
    return {"use": use, "table": report.table(use)}


def _parts(first: float, last: float) -> t.Iterator[tuple[float, float]]:
    start = first
    while start <= last:
        end = min(last, start + (_DAYS - 1) * queries.DAY)
        yield start, end
        start = end + queries.DAY


def _owners(
    querier: Querier, namespaces: t.Iterable[str], days: int, last: float
) -> dict[report.Pod, report.Owner]:
    answers: dict[str, list[Series]] = {}
    kinds = (queries.PODS, queries.REPLICA_SETS, queries.JOBS)
    for query in kinds:
        answers[query.metric] = [
            series
            for part in queries.in_parts(namespaces)
            for series in querier.instant(query.query(part, days), last)
        ]
    return report.owners(*(answers[query.metric] for query in kinds))
