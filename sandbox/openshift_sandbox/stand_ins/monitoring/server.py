# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the Thanos querier behind its Route, and serve the pages that Prometheus scrapes.

The real querier has two Prometheuses behind it, and a proxy that asks the API server about each token. Here
one Prometheus is behind it, and the API server is asked by the caller's own access review. The real Route is
at the ingress of the cluster; here it is a port of this machine, so its certificate is that of the sandbox.
"""

from __future__ import annotations

import argparse
import logging
import ssl
import threading
import typing as t
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import urllib3
import yaml

from openshift_sandbox.client import ApiError
from openshift_sandbox.programs import prometheus
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.kinds import TABLE
from openshift_sandbox.stand_ins.monitoring import configuration, exporter, state_metrics
from openshift_sandbox.stand_ins.monitoring.configuration import Monitored
from openshift_sandbox.stand_ins.monitoring.exposition import CONTENT_TYPE

LOG: t.Final = logging.getLogger("monitoring")
# Seconds between two looks at the cluster.
LOOK: t.Final = 1.0
REVIEW: t.Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ASKED: t.Final = {
    "group": "monitoring.coreos.com",
    "resource": "prometheuses",
    "subresource": "api",
    "namespace": "openshift-monitoring",
    "name": "k8s",
    "verb": "get",
}
KINDS: t.Final = {
    "PrometheusRule": ("monitoring.coreos.com/v1", "prometheusrules"),
    "ServiceMonitor": ("monitoring.coreos.com/v1", "servicemonitors"),
    "Service": ("v1", "services"),
    "ReplicaSet": ("apps/v1", "replicasets"),
    "ResourceQuota": ("v1", "resourcequotas"),
    "Lease": ("coordination.k8s.io/v1", "leases"),
}


class Pages:
    """The pages of the exporters and of kube-state-metrics, as the cluster was at the last look."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox, self._client = sandbox, sandbox.client("kube-state-metrics")
        self._folder = prometheus.folder(sandbox)
        self._pages: dict[str, str] = {}

    def page(self, path: str) -> str | None:
        """Return the page of a path, or None without one."""
        return self._pages.get(path)

    def look(self) -> None:
        """Look at the cluster, and configure Prometheus as its objects say."""
        nodes, pods = self._list("Node"), self._list("Pod")
        state = state_metrics.State(
            nodes,
            pods,
            *(self._list(kind) for kind in ("ReplicaSet", "Job", "ResourceQuota", "Lease", "CronJob")),
        )
        collected, troubles = self._collected(), self._sandbox.scenario
        pages = {f"/{configuration.STATE}": state_metrics.metrics(state)}
        for node in nodes:
            name = node["metadata"]["name"]
            silent = troubles.trouble("exporter_without_data", node=name)
            broken = troubles.troubles_of("gpu_metric", node=name)
            pages[f"/nodes/{name}"] = "" if silent else exporter.metrics(node, pods, collected, broken)
        self._pages = pages
        monitors, rules = self._list("ServiceMonitor"), self._list("PrometheusRule")
        self._configure(Monitored(self._list("Namespace"), self._list("Service"), pods, monitors, rules))

    def _collected(self) -> t.Sequence[str]:
        """Return the fields of the list that the ClusterPolicy names, or those of the exporter itself."""
        for policy in self._list("ClusterPolicy"):
            name = ((policy["spec"].get("dcgmExporter") or {}).get("config") or {}).get("name")
            for found in self._list("ConfigMap") if name else ():
                if found["metadata"]["name"] == name and "dcgm-metrics.csv" in (found.get("data") or {}):
                    return exporter.fields(found["data"]["dcgm-metrics.csv"])
        return exporter.DEFAULT

    def _list(self, kind: str) -> list[dict[str, t.Any]]:
        try:
            return self._client.list(*(KINDS.get(kind) or TABLE[kind]))
        except ApiError as error:
            if error.status != 404:
                raise
            return []

    def _configure(self, found: Monitored) -> None:
        exporters = f"127.0.0.1:{self._sandbox.port(prometheus.EXPORTERS)}"
        files = {
            "rules.yml": configuration.rules(found),
            "prometheus.yml": configuration.configuration(found, exporters),
        }
        texts = {self._folder / name: yaml.safe_dump(content) for name, content in files.items()}
        if all(path.exists() and path.read_text() == text for path, text in texts.items()):
            return
        for path, text in texts.items():
            path.write_text(text)
        urllib3.request(
            "POST", f"{prometheus.url(self._sandbox.port(prometheus.NAME))}/-/reload", retries=False
        )


class Api:
    """The monitoring API: who may ask, and the Prometheus behind it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._server = sandbox.url
        self._prometheus = prometheus.url(sandbox.port(prometheus.NAME))
        self._pool = urllib3.PoolManager(ca_certs=str(sandbox.run / "pki" / "ca.crt"), retries=False)

    def answer(self, path: str, token: str) -> tuple[int, bytes]:
        """Return status and body of the answer to a GET."""
        if not path.startswith("/api/"):
            return 503, b"no route"
        status = self._review(token)
        if status != 200:
            return status, b"Unauthorized" if status == 401 else b"Forbidden"
        answer = self._pool.request("GET", self._prometheus + path, timeout=130.0)
        return answer.status, answer.data

    def _review(self, token: str) -> int:
        if not token:
            return 401
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": ASKED},
        }
        answer = self._pool.request(
            "POST", self._server + REVIEW, json=review, headers={"Authorization": token}, timeout=10.0
        )
        if answer.status == 401:
            return 401
        return 200 if answer.status == 201 and answer.json()["status"].get("allowed") else 403


class Server(ThreadingHTTPServer):
    """A server on this machine."""

    daemon_threads = True

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", port), handler)

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Ignore clients that close the connection."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self, status: int, body: bytes, content_type: str) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: t.Any) -> None:
        """Log nothing: Prometheus asks all the time."""


def serve_pages(page: t.Callable[[str], str | None], port: int) -> Server:
    """Serve what Prometheus scrapes, in a thread of its own, and return the server."""

    class Scraped(Handler):
        def do_GET(self) -> None:
            text = page(self.path)
            self.respond(404 if text is None else 200, (text or "").encode(), CONTENT_TYPE)

    server = Server(port, Scraped)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def serve_api(api: Api, sandbox: Sandbox) -> None:
    """Serve the monitoring API until the process ends."""

    class Asked(Handler):
        def do_GET(self) -> None:
            status, body = api.answer(self.path, self.headers.get("Authorization") or "")
            self.respond(status, body, "application/json" if body[:1] == b"{" else "text/plain")

    server = Server(sandbox.port(prometheus.SERVER), Asked)
    pki, context = sandbox.run / "pki", ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki / f"{prometheus.SERVER}.crt", pki / f"{prometheus.SERVER}.key")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


def look_again_and_again(pages: Pages, stopped: threading.Event) -> None:
    """Look at the cluster each second. An API server that is away is asked again."""
    while not stopped.wait(LOOK):
        try:
            pages.look()
        except (ApiError, OSError, urllib3.exceptions.HTTPError) as error:
            LOG.warning("%s", error)


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="directory of the sandbox")
    sandbox = Sandbox(parser.parse_args().dir)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    pages = Pages(sandbox)
    serve_pages(pages.page, sandbox.port(prometheus.EXPORTERS))
    watcher = threading.Thread(target=look_again_and_again, args=(pages, threading.Event()), daemon=True)
    watcher.start()
    serve_api(Api(sandbox), sandbox)


if __name__ == "__main__":
    main()
