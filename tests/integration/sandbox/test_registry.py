# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real registry of a cluster without internet: what it holds, tokens, mirrors, logins and troubles."""

from __future__ import annotations

import base64
import json
import typing as t

import pytest
import urllib3
from cluster import Cluster, own

from openshift_sandbox import build, faults
from openshift_sandbox.client import resource_path

SCENARIO: t.Final = "disconnected"
pytestmark = [
    pytest.mark.long("few have built the registry; the unit tests of image_registry hold each rule"),
    pytest.mark.skipif(
        not build.built("registry"), reason="no registry is built: run `sandbox build --with registry`"
    ),
    pytest.mark.story("the images of a cluster without internet, one by one"),
]
DRIVER: t.Final = "nvcr.io/nvidia/driver:595.91.07-rhel9"
NAMESPACE: t.Final = "openshift-config"
NO_SOURCE: t.Final = 'Get "https://nvcr.io/v2/": dial tcp: lookup nvcr.io: no such host'
LOST: t.Final = [
    ("image_missing", "not found"),
    ("token_expired", "you may not have access to the container image"),
    ("rate_limited", "toomanyrequests"),
    ("forbidden", "denied"),
]
Object = dict[str, t.Any]


@pytest.fixture(scope="module")
def cut_off() -> t.Iterator[Cluster]:
    with own(SCENARIO) as cluster:
        yield cluster


def look_up(cluster: Cluster, *images: str, namespace: str = NAMESPACE) -> list[Object]:
    policy = {"importMode": "PreserveOriginal"}
    wanted = [{"from": {"kind": "DockerImage", "name": one}, "importPolicy": policy} for one in images]
    body = {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStreamImport",
        "metadata": {"name": "look-up", "namespace": namespace},
        "spec": {"import": False, "images": wanted},
    }
    path = resource_path("image.openshift.io/v1", "imagestreamimports", namespace=namespace)
    found: list[Object] = cluster.client.checked("POST", f"{path}?dryRun=All", body)["status"]["images"]
    return found


def told(cluster: Cluster, image: str = DRIVER, namespace: str = NAMESPACE) -> str:
    """Return why an image is not found, or "" if it is."""
    return str(look_up(cluster, image, namespace=namespace)[0]["status"].get("message", ""))


def related_images(cluster: Cluster) -> list[str]:
    packages = cluster.client.list(
        "packages.operators.coreos.com/v1", "packagemanifests", "openshift-marketplace"
    )
    channels = [one for package in packages for one in package["status"]["channels"]]
    return sorted({image for one in channels for image in one["currentCSVDesc"].get("relatedImages") or []})


def test_every_image_of_catalogues_and_release_is_found(cut_off: Cluster) -> None:
    streams = cut_off.client.list("image.openshift.io/v1", "imagestreams", "openshift")
    release = [tag["from"]["name"] for one in streams for tag in one["spec"]["tags"]]
    related = [one for one in related_images(cut_off) if one.startswith(("nvcr.io/", "registry.redhat.io/"))]
    assert len(related) > 20
    assert len(release) > 1
    found = look_up(cut_off, *related, *release, DRIVER)
    assert [one["status"] for one in found if one["status"]["status"] != "Success"] == []
    assert {one["architecture"] for one in found[-1]["image"]["dockerImageManifests"]} == {"amd64", "arm64"}


def test_the_registry_wants_a_token_for_the_login_of_the_cluster(cut_off: Cluster) -> None:
    sandbox = cut_off.needs_sandbox()
    host = sandbox.scenario.cluster["registry"]["host"]
    secret = cut_off.client.get("v1", "secrets", "pull-secret", NAMESPACE) or {}
    auths = json.loads(base64.b64decode(secret["data"][".dockerconfigjson"]))["auths"]
    pool = urllib3.PoolManager(ca_certs=str(sandbox.run / "pki" / "ca.crt"))
    url = f"https://{host}/v2/nvcr/nvidia/driver/manifests/{DRIVER.rpartition(':')[2]}"
    answer = pool.request("HEAD", url)
    scope = "repository:nvcr/nvidia/driver:pull"
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"].startswith(f'Bearer realm="https://{host}/token"')
    login = {"Authorization": f"Basic {auths[host]['auth']}"}
    token = pool.request("GET", f"https://{host}/token?service={host}&scope={scope}", headers=login)
    bearer = {"Authorization": f"Bearer {token.json()['token']}", "Accept": "*/*"}
    assert pool.request("HEAD", url, headers=bearer).status == 200


@pytest.mark.parametrize(("kind", "text"), LOST, ids=[kind for kind, _text in LOST])
def test_a_trouble_comes_and_goes(cut_off: Cluster, kind: str, text: str) -> None:
    sandbox = cut_off.needs_sandbox()
    faults.add(sandbox, kind, {} if kind == "token_expired" else {"image": DRIVER})
    try:
        message = told(cut_off)
    finally:
        faults.clear(sandbox, kind, {})
    assert (text in message, NO_SOURCE in message) == (True, True)
    assert told(cut_off) == ""


def test_an_architecture_may_be_missing(cut_off: Cluster) -> None:
    sandbox = cut_off.needs_sandbox()
    faults.add(sandbox, "architecture_missing", {"image": DRIVER, "architecture": "arm64"})
    try:
        [found] = look_up(cut_off, DRIVER)
    finally:
        faults.clear(sandbox, "architecture_missing", {})
    assert [one["architecture"] for one in found["image"]["dockerImageManifests"]] == ["amd64"]


def test_tags_need_a_mirror_set_for_tags_and_digests_do_not(cut_off: Cluster) -> None:
    sets = ("config.openshift.io/v1", "imagetagmirrorsets", "itms-oc-mirror")
    live = cut_off.client.get(*sets) or {}
    kept = {key: live[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": sets[2]}}
    digest = next(one for one in related_images(cut_off) if one.startswith("nvcr.io/nvidia/driver@"))
    cut_off.client.delete(*sets)
    try:
        assert told(cut_off) == f"Internal error occurred: {DRIVER}: {NO_SOURCE}"
        assert told(cut_off, digest) == ""
    finally:
        cut_off.client.apply(kept)
    assert told(cut_off) == ""


def test_a_secret_of_the_namespace_counts_before_the_pull_secret(cut_off: Cluster) -> None:
    host = cut_off.needs_sandbox().scenario.cluster["registry"]["host"]
    wrong = json.dumps({"auths": {host: {"auth": base64.b64encode(b"mirror:old").decode()}}})
    cut_off.client.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "old", "namespace": "default"},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": wrong},
        }
    )
    assert "you may not have access" in told(cut_off, namespace="default")
    cut_off.client.delete("v1", "secrets", "old", "default")
    assert told(cut_off, namespace="default") == ""
