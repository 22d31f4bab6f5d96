# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the server of the Machine API's admission webhooks, and for those of other components.

The real webhooks are part of the machine-set controller, behind a Service. This is a process of its own,
since the API server asks it about the Machines that a new sandbox starts with. It also answers look-ups of
images, and the webhooks that other stand-ins register.
"""

from __future__ import annotations

import argparse
import base64
import functools
import json
import ssl
import typing as t
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from openshift_sandbox.client import Client
from openshift_sandbox.programs import admission, virtualization
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.scenario import LiveScenario
from openshift_sandbox.stand_ins.admission.platform import Context, Object
from openshift_sandbox.stand_ins.admission.review import PLATFORMS, defaulted, validated
from openshift_sandbox.stand_ins.api_server import image_imports, keyring, registry_lookups
from openshift_sandbox.stand_ins.container_runtime import pulls
from openshift_sandbox.stand_ins.core.webhooks import Denial, Patch
from openshift_sandbox.stand_ins.kubevirt import conversion, evictions
from openshift_sandbox.stand_ins.managed_openshift import regular_users
from openshift_sandbox.stand_ins.policy_engine import pods


class Server(ThreadingHTTPServer):
    """The server of the webhooks."""

    daemon_threads = True

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(("127.0.0.1", sandbox.port(admission.NAME)), Handler)
        pki = sandbox.run / "pki"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / f"{admission.NAME}.crt", pki / f"{admission.NAME}.key")
        # Each connection does its handshake in its own thread: a slow client delays no other.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.client = Client(sandbox.component_kubeconfig("stand-ins"), "openshift-stand-ins")
        self.authority = str(pki / "ca.crt")
        self.scenario = LiveScenario(sandbox.directory)
        cluster = self.scenario.now.cluster
        self.platform = PLATFORMS.get(cluster["platform"])
        self.context = Context(cluster["infrastructure_name"], cluster["region"])
        self._others: dict[str, Callable[[Object], Denial | Patch | None]] = {
            pulls.PATH: lambda request: pulls.review(request, self.scenario.now, self.client),
            evictions.PATH: lambda request: evictions.review(request, self.client),
            regular_users.PATH: regular_users.review,
            **{path: functools.partial(self._policy, engine) for engine, path in pods.PATHS.items()},
        }

    def answer(self, path: str, request: Object) -> Object:
        """Return the response of an AdmissionReview, or of a ConversionReview."""
        if path == virtualization.CONVERT:
            return conversion.respond(request)
        response = {"uid": request["uid"], "allowed": True}
        if path in self._others:
            answer = self._others[path](request)
            return response | (answer.response() if answer else {})
        obj = request["object"]
        if path == admission.IMAGES:
            problem = image_imports.refusal(obj["spec"], bool(request.get("dryRun")))
            look_up = self._look_up if "registry" in self.scenario.now.cluster else self._status
            found = look_up(obj["spec"], request["namespace"])
            return response | (
                _denied(problem) if problem else _patched([{"op": "add", "path": "/status", "value": found}])
            )
        if path == admission.DEFAULTING:
            made, problems = defaulted(self.platform, obj, self.context)
            if problems:
                return response | _denied(problems[0])
            changes = {"/metadata/labels": made["metadata"].get("labels"), "/spec": made["spec"]}
            before = {"/metadata/labels": obj["metadata"].get("labels"), "/spec": obj["spec"]}
            patch = [
                {"op": "add", "path": key, "value": value}
                for key, value in changes.items()
                if value != before[key]
            ]
            return response | (_patched(patch) if patch else {})
        refusal = validated(self.platform, obj, request.get("oldObject"))
        return response | (_denied(refusal) if refusal else {})

    def _policy(self, engine: str, request: Object) -> Denial | None:
        return pods.review(request, self.scenario.now, engine)

    def _status(self, spec: Object, namespace: str) -> Object:
        secrets = functools.partial(self.client.list, "v1", "secrets", namespace)
        known = self._mirrors()
        return image_imports.status(
            spec, self.scenario.now, known, lambda image: keyring.login(image, secrets())
        )

    def _look_up(self, spec: Object, namespace: str) -> Object:
        """Ask the registry. The pull secret of the cluster counts after the Secrets of the namespace."""
        secrets = self.client.list("v1", "secrets", namespace)
        secrets += [self.client.get("v1", "secrets", "pull-secret", "openshift-config") or {}]
        config = self.client.get("config.openshift.io/v1", "images", "cluster") or {}
        blocked = (config.get("spec", {}).get("registrySources") or {}).get("blockedRegistries") or []
        registry = registry_lookups.Registry(
            self.scenario.now.cluster["registry"]["host"],
            self.authority,
            lambda image: keyring.login(image, secrets),
        )

        return registry_lookups.look_up(spec, registry_lookups.rules(self.client), blocked, registry)

    def _mirrors(self) -> pulls.Mirrors:
        return pulls.mirrors(self.client) if self.scenario.now.trouble("registry_unreachable") else {}

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Ignore clients that close the connection."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        body = json.dumps(
            {
                "apiVersion": review["apiVersion"],
                "kind": review["kind"],
                "response": self.server.answer(path, review["request"]),
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: t.Any) -> None:
        """Log nothing: the API server's audit log has every request."""


def _patched(operations: list[Object]) -> Object:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


def _denied(text: str) -> Object:
    return {"allowed": False, "status": {"code": 403, "reason": "Forbidden", "message": text}}


def main() -> None:
    """Serve the webhooks until SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m openshift_sandbox.stand_ins.admission.server", description=__doc__
    )
    parser.add_argument("--dir", type=Path, required=True, help="directory of the sandbox")
    Server(Sandbox(parser.parse_args().dir)).serve_forever()


if __name__ == "__main__":
    main()
