# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps the images of a disconnected cluster away is refused, and each remedy ends it as it stands."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import json
import typing as t
from pathlib import Path

import pytest
from cluster import must_get
from integration.scenarios.place import Data, Place, mirrored
from integration.scenarios.test_disconnected import POOLS, SOURCES
from integration.shell import Shell, follow, shell as shell_of
from integration.troubles.demo import verdict

from openshift_sandbox.catalogue import images
from openshift_sandbox.programs import registry
from openshift_sandbox.stand_ins.image_registry.server import without

SCENARIO: t.Final = "disconnected"
pytestmark = pytest.mark.long("playbooks on a real registry: unit/mirrors has each verdict with its remedy")
CONFIG: t.Final = "config.openshift.io/v1"
PULL_SECRET: t.Final = ("v1", "secrets", "pull-secret", "openshift-config")
KEY: t.Final = ".dockerconfigjson"
STREAM: t.Final = ("image.openshift.io/v1", "imagestreams", "driver-toolkit", "openshift")
# An image that the registry does not have.
OWN: t.Final = "nvcr.io/nvidia/tools/own"
# A trouble, from its beginning to its end: it yields what FILE of the remedy has to hold.
Staged = t.Iterator[str]


def kept(obj: Data) -> Data:
    """Return an object as it can be applied again."""
    metadata = {key: obj["metadata"][key] for key in ("name", "namespace") if key in obj["metadata"]}
    return {**{key: one for key, one in obj.items() if key != "status"}, "metadata": metadata}


@contextlib.contextmanager
def only_digests(place: Place) -> Staged:
    """Take away the ImageTagMirrorSet."""
    sets = (CONFIG, "imagetagmirrorsets")
    live = kept(must_get(place.client, *sets, "itms-oc-mirror"))
    place.client.delete(*sets, "itms-oc-mirror")
    try:
        yield ""
    finally:
        place.client.delete(*sets, "gpu-tags")
        place.client.apply(live)


@contextlib.contextmanager
def allowed_list(place: Place) -> Staged:
    """Allow nodes the registries of Red Hat and the mirror."""
    host = place.cluster.needs_sandbox().scenario.cluster["registry"]["host"]
    allowed = ["quay.io", "registry.redhat.io", "registry.connect.redhat.com", host]
    image = (CONFIG, "images", "cluster", None)
    place.client.patch(*image, {"spec": {"registrySources": {"allowedRegistries": allowed}}})
    try:
        yield ""
    finally:
        place.client.patch(*image, {"spec": {"registrySources": None}})


@contextlib.contextmanager
def old_login(place: Place) -> Staged:
    """Give the pull secret a login that the registry refuses."""
    live = must_get(place.client, *PULL_SECRET)["data"][KEY]
    (host,) = json.loads(base64.b64decode(live))["auths"]
    expired = {"auths": {host: {"auth": base64.b64encode(b"mirror:expired").decode()}}}
    place.client.patch(*PULL_SECRET, {"stringData": {KEY: json.dumps(expired)}})
    try:
        yield base64.b64decode(live).decode()
    finally:
        place.client.patch(*PULL_SECRET, {"data": {KEY: live}})


@contextlib.contextmanager
def missing(_place: Place) -> Staged:
    """Ask for an image that nobody has mirrored."""
    yield mirrored(f"{OWN}:missing")


@contextlib.contextmanager
def half(place: Place) -> Staged:
    """Mirror an image for arm64 alone, and ask for it."""
    image = images.image(f"{OWN}:half")
    index = without(image.content[image.digest], {"amd64"})
    digest = f"sha256:{hashlib.sha256(index).hexdigest()}"
    part = dataclasses.replace(image, digest=digest, content={**image.content, digest: index})
    repository = f"nvcr/{OWN.partition('/')[2]}"
    images.lay_out(registry.store(place.cluster.needs_sandbox()), repository, "half", part)
    yield mirrored(f"{OWN}:half")


