# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole module on a server in memory: what is listed, asked and refused, and that it writes nothing."""

from __future__ import annotations

import base64
import json
import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer, status
from unit.mirrors.builders import MIRROR, mirror_set
from unit.mirrors.test_images import node
from unit.operators.builders import offer

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors import registry
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.registry import Registries
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU
from ansible_collections.accelerators.openshift.plugins.modules.image_mirrors import SPEC, ensure

Data = dict[str, t.Any]
KINDS: t.Final = (
    *("OperatorHub", "ImageDigestMirrorSet", "ImageTagMirrorSet", "ImageContentSourcePolicy"),
    *("ClusterVersion", "Node", "CatalogSource", "Subscription", "PackageManifest", "ImageStream"),
    *("ClusterServiceVersion", "Namespace", "ConfigMap", "Secret", "Proxy", "Image", "Network"),
    "ImageStreamImport",
)
SOURCE: t.Final = "cs-certified-operator-index-v4-22"
DRIVER: t.Final = "nvcr.io/nvidia/driver@sha256:2"
RHCOS: t.Final = "9.8.20260801-0"
DTK: t.Final = "quay.io/openshift-release-dev/dtk@sha256:3"
SAMPLE: t.Final = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8"
POOL: t.Final = {
    "name": "training",
    "candidates": [{"instance_type": "p5.48xlarge", "arch": "amd64", "gpu_model": "H100"}],
}
VALIDATION: t.Final = {"name": "training", "benchmark": "vectoradd", "image": ""}


def config(kind: str, **spec: t.Any) -> Data:
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": kind,
        "metadata": {"name": "version" if kind == "ClusterVersion" else "cluster"},
        "spec": spec,
    }


class Mirrored(FakeServer):
    """A cluster with a mirror, and the mirror. gone: images that no registry has. closed: where no look-up is
    allowed. blind: the API server does not read mirror sets. mirrored: requests to the mirror.
    """

    def __init__(self, *objects: Data, gone: t.Collection[str] = (), without: str = "") -> None:
        super().__init__(*(one for one in KINDS if one != without))
        self.gone, self.closed, self.blind = gone, "", False
        self.mirrored: list[str] = []
        self.request = self.ask
        package = offer(GPU, True, [DRIVER], stable="26.3.3 26.7.0 26.7.1", v26__3="26.3.3")
        package |= {"apiVersion": "packages.operators.coreos.com/v1", "kind": "PackageManifest"}
        package["metadata"]["namespace"] = "openshift-marketplace"
        package["status"] |= {"catalogSource": SOURCE, "catalogSourceNamespace": "openshift-marketplace"}
        worker = node(RHCOS, **{"node-role.kubernetes.io/worker": ""}) | {"apiVersion": "v1", "kind": "Node"}
        version = config("ClusterVersion")
        version["status"] = {"history": [{"state": "Completed", "version": "4.22.5"}]}
        catalog = {
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "CatalogSource",
            "metadata": {"name": SOURCE, "namespace": "openshift-marketplace"},
            "status": {"connectionState": {"lastObservedState": "READY"}},
        }
        stream = {
            "apiVersion": "image.openshift.io/v1",
            "kind": "ImageStream",
            "metadata": {"name": "driver-toolkit", "namespace": "openshift"},
            "spec": {"tags": [{"name": RHCOS, "from": {"name": DTK}}]},
        }
        hub = config("OperatorHub", disableAllDefaultSources=True)
        mirrors = {"nvcr_dot_io": f"{MIRROR}/nvcr", "quay_dot_io": f"{MIRROR}/quay"}
        digests, tags = (
            mirror_set(kind, True, **mirrors) for kind in ("ImageDigestMirrorSet", "ImageTagMirrorSet")
        )
        for one in (package, worker, version, catalog, stream, hub, digests, tags, *objects):
            self.put(one)

    def ask(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if self.closed and self.closed in url:
            return status(403, "Forbidden", f"{self.closed} is forbidden")
        if MIRROR in url:
            self.mirrored.append(url)
            return Answer(200, {"config": {"digest": "sha256:c"}, "layers": [], "architecture": "amd64"})
        answer = self.answer(method, url, body, **more)
        if method == "POST" and answer.status < 300:
            wanted = json.loads(body or b"")["spec"]["images"]
            found = [self._image(one["from"]["name"]) for one in wanted]
            return Answer(201, {"kind": "ImageStreamImport", "status": {"images": found}})
        return answer

    def _image(self, image: str) -> Data:
        if self.blind and image.startswith("nvcr.io/"):
            words = 'Internal error occurred: Get "https://nvcr.io/v2/": dial tcp: i/o timeout'
            return {"status": {"status": "Failure", "reason": "InternalError", "message": words}}
        if image in self.gone:
            words = f'dockerimage.image.openshift.io "{image}" not found'
            return {"status": {"status": "Failure", "reason": "NotFound", "message": words}}
        manifests = [{"architecture": "amd64"}]
        return {
            "status": {"status": "Success"},
            "image": {"metadata": {"name": "sha256:9"}, "dockerImageManifests": manifests},
        }


def options(**given: t.Any) -> Data:
    defaults = {key: one.get("default") for key, one in SPEC.options.items()}
    operators = [{"name": GPU, "namespace": "nvidia-gpu-operator", "source": SOURCE}]
    return {**defaults, "operators": operators, "pools": [POOL], "validations": [VALIDATION], **given}


def subscription(installed: str, channel: str = "stable") -> Data:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": GPU, "namespace": "nvidia-gpu-operator"},
        "spec": {
            "name": GPU,
            "channel": channel,
            "source": SOURCE,
            "sourceNamespace": "openshift-marketplace",
        },
        "status": {"installedCSV": f"{GPU}.v{installed}"},
    }


