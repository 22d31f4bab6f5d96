# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pools need: images of operators, drivers with the tags of their release, validations."""

from __future__ import annotations

import typing as t

import pytest
from unit.mirrors.builders import DIGEST, operator

from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors import images
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.images import System, Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU, NETWORK

Data = dict[str, t.Any]
OLD, NEW = f"{GPU}.v26.3.3", f"{GPU}.v26.7.1"
WHOSE: t.Final = (("training",), ("amd64",))
ON_422: t.Final = System((4, 22), ("9.8.20260801-0",))


def tags(found: t.Iterable[Wanted]) -> list[str]:
    return [one.image.rpartition(":")[2] for one in found]


def node(rhcos: str = "9.8.20260801-0", arch: str = "amd64", **marks: str) -> Data:
    info = {"osImage": f"Red Hat Enterprise Linux CoreOS {rhcos} (Plow)", "kernelVersion": "5.14.0-1.el9"}
    metadata = {"name": f"node-{arch}", "labels": {"kubernetes.io/arch": arch, **marks}}
    return {"metadata": metadata, "status": {"nodeInfo": info}}


@pytest.mark.parametrize(
    ("release", "rhcos", "csv", "suffix"),
    [
        ((4, 18), "418.94.202501010000-0", OLD, "rhcos4.18"),
        ((4, 18), "418.94.202501010000-0", NEW, "rhcos4.18"),
        ((4, 19), "9.6.20250801-0", OLD, "rhel9.6"),
        ((4, 19), "9.6.20250801-0", NEW, "rhel9"),
        ((4, 22), "9.8.20260801-0", OLD, "rhel9.8"),
        ((4, 22), "9.8.20260801-0", NEW, "rhel9"),
    ],
)
def test_the_tag_of_a_driver_follows_the_releases(
    release: tuple[int, int], rhcos: str, csv: str, suffix: str
) -> None:
    found = images.of_driver({"version": "580.95.05"}, [csv], System(release, (rhcos,)), [], WHOSE)
    assert [one.image for one in found] == [f"nvcr.io/nvidia/driver:580.95.05-{suffix}"]
    assert csv in found[0].why


def test_an_upgrade_of_the_operator_needs_both_tags_of_the_same_driver() -> None:
    found = images.of_driver({"version": "580.95.05"}, [OLD, NEW], ON_422, [], WHOSE)
    assert tags(found) == ["580.95.05-rhel9.8", "580.95.05-rhel9"]


@pytest.mark.parametrize("driver", [{}, {"version": ""}, {"version": "580.1", "enabled": False}])
def test_the_operators_own_driver_is_among_its_images(driver: Data) -> None:
    assert images.of_driver(driver, [NEW], ON_422, [], WHOSE) == []


def test_a_driver_by_digest_has_no_system() -> None:
    given = {"version": DIGEST, "repository": "r.io/x", "image": "gpu"}
    (found,) = images.of_driver(given, [OLD, NEW], ON_422, [], WHOSE)
    assert found.image == f"r.io/x/gpu@{DIGEST}"


def test_a_precompiled_driver_is_one_image_for_each_kernel() -> None:
    marks = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "feature.node.kubernetes.io/kernel-version.full": "5.14.0-611.el9.x86_64",
        "feature.node.kubernetes.io/system-os_release.ID": "rhel",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": "9.8",
    }
    given = {"version": "580", "use_precompiled": True}
    found = images.of_driver(given, [NEW], ON_422, [node(**marks)], WHOSE)
    assert tags(found) == ["580-5.14.0-611.el9.x86_64-rhel9"]


def test_the_images_of_an_operator_are_those_of_its_way() -> None:
    stops = (("v26.7", "26.7.1", ("26.7.0", "26.7.1")),)
    way = operator("26.3.3", *stops, v26__7="26.7.0 26.7.1", v26__3="26.3.3")
    found = images.of_operator(way, ["amd64"])
    assert [(one.image, one.why, one.package) for one in found] == [
        ("nvcr.io/nvidia/driver@sha256:2", f"driver of {csv}", GPU) for csv in (OLD, NEW)
    ]
    assert [csv for csv in way.csvs if not way.images.get(csv)] == [f"{GPU}.v26.7.0"]


def test_what_few_pools_need_is_marked() -> None:
    way = operator("26.7.1", stable="26.7.1")
    way.images[NEW].append("nvcr.io/nvidia/cloud-native/k8s-cc-manager:v0.4.3")
    assert [one.seldom for one in images.of_operator(way, ["amd64"])] == [False, True]


@pytest.mark.parametrize("key", ["ofedDriver", "ofed_driver"])
def test_the_driver_of_network_cards_has_the_minor_version_and_the_architecture(key: str) -> None:
    spec = {
        key: {"repository": "nvcr.io/nvidia/mellanox", "image": "doca-driver", "version": "26.07"},
        "x": {"repository": "r.io", "image": "rdma", "version": DIGEST},
    }
    found = images.of_operands(spec, NETWORK, ON_422, ["amd64", "arm64"])
    assert [one.image for one in found] == [
        f"r.io/rdma@{DIGEST}",
        "nvcr.io/nvidia/mellanox/doca-driver:26.07-rhel9.8-amd64",
        "nvcr.io/nvidia/mellanox/doca-driver:26.07-rhel9.8-arm64",
    ]
    assert [one.archs for one in found[1:]] == [("amd64",), ("arm64",)]


