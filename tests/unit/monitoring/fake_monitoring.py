# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A monitoring API in memory, behind the same pool as the API server in memory.

It stands in for the Thanos querier: it knows no PromQL, and gives each query the answer of the test.
"""

from __future__ import annotations

import typing as t
from urllib.parse import parse_qs, urlsplit

from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

Data = dict[str, t.Any]
HOST: t.Final = "https://thanos-querier.apps.example.com"
SHARED: t.Final = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "monitoring-shared-config", "namespace": "openshift-config-managed"},
    "data": {"thanosPublicURL": HOST},
}


def vector(*series: tuple[Data, float]) -> Answer:
    """Return the answer with one value for each series."""
    return _success([{"metric": labels, "value": [0, str(value)]} for labels, value in series])


def matrix(*series: tuple[Data, list[tuple[float, float]]]) -> Answer:
    """Return the answer with values of several moments for each series."""
    return _success(
        [
            {"metric": labels, "values": [[moment, str(value)] for moment, value in values]}
            for labels, values in series
        ]
    )


def _success(result: list[Data], **more: t.Any) -> Answer:
    return Answer(200, {"status": "success", "data": {"resultType": "any", "result": result}, **more})


class Monitoring:
    """The API and what it was asked. answer: returns the answer to a query."""

    def __init__(
        self, answer: t.Callable[[str], Answer], *objects: Data, server: FakeServer | None = None
    ) -> None:
        self.server = server or FakeServer("Namespace", "ConfigMap")
        for one in objects or (SHARED,):
            self.server.put(one)
        self.answer, self.server.request = answer, self._request
        self.asked: list[tuple[str, dict[str, str], dict[str, str]]] = []
        self.clock = FakeClock()
        self.api: Api = api_on(self.server, self.clock)

    def _request(self, method: str, url: str, **more: t.Any) -> Answer:
        parts = urlsplit(url)
        if parts.netloc == "api.example:6443":
            return self.server.answer(method, url, **more)
        assert method == "GET", "a question writes nothing"
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.asked.append((f"{parts.scheme}://{parts.netloc}{parts.path}", query, dict(more["headers"])))
        return self.answer(query["query"])

    def queries(self) -> list[str]:
        return [query["query"] for _url, query, _headers in self.asked]


def error(status: int, kind: str, text: str) -> Answer:
    """Return what Prometheus answers to a query that it does not evaluate."""
    return Answer(status, {"status": "error", "errorType": kind, "error": text})