def run(server: FakeServer, **given: t.Any) -> Data:
    return ensure(api_on(server), options(**given))


def test_every_image_is_listed_asked_and_there() -> None:
    server = Mirrored()
    found = run(server)
    assert {one["image"]: (one["needed_by"], one["answer"]) for one in found["images"]} == {
        DRIVER: ([GPU], "there"),
        DTK: (["driver"], "there"),
        SAMPLE: (["training"], "there"),
    }
    assert (found["verdict"], found["mirrored"], found["image_tag_mirror_set"]) == ("ok", True, None)
    assert found["image_set"]["mirror"]["operators"][0]["catalog"].endswith("certified-operator-index:v4.22")
    assert [one["name"] for one in found["image_set"]["mirror"]["additionalImages"]] == [SAMPLE, DTK]
    writes = [(method, query) for method, _path, query in server.requests if method != "GET"]
    assert [(method, query["dryRun"]) for method, query in writes] == [("POST", "All")]


@pytest.mark.parametrize(
    ("given", "image"),
    [
        ("", "quay.io/edge-infrastructure/console-plugin-nvidia-gpu:release-0.3.0"),
        ("mine/plugin:1", "docker.io/mine/plugin:1"),
    ],
)
def test_the_plugin_of_the_console_is_listed(given: str, image: str) -> None:
    found = run(Mirrored(), console_image=given)
    (plugin,) = (one for one in found["images"] if one["needed_by"] == ["gpu_monitoring"])
    assert (plugin["image"], plugin["architectures"]) == (image, ["amd64"])
    assert image in [one["name"] for one in found["image_set"]["mirror"]["additionalImages"]]


def test_a_missing_image_fails_with_all_facts() -> None:
    with pytest.raises(AcceleratorError) as failed:
        run(Mirrored(gone=[SAMPLE]))
    error = failed.value
    assert error.code == "MIRROR-MISSING"
    for part in (SAMPLE, "training", f"{MIRROR}/nvcr/nvidia/k8s/cuda-sample", "404"):
        assert part in error.message
    assert f"mirror.additionalImages: - name: {SAMPLE}" in error.remedy
    assert {one["image"] for one in error.facts["images"]} == {SAMPLE, DRIVER, DTK}
    api = api_on(Mirrored(gone=[SAMPLE]))
    assert ensure(api, options(fail_on="never", mirrored_only=True))["verdict"] == "blocking"
    assert [text.partition(":")[0] for text in api.warnings] == ["MIRROR-MISSING"]


def test_another_architecture_is_not_enough() -> None:
    arm = {**POOL, "candidates": [{"instance_type": "g5g.xlarge", "arch": "arm64", "gpu_model": "T4G"}]}
    with pytest.raises(AcceleratorError) as failed:
        run(Mirrored(), pools=[arm])
    assert (failed.value.code, "arm64" in failed.value.message) == ("MIRROR-ARCH", True)


def test_an_upgrade_needs_the_tags_of_both_releases() -> None:
    server = Mirrored(subscription("26.3.3"))
    found = run(server, driver={"version": "580.95.05"})
    tags = [one["image"] for one in found["images"] if "580.95.05" in one["image"]]
    assert tags == [f"nvcr.io/nvidia/driver:580.95.05-{suffix}" for suffix in ("rhel9", "rhel9.8")]
    (package,) = found["image_set"]["mirror"]["operators"][0]["packages"]
    assert (package["channels"][0]["minVersion"], package["channels"][-1]["maxVersion"]) == (
        "26.3.3",
        "26.7.1",
    )
    # A run that upgrades nothing pulls nothing of the new release.
    still = run(server, driver={"version": "580.95.05"}, upgrades=False)
    assert [one["image"] for one in still["images"] if "580.95.05" in one["image"]] == tags[1:]


