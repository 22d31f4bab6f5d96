# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which exporters Prometheus reaches."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import targets
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.querier import Series

SPACE = "nvidia-gpu-operator"


def target(number: int, value: float = 1.0) -> Series:
    labels = {"pod": f"nvidia-dcgm-exporter-{number}", "instance": f"10.0.0.{number}:9400"}
    return Series(labels, [(0.0, value)])


def data(number: int) -> Series:
    return Series({"instance": f"10.0.0.{number}:9400"}, [(0.0, 8.0)])


def test_exporters_that_are_up_and_have_data_are_counted() -> None:
    found = targets.judged([target(1), target(2)], [data(1), data(2)])
    assert found == {"asked": True, "targets": 2, "up": 2, "down": [], "without_data": []}
    assert targets.warnings(found, SPACE, False) == []


def test_an_exporter_that_is_down_and_one_without_data_are_named() -> None:
    found = targets.judged([target(1), target(2, 0.0), target(3)], [data(1)])
    assert (found["up"], found["down"]) == (2, ["nvidia-dcgm-exporter-2"])
    assert found["without_data"] == ["nvidia-dcgm-exporter-3"]
    down, empty = targets.warnings(found, SPACE, False)
    assert down.startswith("Prometheus cannot reach nvidia-dcgm-exporter-2 (GPU-NO-METRICS)")
    assert f"oc logs -n {SPACE} nvidia-dcgm-exporter-3" in empty


@pytest.mark.parametrize(("is_new", "number"), [(True, 0), (False, 1)])
def test_after_a_change_prometheus_has_time_to_find_the_exporters(is_new: bool, number: int) -> None:
    assert len(targets.warnings(targets.judged([], []), SPACE, is_new)) == number


def test_many_pods_are_counted() -> None:
    found = targets.judged([target(number, 0.0) for number in range(12)], [])
    (text,) = targets.warnings(found, SPACE, False)
    assert "and 7 more" in text


def test_a_task_that_could_not_ask_says_why() -> None:
    found = targets.not_asked("no token")
    assert (found, targets.warnings(found, SPACE, False)) == ({"asked": False, "reason": "no token"}, [])


def test_the_query_names_the_exporters_of_one_namespace() -> None:
    assert targets.up(SPACE) == f'up{{namespace="{SPACE}", pod=~"nvidia-dcgm-exporter-.+"}}'
