# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What operator_upgrade leaves behind when it is refused, and what check mode says about channels."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.operators.builders import OLD_DRIVER, Object, csv, csv_name, offer
from unit.operators.test_steps import KINDS, OLM, SPACE, params, plan, put

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU


@pytest.fixture
def server() -> FakeServer:
    return FakeServer(*KINDS, "ClusterPolicy")


def channel_of(server: FakeServer) -> str:
    live = next(one for one in server.objects.values() if one["kind"] == "Subscription")
    return str(live["spec"]["channel"])


def test_a_plan_that_is_refused_at_its_approval_gives_the_channel_back(server: FakeServer) -> None:
    put(server, GPU, "1.1.0", "a")
    installed = csv("1.1.0", GPU, DRIVER_IMAGE=OLD_DRIVER)
    installed["metadata"]["namespace"] = SPACE
    server.put({"apiVersion": OLM, "kind": "ClusterServiceVersion", **installed})
    plan(server, csv_name("1.2.0"))
    policy = {"metadata": {"name": "gpu"}, "spec": {"driver": {}}}
    server.put({"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", **policy})
    with pytest.raises(AcceleratorError) as caught:
        steps.upgrade(api_on(server), params({"name": "gpu", "channel": "b"}, repair=True))
    error = caught.value
    assert error.code == "OLM-DRIVER-CHANGE"
    assert channel_of(server) == "a"
    assert error.message.endswith("The Subscription has channel a again.")
    (row,) = error.facts["operators"]
    assert [one["install_plan"] for one in row["steps"]] == [None], "no step was done"


RHEL: t.Final = {
    "nvidia.com/gpu.deploy.driver": "true",
    "feature.node.kubernetes.io/system-os_release.ID": "rhel",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "9.8",
}


def crossing(version: str, answer: Object) -> FakeServer:
    """Return a server with an operator before 26.7, a driver with a version, and the registries' answer."""
    server = FakeServer(*KINDS, "ClusterPolicy", "ImageStreamImport")
    put(server, GPU, "26.3.3", "a")
    manifest = offer(GPU, a="26.3.3", b="26.7.1")
    manifest["metadata"]["namespace"] = "m"
    manifest["status"] |= {"catalogSource": "s", "catalogSourceNamespace": "m"}
    server.put({"apiVersion": "packages.operators.coreos.com/v1", "kind": "PackageManifest", **manifest})
    driver = {"repository": "nvcr.io/nvidia", "image": "driver", "version": version}
    policy = {"metadata": {"name": "gpu"}, "spec": {"driver": driver}}
    server.put({"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", **policy})
    server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-0", "labels": RHEL}})
    told = {"kind": "ImageStreamImport", "status": {"images": [answer]}}

    def ask(method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        found = server.answer(method, url, body, **more)
        return Answer(201, told) if method == "POST" else found

    server.request = ask
    return server


WORDS: t.Final = 'dockerimage.image.openshift.io "m.io/nvcr/nvidia/driver:580.95.05-rhel9" not found'
GONE: t.Final = {"status": {"status": "Failure", "reason": "NotFound", "message": WORDS}}


def test_a_driver_by_tag_without_the_tag_of_the_new_release_is_refused() -> None:
    server = crossing("580.95.05", GONE)
    with pytest.raises(AcceleratorError) as caught:
        steps.upgrade(api_on(server), params({"name": "gpu", "channel": "b"}, repair=True))
    assert caught.value.code == "MIRROR-OS-TAG"
    assert f"{csv_name('26.7.1')} takes the driver image nvcr.io/nvidia/driver:580.95.05-rhel9," in (
        caught.value.message
    )
    assert "nvcr.io/nvidia/driver:580.95.05-rhel9.8 is another image" in caught.value.message
    assert " docker://m.io/nvcr`" in caught.value.remedy
    assert channel_of(server) == "a"
    assert [one for one in server.requests if one[0] not in ("GET", "POST")] == []


@pytest.mark.parametrize(
    ("version", "answer", "warned"),
    [
        ("580.95.05", {"status": {"status": "Success"}}, False),
        ("580.95.05", {"status": {"status": "Failure", "message": "no route"}}, True),
        (f"sha256:{'1' * 64}", GONE, False),
    ],
)
def test_a_tag_that_is_there_a_digest_and_a_silent_registry_let_the_upgrade_go(
    version: str, answer: Object, warned: bool
) -> None:
    api = api_on(crossing(version, answer), check_mode=True)
    steps.upgrade(api, params({"name": "gpu", "channel": "b"}, repair=True))
    assert [one for one in api.warnings if "580.95.05-rhel9" in one] == (
        [
            f"{csv_name('26.7.1')} takes the driver image nvcr.io/nvidia/driver:580.95.05-rhel9, and it is "
            "not known whether that exists."
        ]
        if warned
        else []
    )


def test_check_mode_shows_that_only_the_channel_changes(server: FakeServer) -> None:
    put(server, "nfd", "1.2.0", "a")
    checked = api_on(server, check_mode=True)
    steps.upgrade(checked, params({"name": "nfd", "channel": "b"}))
    assert server.writes() == []
    done = api_on(server)
    steps.upgrade(done, params({"name": "nfd", "channel": "b"}))
    assert channel_of(server) == "b"
    assert [one.object_name for one in checked.changes] == [one.object_name for one in done.changes]


def test_an_empty_list_of_operators_is_no_silent_success(server: FakeServer) -> None:
    put(server, "nfd", "1.0.0", "a")
    api = api_on(server)
    assert steps.upgrade(api, {**params(), "operators": []})["operators"] == []
    assert "gpu_upgrade_operators" in api.warnings[0]