def test_this_machine_asks_where_the_cluster_has_no_api() -> None:
    found = run(Mirrored(without="ImageStreamImport"))
    assert {(one["answer"], one["proof"]) for one in found["images"]} == {("there", "controller")}
    (check,) = found["checks"]
    assert (check["verdict"], "this machine asked for 3 of them" in check["message"]) == ("ok", True)
    assert [line.split()[1:3] for line in found["image_table"][1:]] == [["there", "controller"]] * 3


def test_this_machine_asks_the_mirrors_that_an_older_api_server_does_not_know() -> None:
    server = Mirrored()
    server.blind = True
    found = run(server)
    assert {one["image"]: one["proof"] for one in found["images"]} == {
        DRIVER: "controller",
        SAMPLE: "controller",
        DTK: "cluster",
    }
    assert all(url.startswith(f"https://{MIRROR}/v2/nvcr/") for url in server.mirrored)


@pytest.mark.parametrize("closed", ["", "/secrets"])
def test_this_machine_takes_logins_and_authorities_of_the_cluster(
    monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    taken: list[tuple[t.Any, list[str]]] = []

    class Noting(Registries):
        def __init__(self, api: Api, auths: Data | None, authorities: t.Iterable[str]) -> None:
            taken.append((auths, [*authorities]))
            super().__init__(api, auths, "")

    monkeypatch.setattr(registry, "Registries", Noting)
    monkeypatch.setattr(secrets, "_seen", set())
    login = {MIRROR: {"auth": base64.b64encode(b"user:of-the-mirror-only").decode()}}
    content = base64.b64encode(json.dumps({"auths": login}).encode()).decode()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pull-secret", "namespace": "openshift-config"},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": content},
    }
    ours, proxy = config("Image", additionalTrustedCA={"name": "ours"}), config("Proxy")
    proxy["spec"] = {"trustedCA": {"name": "of-the-proxy"}}
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "openshift-config"}}
        | {"data": {"ca-bundle.crt": f"PEM of {name}"}}
        for name in ("ours", "of-the-proxy")
    ]
    server = Mirrored(secret, ours, proxy, *maps, without="ImageStreamImport")
    server.closed = closed
    found = run(server)
    assert taken == [(None if closed else login, ["PEM of ours", "PEM of of-the-proxy"])]
    assert secrets.censor_text("of-the-mirror-only") == ("of-the-mirror-only" if closed else secrets.MASK)
    assert [one["name"] for one in found["checks"]] == (
        ["images", "Secret", "Secret"] if closed else ["images"]
    )


@pytest.mark.parametrize("kind", ["ImageDigestMirrorSet", "ImageTagMirrorSet", "ImageContentSourcePolicy"])
def test_a_cluster_with_mirror_sets_of_one_kind_alone_is_recognized(kind: str) -> None:
    server = FakeServer(*KINDS)
    server.put(config("OperatorHub"))
    server.put(mirror_set(kind, nvcr_dot_io=f"{MIRROR}/nvcr"))
    assert run(server, mirrored_only=True, operators=[], pools=[], validations=[])["mirrored"]


def test_a_pool_with_its_own_driver_needs_no_other() -> None:
    own = {**POOL, "name": "inference", "driver": {"version": "570.1"}}
    both = run(Mirrored(), driver={"version": "580.95.05"}, pools=[POOL, own])
    assert {one["image"]: one["needed_by"] for one in both["images"] if "driver:" in one["image"]} == {
        "nvcr.io/nvidia/driver:580.95.05-rhel9": ["training"],
        "nvcr.io/nvidia/driver:570.1-rhel9": ["inference"],
    }
    alone = run(Mirrored(), driver={"version": "580.95.05"}, pools=[own])
    assert (alone["verdict"], "580.95.05" in str(alone["images"])) == ("ok", False)


def test_a_driver_by_tag_without_a_node_that_shows_its_end_stays_open() -> None:
    worker = node() | {"apiVersion": "v1", "kind": "Node", "status": {}}
    found = run(Mirrored(worker), driver={"version": "580.95.05"})
    (check,) = [one for one in found["checks"] if one["code"]]
    assert (check["code"], check["verdict"]) == ("MIRROR-UNCHECKED", "unknown")
    assert "580.95.05" in check["message"]
    assert " docker://REGISTRY --dry-run`" in check["remedy"]


