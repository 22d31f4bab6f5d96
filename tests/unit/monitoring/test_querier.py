# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions to the monitoring API: where it is, who may ask, and what an answer says."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer, status
from unit.monitoring.fake_monitoring import HOST, SHARED, Monitoring, error, matrix, vector

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ForbiddenError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import querier

LOCAL: t.Final = "http://127.0.0.1:9090"


def refused(monitoring: Monitoring, url: str | None = None) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as raised:
        querier.opened(monitoring.api, url).instant("up")
    return raised.value


def test_the_address_is_that_of_the_cluster_and_the_token_goes_along() -> None:
    found = Monitoring(lambda _query: vector(({"pod": "a"}, 1)))
    (series,) = querier.opened(found.api, None).instant("up", 1700000000)
    assert (series.labels, series.last) == ({"pod": "a"}, 1.0)
    ((url, query, headers),) = found.asked
    assert (url, query) == (f"{HOST}/api/v1/query", {"query": "up", "time": "1700000000"})
    assert headers["authorization"] == "Bearer token-of-test"
    assert found.server.writes() == []


def test_a_range_has_each_value() -> None:
    found = Monitoring(lambda _query: matrix(({}, [(10.0, 1.5), (20.0, 2.5)])))
    (series,) = querier.opened(found.api, None).over("up", 10, 20, 10)
    assert series.values == [(10.0, 1.5), (20.0, 2.5)]
    ((url, query, _headers),) = found.asked
    assert (url, query) == (
        f"{HOST}/api/v1/query_range",
        {"query": "up", "start": "10", "end": "20", "step": "10"},
    )


def test_no_token_goes_to_a_forwarded_port() -> None:
    found = Monitoring(lambda _query: vector())
    assert querier.opened(found.api, f"{LOCAL}/").instant("up") == []
    ((url, _query, headers),) = found.asked
    assert url == f"{LOCAL}/api/v1/query"
    assert not [name for name in headers if name.lower() == "authorization"]
    assert found.server.requests == [], "the address is given"


@pytest.mark.parametrize("url", ["http://prometheus.example.com", "thanos.example.com", "https://a b"])
def test_an_address_without_tls_elsewhere_is_refused(url: str) -> None:
    found = Monitoring(lambda _query: vector())
    error = refused(found, url)
    assert (error.code, found.asked) == ("INPUT-VALUE", [])
    assert "gpu_monitoring_url" in error.remedy


def test_a_client_certificate_is_no_token() -> None:
    server = FakeServer("ConfigMap")
    server.put(SHARED)
    api = api_on(server)
    connection = api.http.connection
    object.__setattr__(connection, "headers", list)
    with pytest.raises(AcceleratorError) as raised:
        querier.opened(api, None)
    assert raised.value.code == "MON-API-TOKEN"
    assert "port-forward" in raised.value.remedy


@pytest.mark.parametrize("code", [401, 403])
def test_an_identity_that_may_not_read_metrics_learns_what_it_lacks(code: int) -> None:
    error = refused(Monitoring(lambda _query: Answer(code, "Forbidden")))
    assert error.code == "MON-API-FORBIDDEN"
    assert "cluster-monitoring-view" in error.remedy


def test_an_expired_token_is_read_again_once() -> None:
    answers = [Answer(401, "Unauthorized"), vector(({}, 3))]
    found = Monitoring(lambda _query: answers.pop(0))
    (series,) = querier.opened(found.api, None).instant("up")
    assert (series.last, found.clock.slept) == (3.0, [])


def test_an_outage_is_waited_for() -> None:
    answers = [Answer(503, "no backend"), Answer(503, "no backend"), vector(({}, 3))]
    found = Monitoring(lambda _query: answers.pop(0))
    (series,) = querier.opened(found.api, None).instant("up")
    assert (series.last, found.clock.slept) == (3.0, [1.0, 3.0])


def test_a_longer_outage_is_an_error() -> None:
    found = Monitoring(lambda _query: Answer(503, "no backend"))
    error = refused(found)
    assert (error.code, "HTTP 503" in error.message, len(found.asked)) == ("MON-API", True, 4)


def test_a_connection_that_breaks_is_an_error() -> None:
    def broken(_query: str) -> Answer:
        raise ConnectionRefusedError("Connection refused")

    error = refused(Monitoring(broken))
    assert (error.code, "connection refused" in error.message) == ("MON-API", True)


def test_a_query_that_prometheus_does_not_evaluate_is_an_error_at_once() -> None:
    found = Monitoring(lambda _query: error(503, "timeout", "query timed out"))
    problem = refused(found)
    assert (problem.code, problem.evidence, len(found.asked)) == ("MON-QUERY", ["up"], 1)
    assert "query timed out" in problem.message


def test_a_page_in_place_of_an_answer_is_an_error() -> None:
    problem = refused(Monitoring(lambda _query: Answer(200, "<html>Log in</html>")))
    assert (problem.code, "text/plain" in problem.message) == ("MON-QUERY", True)


def test_a_warning_of_the_querier_is_shown() -> None:
    answer = Answer(200, {"status": "success", "data": {"result": []}, "warnings": ["a store is away"]})
    found = Monitoring(lambda _query: answer.copy())
    querier.opened(found.api, None).instant("up")
    assert "a store is away" in found.api.warnings[0]


def test_a_cluster_that_does_not_say_where_is_an_error() -> None:
    found = Monitoring(lambda _query: vector(), {**SHARED, "data": {}})
    assert refused(found).code == "MON-API"


def test_a_forbidden_address_can_be_given() -> None:
    found = Monitoring(lambda _query: vector())
    found.server.faults = [status(403, "Forbidden", 'configmaps "x" is forbidden: User "y" cannot get')] * 3
    with pytest.raises(ForbiddenError) as raised:
        querier.opened(found.api, None)
    assert raised.value.remedy.startswith("Set gpu_monitoring_url")
