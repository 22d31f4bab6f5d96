# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a real registry of images (CNCF Distribution) with the images that a mirror of the cluster has.

Clients call the server of the stand-ins before it, which has TLS, tokens and the scripted troubles.
"""

from __future__ import annotations

import base64
import json
import secrets
import sys
import typing as t
from dataclasses import replace
from pathlib import Path

import yaml

from openshift_sandbox import scenario as scenarios
from openshift_sandbox.catalogue import images, packages
from openshift_sandbox.pki import Authority
from openshift_sandbox.programs import own_server
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.seed import cluster as seed_cluster
from openshift_sandbox.seed.image_mirrors import mirror_of

FAMILY: t.Final = "registry"
# The server before the registry; the registry itself has the other name.
NAME: t.Final = "registry"
STORE: t.Final = "registry-store"
ISSUER: t.Final = "registry-tokens"
CONFIG_NAMESPACE: t.Final = "openshift-config"
USER: t.Final = "mirror"

Object = dict[str, t.Any]


class Held(t.NamedTuple):
    """An image that the registry has, its place there, and its name at its source."""

    source: str
    repository: str
    tag: str
    image: images.Image


def wanted(scenario: Scenario) -> bool:
    """Return whether the scenario's cluster has a real registry."""
    return "registry" in scenario.cluster


def address(sandbox: Sandbox) -> str:
    """Return host and port, as names of images begin."""
    return f"127.0.0.1:{sandbox.port(NAME)}"


def store(sandbox: Sandbox) -> Path:
    """Return the folder of the registry's storage."""
    return sandbox.run / NAME / "data"


def password(sandbox: Sandbox) -> str:
    """Return the password of the user `mirror`, who may pull and push."""
    file = sandbox.run / "registry-password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(18))
    return file.read_text()


def prepare(sandbox: Sandbox) -> None:
    """Write the address of the registry into the mirrors of the scenario, instead of the name they have."""
    if not wanted(now := sandbox.scenario):
        return
    new = address(sandbox)
    old = now.cluster["registry"]["host"]
    mirrors = {
        source: new + mirror.removeprefix(old) if mirror.startswith(f"{old}/") else mirror
        for source, mirror in (now.cluster.get("image_mirrors") or {}).items()
    }
    registry = now.cluster["registry"] | {"host": new}
    changed = replace(now, cluster=now.cluster | {"registry": registry, "image_mirrors": mirrors})
    scenarios.save(changed, sandbox.directory)


def held(scenario: Scenario) -> list[Held]:
    """Return what the registry has: images with a mirror that catalogues, release and scenario name."""
    cluster = {key: value for key, value in scenario.cluster.items() if key != "registry"}
    original = replace(scenario, cluster=cluster)
    names = list(scenario.cluster["registry"].get("images") or [])
    for package in packages.load(lambda _package: [], original):
        for version in package.versions:
            names += [one["image"] for one in package.csv(version)["spec"]["relatedImages"]]
    for stream in (seed_cluster.driver_toolkit(cluster), seed_cluster.command_line(cluster)):
        names += [one["from"]["name"] for one in stream["spec"]["tags"]]
    host = scenario.cluster["registry"]["host"]
    found = []
    for name in sorted(set(names)):
        repository, tag, _digest = images.split(name)
        mirror = mirror_of(repository, scenario.cluster.get("image_mirrors") or {})
        if mirror.startswith(f"{host}/"):
            found.append(Held(name, mirror.removeprefix(f"{host}/"), tag, images.image(name)))
    return found


def start(sandbox: Sandbox) -> None:
    """Start both with their content, and tell the cluster the login and the authority.

    Raises SandboxError when the server does not answer.
    """
    place, authority = sandbox.run / NAME, Authority(sandbox.run / "pki")
    authority.server(NAME)
    if not place.exists():
        for one in held(sandbox.scenario):
            images.lay_out(store(sandbox), one.repository, one.tag, one.image)
    (place / "registry.yml").write_text(yaml.safe_dump(configuration(sandbox, place, authority.certificate)))
    argv: list[str | Path] = [sandbox.binary(FAMILY, "registry"), "serve", place / "registry.yml"]
    sandbox.processes.start(STORE, argv, {"OTEL_TRACES_EXPORTER": "none"})
    server = "openshift_sandbox.stand_ins.image_registry.server"
    password(sandbox)
    sandbox.processes.start(NAME, [sys.executable, "-m", server, "--dir", sandbox.directory])
    own_server.wait_ready(sandbox, NAME, "the registry is silent")
    client = sandbox.client("cluster-bootstrap")
    for obj in objects(address(sandbox), password(sandbox), authority.certificate.read_text()):
        client.apply(obj)


def configuration(sandbox: Sandbox, place: Path, certificate: Path) -> Object:
    """Return the registry's configuration. certificate: of the authority whose tokens it accepts."""
    url = f"https://{address(sandbox)}"
    token = {"realm": f"{url}/token", "service": address(sandbox), "issuer": ISSUER}
    return {
        "version": 0.1,
        "log": {"level": "warn", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(store(sandbox))}},
        "http": {"addr": f"127.0.0.1:{sandbox.port(STORE)}", "host": url, "secret": "sandbox"},
        "auth": {"token": token | {"rootcertbundle": str(certificate)}},
    }


def objects(host: str, secret: str, certificate: str) -> list[Object]:
    """Return the pull secret of the cluster, the registry's authority, and the Image that names it."""
    login = base64.b64encode(f"{USER}:{secret}".encode()).decode()
    auths = json.dumps({"auths": {host: {"auth": login}}})
    secret_of = {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": auths}}
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": _metadata("pull-secret"), **secret_of},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": _metadata("registry-cas"),
            "data": {host.replace(":", ".."): certificate},
        },
        {
            "apiVersion": "config.openshift.io/v1",
            "kind": "Image",
            "metadata": {"name": "cluster"},
            "spec": {"additionalTrustedCA": {"name": "registry-cas"}},
        },
    ]


def _metadata(name: str) -> Object:
    return {"name": name, "namespace": CONFIG_NAMESPACE}
