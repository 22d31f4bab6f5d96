# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run Kueue, with its CRDs and its webhooks.

Of its webhooks the cluster has those of its own kinds and of Jobs, the one kind of job that it manages here.
As on a real cluster, the API server refuses Jobs while Kueue does not answer.
"""

from __future__ import annotations

import base64
import socket
import time
import typing as t
from pathlib import Path

import yaml

from openshift_sandbox.client import Client
from openshift_sandbox.go import manifests
from openshift_sandbox.sandbox import BUILD, Sandbox, SandboxError
from openshift_sandbox.scenario import Scenario

FAMILY: t.Final = "kueue"
NAME: t.Final = "kueue"
NAMESPACE: t.Final = "openshift-kueue-operator"
# Kueue finds its webhook configurations by the name of the Service.
SERVICE, SECRET = "kueue-webhook-service", "kueue-webhook-server-cert"
READY_SECONDS: t.Final = 60.0
REAL: t.Final = "real"
GROUPS: t.Final = {"batch", "kueue.x-k8s.io"}
# Kueue looks at no Job of these namespaces.
PASSED_OVER: t.Final = ["kube-system", NAMESPACE]
# The CRDs whose versions Kueue converts; the versions of the others have the same fields.
CONVERTED: t.Final = {"clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads"}

Object = dict[str, t.Any]


def wanted(scenario: Scenario) -> bool:
    """Return whether the scenario's cluster has the real Kueue."""
    return bool(scenario.cluster.get("kueue") == REAL)


def crds(sandbox: Sandbox) -> list[Object]:
    """Return the CRDs of Kueue; its own server converts between their versions."""
    client = _client(sandbox, "/convert")
    conversion = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
    }
    found = []
    for one in _manifests("CustomResourceDefinition"):
        is_converted = one["spec"]["names"]["plural"] in CONVERTED
        found.append(one | {"spec": one["spec"] | ({"conversion": conversion} if is_converted else {})})
    return found


def start(sandbox: Sandbox) -> None:
    """Start Kueue with its webhooks, and return when it answers.

    Kueue makes its own certificate, and writes its authority into the webhooks and CRDs. Raises SandboxError
    when it does not answer, or ProcessDied when it ended.
    """
    place = sandbox.run / NAME
    place.mkdir(exist_ok=True)
    (place / "configuration.yml").write_text(yaml.safe_dump(configuration(place, sandbox.port(NAME))))
    client = sandbox.client("kueue-operator")
    for obj in (*_objects(), *webhooks(sandbox)):
        client.apply(obj)
    argv: list[str | Path] = [
        sandbox.binary(FAMILY, "kueue"),
        *("--config", place / "configuration.yml", "--feature-gates", "VisibilityOnDemand=false"),
    ]
    sandbox.processes.start(NAME, argv, {"KUBECONFIG": str(sandbox.component_kubeconfig(NAME))})
    _wait(sandbox, "a certificate", lambda: _mount(client, place))
    _wait(sandbox, "an answer", lambda: _listens(sandbox.port(NAME)))


def configuration(place: Path, port: int) -> Object:
    """Return Kueue's configuration. place: the folder of its certificate."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(place)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {
            "enable": True,
            "webhookServiceName": SERVICE,
            "webhookSecretName": SECRET,
        },
        "clientConnection": {"qps": 200, "burst": 400},
        "integrations": {"frameworks": ["batch/job"]},
    }


def webhooks(sandbox: Sandbox) -> list[Object]:
    """Return the configurations of the webhooks, as upstream's release has them, with our address."""
    found = []
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        for one in _manifests(kind):
            calls = [_webhook(sandbox, hook) for hook in one["webhooks"] if _groups(hook) <= GROUPS]
            name = f"kueue-{one['metadata']['name']}"
            found.append(one | {"metadata": {"name": name}, "webhooks": calls})
    return found


def _webhook(sandbox: Sandbox, hook: Object) -> Object:
    calls = hook | {"clientConfig": _client(sandbox, hook["clientConfig"]["service"]["path"])}
    if "batch" in _groups(hook):
        passed = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": PASSED_OVER}
        calls["namespaceSelector"] = {"matchExpressions": [passed]}
    return calls


def _groups(hook: Object) -> set[str]:
    return {group for rule in hook["rules"] for group in rule["apiGroups"]}


def _client(sandbox: Sandbox, path: str) -> Object:
    """Return how the API server calls Kueue. The certificate has the name of the Service."""
    service = {"name": SERVICE, "namespace": NAMESPACE, "path": path, "port": sandbox.port(NAME)}
    return {"service": service}


def _objects() -> list[Object]:
    """Return what has to be there before Kueue. The name of the Service leads to this machine."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "namespace": NAMESPACE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        },
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": NAMESPACE}},
    ]


def _mount(client: Client, place: Path) -> bool:
    """Write Kueue's Secret into its folder, as a kubelet does; return whether it has the certificate."""
    found = client.get("v1", "secrets", SECRET, NAMESPACE) or {}
    data = found.get("data") or {}
    for name, text in data.items():
        file = place / name
        file.touch(mode=0o600)
        file.write_bytes(base64.b64decode(text))
    return "tls.crt" in data


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait(sandbox: Sandbox, what: str, look: t.Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not look():
        sandbox.processes.check(NAME)
        if time.monotonic() > deadline:
            log = sandbox.logs / f"{NAME}.log"
            raise SandboxError(f"Kueue has not given {what} after {READY_SECONDS:.0f} s; see {log}")
        time.sleep(0.1)


def _manifests(kind: str) -> list[Object]:
    return [one for one in manifests.read(BUILD / "bin" / FAMILY) if one["kind"] == kind]