def test_what_stands_beside_the_driver_has_its_tags() -> None:
    fs = {"repository": "nvcr.io/nvidia/cloud-native", "image": "nvidia-fs", "version": "2.27.3"}
    name = "nvcr.io/nvidia/cloud-native/nvidia-fs:2.27.3"
    policy = images.of_operands({"gds": fs}, GPU, ON_422, ["amd64"], [OLD, NEW])
    assert [one.image for one in policy] == [f"{name}-rhel9.8", f"{name}-rhel9"]
    pool = images.of_driver({"version": "580.1", "gds": fs}, [NEW], ON_422, [], WHOSE)
    assert [one.image for one in pool] == [f"{name}-rhel9", "nvcr.io/nvidia/driver:580.1-rhel9"]
    by_digest = {**fs, "version": DIGEST}
    assert images.of_operands({"gds": by_digest}, GPU, ON_422, ["amd64"], [NEW])[0].image.endswith(DIGEST)


@pytest.mark.parametrize(
    ("release", "rhcos", "suffix"),
    [
        ((4, 18), "418.94.202608010000-0", "rhcos4.18"),
        ((4, 20), "9.6.20260801-0", "rhel9.6"),
        ((4, 22), "9.8.20260801-0", "rhel9.8"),
    ],
)
def test_the_manager_of_vgpus_has_the_minor_version(
    release: tuple[int, int], rhcos: str, suffix: str
) -> None:
    section = {"repository": "registry.example.com/nvidia", "image": "vgpu-manager", "version": "580.1"}
    on = images.System(release, (rhcos,))
    found = images.of_operands({"vgpuManager": section}, GPU, on, ["amd64"], [NEW])
    assert [one.image for one in found] == [f"registry.example.com/nvidia/vgpu-manager:580.1-{suffix}"]
    by_digest = {"vgpuManager": {**section, "version": DIGEST}}
    assert images.of_operands(by_digest, GPU, on, ["amd64"])[0].image == (
        f"registry.example.com/nvidia/vgpu-manager@{DIGEST}"
    )
    off = {"vgpuManager": {**section, "enabled": False}}
    assert images.of_operands(off, GPU, on, ["amd64"], [NEW]) == []


def test_the_toolkit_is_that_of_the_nodes() -> None:
    tag = {"name": "9.8.20260801-0", "from": {"name": f"quay.io/openshift-release-dev/dtk@{DIGEST}"}}
    other = {"name": "9.7.1-0", "from": {"name": "quay.io/x@sha256:2"}}
    stream = {"metadata": {"name": "driver-toolkit"}, "spec": {"tags": [other, tag]}}
    (found,) = images.of_toolkit([stream], ON_422, ["amd64"])
    assert (found.image, found.why) == (tag["from"]["name"], "Driver Toolkit of RHCOS 9.8.20260801-0")  # type: ignore[index]


def test_validations_take_the_image_of_the_gpu_and_the_architecture() -> None:
    pools = [
        {"name": "old", "archs": ["amd64"], "candidates": [{"gpu_model": "V100"}]},
        {"name": "new", "archs": ["arm64"], "candidates": [{"gpu_model": "H100"}]},
    ]
    validations: list[Data] = [
        {"name": "old", "benchmark": "matmul", "image": ""},
        {"name": "new", "programs": [{"program": "gpu_burn"}, {"program": "vectoradd", "image": "r.io/v:1"}]},
    ]
    found = images.of_validations(validations, pools)
    assert [(one.image, one.why, one.needed_by) for one in found] == [
        ("nvcr.io/nvidia/pytorch:25.07-py3", "validation matmul", ("old",)),
        ("quay.io/wabouham/gpu_burn_arm64:ubi9", "validation gpu_burn", ("new",)),
        ("r.io/v:1", "validation vectoradd", ("new",)),
    ]


@pytest.mark.parametrize(
    ("pool", "archs"),
    [
        ({"candidates": [{"instance_type": "g5g.xlarge", "arch": "arm64"}]}, ("arm64",)),
        ({"existing": True, "node_selector": {"pool": "a"}}, ("arm64",)),
        ({"existing": True, "node_selector": {"pool": "b"}}, ("amd64",)),
    ],
)
def test_architectures_are_those_of_candidates_or_of_live_nodes(pool: Data, archs: tuple[str, ...]) -> None:
    assert images.with_nodes(pool, [node(arch="arm64", pool="a")])["archs"] == archs


def test_an_image_without_a_registry_is_that_of_docker_hub() -> None:
    both = [Wanted(one, "w", ("a",), ("amd64",)) for one in ("busybox:1", "docker.io/library/busybox:1")]
    assert [one.image for one in images.merged(both)] == ["docker.io/library/busybox:1"]


def test_an_image_is_listed_once_with_everybody_who_needs_it() -> None:
    one = Wanted("r.io/a:1", "operand", (GPU,), ("amd64",), GPU, True)
    two = Wanted("r.io/a:1", "validation", ("pool",), ("arm64",))
    assert images.merged([one, two]) == [
        Wanted("r.io/a:1", "operand; validation", (GPU, "pool"), ("amd64", "arm64"))
    ]