def test_a_connected_cluster_costs_four_requests() -> None:
    server = FakeServer(*KINDS)
    server.put(config("OperatorHub"))
    found = run(server, mirrored_only=True)
    assert (found["mirrored"], found["images"], found["verdict"]) == (False, [], "ok")
    assert [path.rpartition("/v1")[2] for _method, path, _query in server.requests] == [
        "/operatorhubs/cluster",
        "/imagedigestmirrorsets",
        "/imagetagmirrorsets",
        "alpha1/imagecontentsourcepolicies",
    ]


def test_a_cluster_that_cannot_be_asked_says_so() -> None:
    server = Mirrored()
    server.closed = "imagestreamimports"
    found = run(server)
    assert {one["answer"] for one in found["images"]} == {"unchecked"}
    (check,) = found["checks"]
    assert (check["code"], check["verdict"]) == ("MIRROR-UNCHECKED", "unknown")
    with pytest.raises(AcceleratorError, match="it is not known"):
        run(server, fail_on="unknown")


def test_what_may_not_be_read_is_a_check_of_its_own() -> None:
    server = Mirrored()
    server.closed = "imagestreams/"
    found = run(server)
    assert [(one["name"], one["verdict"]) for one in found["checks"]] == [
        ("images", "ok"),
        ("ImageStream", "unknown"),
    ]


def test_a_file_of_the_users_is_refused_before_anything_is_asked() -> None:
    server = Mirrored()
    wanted = run(server)["image_set"]
    assert run(server, image_set=wanted)["verdict"] == "ok"
    server.requests.clear()
    del wanted["mirror"]["additionalImages"]
    with pytest.raises(InputError, match=r"mirror\.additionalImages lacks"):
        run(server, image_set=wanted)
    assert {method for method, _path, _query in server.requests} == {"GET"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"images": ["r.io/a:1", "docker://nvcr.io/a:1"]}, "images[1] 'docker://nvcr.io/a:1' has a scheme"),
        ({"images": ["r.io/a b"]}, "images[0] 'r.io/a b' is no image reference"),
        ({"console_image": "R.io/A"}, "console_image 'R.io/A' is no image reference"),
    ],
)
def test_a_text_that_is_no_image_is_refused_before_anything_is_read(given: Data, words: str) -> None:
    server = Mirrored()
    with pytest.raises(InputError) as failed:
        run(server, **given)
    assert (failed.value.code, words in failed.value.message) == ("INPUT-IMAGE", True)
    assert server.requests == []


def test_the_catalogue_is_read_where_its_package_comes_from() -> None:
    server = Mirrored()
    for live in [
        one for one in server.objects.values() if one["kind"] in ("PackageManifest", "CatalogSource")
    ]:
        catalog = {"catalogSource": "mine", "catalogSourceNamespace": "mirrors"}
        is_package = live["kind"] == "PackageManifest"
        metadata = {"name": live["metadata"]["name"] if is_package else "mine", "namespace": "mirrors"}
        spec = {"image": f"{MIRROR}/redhat/certified-operator-index:v4.21"}
        server.put({**live, "metadata": metadata, "spec": spec, "status": {**live["status"], **catalog}})
    entry = {"name": GPU, "namespace": "nvidia-gpu-operator", "source": "mine", "source_namespace": "mirrors"}
    (found,) = run(server, operators=[entry])["image_set"]["mirror"]["operators"]
    assert found["catalog"] == "registry.redhat.io/redhat/certified-operator-index:v4.21"


def test_a_package_that_no_catalogue_has_is_refused() -> None:
    entry = {"name": "nfd", "namespace": "openshift-nfd", "source": SOURCE}
    with pytest.raises(AcceleratorError) as failed:
        run(Mirrored(), operators=[entry])
    assert failed.value.code == "OLM-NO-PACKAGE"


def test_a_stream_without_the_tag_and_a_closed_list_are_named() -> None:
    stream = {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "metadata": {"name": "driver-toolkit", "namespace": "openshift"},
        "spec": {"tags": []},
    }
    lists = config(
        "Image", registrySources={"allowedRegistries": [MIRROR]}, additionalTrustedCA={"name": "ca"}
    )
    found = run(Mirrored(stream, lists), fail_on="never")
    assert [one["code"] for one in found["checks"]] == ["", "MIRROR-ALLOWED", "MIRROR-CA", "GPU-DTK-STREAM"]
