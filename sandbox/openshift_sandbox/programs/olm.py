# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the Operator Lifecycle Manager: the real `olm` and `catalog`, and one `opm serve` per catalogue."""

from __future__ import annotations

import time
import typing as t
from pathlib import Path

from openshift_sandbox.catalogue import bundles, file_based, package_manifests, packages
from openshift_sandbox.catalogue.crds import operator_crds
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox, SandboxError
from openshift_sandbox.scenario import Scenario

Data = dict[str, t.Any]
Connection = tuple[str, str]  # OLM's word for its state, and the time of its last change

FAMILY: t.Final = "olm"
NAMESPACE: t.Final = "openshift-operator-lifecycle-manager"
GLOBAL_NAMESPACE: t.Final = "openshift-operators"
GROUP: t.Final = "operators.coreos.com"
READY_SECONDS: t.Final = 60.0
UNPACK_SECONDS: t.Final = 600.0  # OLM's own default


def wanted(scenario: Scenario) -> bool:
    """Return whether the scenario's cluster has OLM."""
    return GROUP not in scenario.cluster.get("absent_groups", [])


def prepare(sandbox: Sandbox) -> None:
    """Write the catalogues' files and start their servers; this needs no API. Safe to repeat."""
    found = _packages(sandbox)
    bundles.lay_out(sandbox.run, found, sandbox.scenario)
    for name, folder in file_based.write(_folder(sandbox), found, sandbox.scenario).items():
        _serve(sandbox, name, folder)


def start(sandbox: Sandbox) -> None:
    """Start both operators; create the namespaces, CatalogSources and PackageManifests.

    The CRDs of OLM and the CRD Proxy of config.openshift.io must be served.
    """
    client = sandbox.client("sandbox-olm")
    _start_operators(sandbox)
    for obj in _objects(sandbox):
        client.apply(obj)
    package_manifests.publish(client, _packages(sandbox), sandbox.scenario)


def wait_ready(
    sandbox: Sandbox, seconds: float = READY_SECONDS, left: t.Mapping[str, Connection] | None = None
) -> None:
    """Wait until OLM has reached every catalogue that a trouble does not stop.

    `left`: connections that must have ended since, by CatalogSource. Raises SandboxError.
    """
    client = sandbox.client("sandbox-olm")
    deadline = time.monotonic() + seconds
    left = dict(left or {})
    names = [
        name for name, origin in packages.sources(sandbox.scenario).items() if origin in _served(sandbox)
    ]
    while True:
        now = {name: _connection(client, name) for name in names}
        left = {name: old for name, old in left.items() if now.get(name) == old}
        unreached = [name for name, (state, _time) in now.items() if state != "READY" or name in left]
        if not unreached:
            return
        sandbox.processes.check()
        if time.monotonic() > deadline:
            raise SandboxError(
                f"OLM did not reach {', '.join(unreached)} within {seconds:.0f} s: "
                f"see {sandbox.logs / 'olm-catalog.log'}"
            )
        time.sleep(0.1)


def refresh(sandbox: Sandbox) -> None:
    """Serve the catalogues of the scenario as it is now, after its troubles changed.

    Returns when OLM has connected to them again: until then it resolves from its cache. Raises SandboxError.
    """
    client = sandbox.client("sandbox-olm")
    before = _content(sandbox)
    found = _packages(sandbox)
    bundles.lay_out(sandbox.run, found, sandbox.scenario)
    folders = file_based.write(_folder(sandbox), found, sandbox.scenario)
    after = _content(sandbox)
    ended = [name for name in folders if before.get(name) != after[name] or name not in _served(sandbox)]
    left = {
        name: _connection(client, name)
        for name, origin in packages.sources(sandbox.scenario).items()
        if origin in ended
    }
    for name, folder in folders.items():
        if name in ended:
            sandbox.processes.stop(_server(name))
        _serve(sandbox, name, folder)
    package_manifests.publish(client, found, sandbox.scenario)
    wait_ready(sandbox, left=left)


def _start_operators(sandbox: Sandbox) -> None:
    kubeconfig = sandbox.component_kubeconfig("olm")
    env = {"KUBECONFIG": str(kubeconfig), "OPERATOR_NAMESPACE": NAMESPACE, "OPERATOR_NAME": "olm-operator"}
    sandbox.processes.start(
        "olm",
        [
            sandbox.binary(FAMILY, "olm"),
            "--namespace",
            NAMESPACE,
            "--writeStatusName=",
            "--writePackageServerStatusName=",
        ],
        env,
    )
    argv: list[str | Path] = [
        sandbox.binary(FAMILY, "catalog"),
        *(
            "--namespace",
            packages.NAMESPACE,
            "--writeStatusName=",
            "--opmImage",
            "x",
            "--util-image",
            "x",
            "--set-workload-user-id=false",
        ),
        f"--bundle-unpack-timeout={sandbox.scenario.delay('bundle_unpack', UNPACK_SECONDS):g}s",
    ]
    sandbox.processes.start("olm-catalog", argv, env)


def _serve(sandbox: Sandbox, name: str, folder: Path) -> None:
    if name not in _served(sandbox):
        return
    argv: list[str | Path] = [
        *(sandbox.binary(FAMILY, "opm"), "serve", folder, "--port", str(sandbox.port(_server(name)))),
        *("--cache-dir", sandbox.run / f"{_server(name)}-cache", "--cache-enforce-integrity=false"),
        *("--pprof-addr", "", "--termination-log", sandbox.run / f"{_server(name)}-termination.log"),
    ]
    sandbox.processes.start(_server(name), argv)


def _objects(sandbox: Sandbox) -> t.Iterator[Data]:
    for name in (NAMESPACE, GLOBAL_NAMESPACE, packages.NAMESPACE):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield {
        "apiVersion": f"{GROUP}/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": "global-operators", "namespace": GLOBAL_NAMESPACE},
        "spec": {},
    }
    for name, origin in packages.sources(sandbox.scenario).items():
        text = packages.CATALOGS[origin]
        spec: Data = {"sourceType": "grpc", "address": f"127.0.0.1:{sandbox.port(_server(origin))}"}
        spec |= {"displayName": text["display_name"], "publisher": text["publisher"]}
        if name != origin:
            # A real CatalogSource names an image; at this interval OLM looks for a newer image of it.
            spec["updateStrategy"] = {"registryPoll": {"interval": "30m"}}
        yield {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "CatalogSource",
            "metadata": {"name": name, "namespace": packages.NAMESPACE},
            "spec": spec,
        }


def _connection(client: Client, name: str) -> Connection:
    source = client.get(f"{GROUP}/v1alpha1", "catalogsources", name, packages.NAMESPACE) or {}
    state = source.get("status", {}).get("connectionState", {})
    return state.get("lastObservedState", ""), state.get("lastConnect", "")


def _served(sandbox: Sandbox) -> list[str]:
    return [name for name in packages.CATALOGS if not sandbox.scenario.trouble("catalog_down", catalog=name)]


def _packages(sandbox: Sandbox) -> list[packages.Package]:
    return packages.load(operator_crds, sandbox.scenario)


def _content(sandbox: Sandbox) -> dict[str, dict[str, bytes]]:
    """Return what each catalogue holds now: its server reads it only once, when it starts."""
    return {
        folder.name: {path.name: path.read_bytes() for path in folder.glob("*.json")}
        for folder in _folder(sandbox).glob("*")
    }


def _folder(sandbox: Sandbox) -> Path:
    return sandbox.run / "catalogs"


def _server(name: str) -> str:
    return f"opm-{name}"