@contextlib.contextmanager
def proxied(place: Place) -> Staged:
    """Give the cluster a proxy that also gets what stays inside."""
    proxy = (CONFIG, "proxies", "cluster", None)
    given = {"httpsProxy": "http://proxy.example.com:3128", "noProxy": ".example.com"}
    place.client.patch(*proxy, {"spec": given})
    network_operator(place)
    try:
        yield ""
    finally:
        place.client.patch(*proxy, {"spec": dict.fromkeys(given)})
        network_operator(place)


@contextlib.contextmanager
def without_authority(place: Place) -> Staged:
    """Name certificates for the proxy that are not there."""
    proxy = (CONFIG, "proxies", "cluster", None)
    place.client.patch(*proxy, {"spec": {"trustedCA": {"name": "user-ca"}}})
    try:
        yield "-----BEGIN CERTIFICATE-----"
    finally:
        place.client.patch(*proxy, {"spec": {"trustedCA": {"name": ""}}})
        place.client.delete("v1", "configmaps", "user-ca", "openshift-config")


@contextlib.contextmanager
def other_toolkit(place: Place) -> Staged:
    """Leave a Driver Toolkit for another RHCOS than that of the nodes."""
    live = must_get(place.client, *STREAM)
    tags = [{**live["spec"]["tags"][0], "name": "9.6.20250101-0"}]
    place.client.patch(*STREAM, {"spec": {"tags": tags}})
    place.client.patch(*STREAM, {"status": {"tags": []}}, "status")
    try:
        yield ""
    finally:
        place.client.patch(*STREAM, {"spec": {"tags": live["spec"]["tags"]}})
        place.client.patch(*STREAM, {"status": {"tags": live["status"]["tags"]}}, "status")


def network_operator(place: Place) -> None:
    """Do what the cluster network operator does: the status of a proxy follows its spec."""
    proxy = must_get(place.client, CONFIG, "proxies", "cluster")
    status = {key: proxy["spec"].get(key) for key in ("httpsProxy", "noProxy")}
    place.client.patch(CONFIG, "proxies", "cluster", None, {"status": status}, "status")


@pytest.fixture(scope="module")
def shell(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return shell_of(place.demo, place.cluster, tmp_path_factory.mktemp("bin"))


@pytest.mark.parametrize(
    ("stage", "code", "given"),
    [
        (only_digests, "MIRROR-TAG", {}),
        (allowed_list, "MIRROR-ALLOWED", {}),
        (old_login, "MIRROR-DENIED", {}),
        (missing, "MIRROR-MISSING", {"gpu_mirror_images": [f"{OWN}:missing"]}),
        (half, "MIRROR-ARCH", {"gpu_mirror_images": [f"{OWN}:half"]}),
        (proxied, "MIRROR-PROXY", {"gpu_mirror_fail_on": "warning"}),
        (without_authority, "MIRROR-CA", {}),
        (other_toolkit, "GPU-DTK-STREAM", {}),
    ],
    ids=["tag", "allowed", "login", "missing", "arch", "proxy", "authority", "toolkit"],
)
def test_the_remedy_ends_what_is_refused_before_the_first_write(
    place: Place, shell: Shell, tmp_path: Path, stage: t.Any, code: str, given: Data
) -> None:
    with stage(place) as content:
        run = place.run("enable_gpus", gpu_pools=POOLS, **SOURCES, **given)
        found = verdict(run, code, "gpu" if code.startswith("GPU") else "registry")
        assert place.writes(run) == []
        version = str(place.cluster.needs_sandbox().scenario.cluster["version"])
        follow(found["remedy"], shell, tmp_path, {"FILE": content}, VERSION=version)
        network_operator(place)
        again = place.done("enable_gpus", "--tags", "preflight", gpu_pools=POOLS, **SOURCES, **given)
    checked = next(task for task in again.tasks if task.name.endswith("Check the images"))
    assert (checked["verdict"], [check["code"] for check in checked["checks"]]) == ("ok", [""])
