# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What gpu_monitoring says of the exporters, on a monitoring API in memory."""

from __future__ import annotations

import pytest
from unit.fake_server import Answer
from unit.monitoring.builders import SPACE, cluster, monitor, namespace, params, policy
from unit.monitoring.fake_monitoring import SHARED, Monitoring, vector

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import steps, targets
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.targets import DATA

POD, INSTANCE = "nvidia-dcgm-exporter-x", "10.0.0.1:9400"


def monitoring(is_up: float, has_data: bool) -> Monitoring:
    answers = {
        targets.up(SPACE): lambda: vector(({"pod": POD, "instance": INSTANCE}, is_up)),
        DATA: lambda: vector(({"instance": INSTANCE}, 8)) if has_data else vector(),
    }

    def answer(query: str) -> Answer:
        return answers[query]()

    return Monitoring(answer, SHARED, server=cluster(namespace(), policy(), monitor()))


def test_prometheus_is_asked_and_not_the_label() -> None:
    found = monitoring(1, True)
    result = steps.present(found.api, params())["monitoring"]
    assert result["scraped"] == {"asked": True, "targets": 1, "up": 1, "down": [], "without_data": []}
    assert found.api.warnings == []


@pytest.mark.parametrize(
    ("is_up", "has_data", "said"), [(0, False, "cannot reach"), (1, False, "gets no metrics of GPUs from")]
)
def test_an_exporter_that_fails_is_a_warning(is_up: float, has_data: bool, said: str) -> None:
    found = monitoring(is_up, has_data)
    steps.present(found.api, params())
    (text,) = found.api.warnings
    assert f"{said} {POD}" in text


@pytest.mark.parametrize("status", [401, 403])
def test_without_the_api_the_monitoring_is_set_up_all_the_same(status: int) -> None:
    found = Monitoring(lambda _query: Answer(status, "No"), SHARED, server=cluster(namespace(), policy()))
    scraped = steps.present(found.api, params())["monitoring"]["scraped"]
    assert (scraped["asked"], f"HTTP {status}" in scraped["reason"]) == (False, True)
    assert found.server.writes()


def test_an_api_that_does_not_answer_is_asked_once() -> None:
    found = Monitoring(lambda _query: Answer(503, "no route"), SHARED, server=cluster(namespace(), policy()))
    assert not steps.present(found.api, params())["monitoring"]["scraped"]["asked"]
    assert (len(found.asked), found.clock.slept) == (1, [])


def test_a_wrong_address_is_refused_before_the_first_write() -> None:
    found = monitoring(1, True)
    with pytest.raises(InputError):
        steps.present(found.api, params(url="http://prometheus.example.com"))
    assert (found.server.writes(), found.asked) == ([], [])
