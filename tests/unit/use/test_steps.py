# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_use, on a monitoring API in memory."""

from __future__ import annotations

import itertools
import typing as t

import pytest
from unit.fake_server import Answer
from unit.monitoring.fake_monitoring import Monitoring, matrix, vector
from unit.use.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._use import queries, steps

NOW: t.Final = 1_700_000_000.0
POD: t.Final = {"exported_namespace": "lab", "exported_pod": "train-0", "modelName": "NVIDIA L40S"}


def cluster(hours: float = 24.0, covered: float = 24.0) -> Monitoring:
    """Return a cluster with one pod that holds a GPU, each day."""

    def answer(query: str) -> Answer:
        days = [queries.windows(NOW, 1)[1]]
        if query == queries.COVERED:
            return matrix(({}, [(day, covered) for day in days]))
        if "kube_pod_owner" in query:
            return vector(
                ({"namespace": "lab", "pod": "train-0", "owner_kind": "Job", "owner_name": "train"}, 1)
            )
        if "kube_" in query:
            return vector()
        value = {queries.THERE: hours, queries.BUSY: hours / 2}.get(query, 0.0)
        return matrix((POD, [(day, value) for day in days])) if hours else matrix()

    return Monitoring(answer)


def test_it_adds_up_and_writes_nothing() -> None:
    found = cluster()
    result = steps.look(found.api, params(days=1), lambda: NOW)
    (owner,) = result["use"]["owners"]
    assert (owner["kind"], owner["name"], owner["hours"], owner["use"]) == ("Job", "train", 24.0, 50)
    assert result["table"][0].startswith("24.0 GPU hours in 1 days: 100 % held by pods (50 % of that in use")
    assert (found.server.writes(), found.api.warnings) == ([], [])


def test_so_many_questions_are_asked() -> None:
    """Four about hours and three about owners; the first four again for each further week."""
    for days, number in ((1, 7), (7, 7), (8, 11), (30, 23)):
        found = cluster()
        steps.look(found.api, params(days=days), lambda: NOW)
        assert len(found.asked) == number


def test_a_range_ends_a_day_before_the_next_begins() -> None:
    found = cluster()
    steps.look(found.api, params(days=16), lambda: NOW)
    ranges = [
        (float(query["start"]), float(query["end"]))
        for _url, query, _headers in found.asked
        if query["query"] == queries.THERE
    ]
    first, last = queries.windows(NOW, 16)
    assert [*ranges[0], *ranges[-1]] == pytest.approx(
        [first, first + 6 * queries.DAY, last - queries.DAY, last]
    )
    assert all(after[0] - before[1] == queries.DAY for before, after in itertools.pairwise(ranges))


def test_missing_hours_are_a_warning() -> None:
    found = cluster(covered=9.0)
    steps.look(found.api, params(days=1), lambda: NOW)
    assert found.api.warnings == [
        "Prometheus has metrics of GPUs for 9 of the 24 hours. The report lacks the others."
    ]


def test_a_cluster_without_metrics_is_an_error() -> None:
    with pytest.raises(AcceleratorError) as raised:
        steps.look(cluster(hours=0).api, params(), lambda: NOW)
    assert raised.value.code == "MON-NO-DATA"
    assert "playbooks/monitor_gpus.yml" in raised.value.remedy


def test_wrong_options_are_refused_before_the_first_request() -> None:
    found = cluster()
    with pytest.raises(AcceleratorError) as raised:
        steps.look(found.api, params(days=0), lambda: NOW)
    assert (raised.value.code, found.asked, found.server.requests) == ("INPUT-VALUE", [], [])
