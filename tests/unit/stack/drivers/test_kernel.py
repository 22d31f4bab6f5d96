# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel, labels, Driver Toolkit, DaemonSet and driver image of a node: which does not fit, and how far a kernel update has come."""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import system, update
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    kernel as driver_kernel,
)

Data = dict[str, t.Any]
Snapshot = dict[str, list[Data]]
FIXTURE = yaml.safe_load((Path(__file__).parents[2] / "fixtures/stack_ready.yml").read_text())
POOL = {
    "name": "training",
    "node_selector": {"accelerators.openshift/pool": "training"},
    "replicas": 1,
    "expected": {"nvidia.com/gpu": 4},
}
KERNEL, RHCOS = "5.14.0-570.12.1.el9_6.x86_64", "9.8.20260801-0"
NEW_KERNEL, NEW_RHCOS = "5.14.0-611.5.1.el9_7.x86_64", "9.8.20260815-0"
DRIVER = "nvidia-driver-daemonset-"
FEATURE = "feature.node.kubernetes.io/"
MACHINE_CONFIG = "machineconfiguration.openshift.io/"


@pytest.fixture
def seen() -> Snapshot:
    snapshot: Snapshot = copy.deepcopy(FIXTURE)
    driver(snapshot)["spec"]["template"]["spec"]["containers"] = [
        {"name": "nvidia-driver-ctr", "image": "nvcr.io/nvidia/driver:595.91.07-rhel9.8"}
    ]
    return snapshot


def node(seen: Snapshot) -> Data:
    return seen["nodes"][0]


def marks(seen: Snapshot) -> Data:
    labels: Data = node(seen)["metadata"]["labels"]
    return labels


def driver(seen: Snapshot) -> Data:
    return next(one for one in seen["daemonsets"] if one["metadata"]["name"].startswith(DRIVER))


def driver_pod(seen: Snapshot) -> Data:
    return next(one for one in seen["pods"] if one["metadata"]["name"].startswith(DRIVER))


def unready(pod: Data) -> None:
    pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def reboot(seen: Snapshot) -> None:
    """Another kernel, and whatever ran there starts anew."""
    node(seen)["status"]["nodeInfo"] |= {
        "kernelVersion": NEW_KERNEL,
        "osImage": f"Red Hat Enterprise Linux CoreOS {NEW_RHCOS} (Plow)",
    }
    for pod in seen["pods"]:
        unready(pod)


def relabel(seen: Snapshot) -> None:
    marks(seen).update(
        {f"{FEATURE}kernel-version.full": NEW_KERNEL, f"{FEATURE}system-os_release.OSTREE_VERSION": NEW_RHCOS}
    )


def tag(seen: Snapshot) -> None:
    seen["streams"][0]["spec"]["tags"].append({"name": NEW_RHCOS, "from": {"name": "quay.io/dtk@sha256:12"}})


def rename(seen: Snapshot) -> None:
    """The operator makes a DaemonSet for the new version."""
    live = driver(seen)
    live["metadata"] |= {"name": DRIVER + NEW_RHCOS, "uid": "new"}
    live["metadata"]["labels"]["openshift.driver-toolkit.rhcos"] = NEW_RHCOS
    live["spec"]["template"]["spec"]["nodeSelector"][f"{FEATURE}system-os_release.OSTREE_VERSION"] = NEW_RHCOS
    driver_pod(seen)["metadata"]["ownerReferences"][0]["uid"] = "new"


def precompiled(seen: Snapshot, kernel: str = KERNEL) -> None:
    seen["policies"][0]["spec"]["driver"]["usePrecompiled"] = True
    live = driver(seen)
    live["metadata"]["labels"] = {"nvidia.com/precompiled": "true"}
    selector = {
        "nvidia.com/gpu.deploy.driver": "true",
        f"{FEATURE}kernel-version.full": marks(seen)[f"{FEATURE}kernel-version.full"],
    }
    live["spec"]["template"]["spec"]["nodeSelector"] = selector
    live["spec"]["template"]["spec"]["containers"] = [
        {"name": "nvidia-driver-ctr", "image": f"r.io/driver:595-{kernel}-rhel9.8"}
    ]


def facts(seen: Snapshot) -> Data:
    (found,) = clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL])["nodes"]
    kernel: Data = found["kernel"]
    return kernel


def test_five_facts_of_a_node_that_fits(seen: Snapshot) -> None:
    assert facts(seen) == {
        "running": KERNEL,
        "labelled": KERNEL,
        "os": {"image": RHCOS, "ostree": RHCOS, "rhel": "", "openshift": ""},
        "toolkit": "",
        "daemonset": DRIVER + RHCOS,
        "image": "nvcr.io/nvidia/driver:595.91.07-rhel9.8",
        "source": "toolkit",
        "fits": True,
        "misfit": {},
        "waits_at": "",
    }


def no_kernel_label(seen: Snapshot) -> None:
    del marks(seen)[f"{FEATURE}kernel-version.full"]


def no_ostree_label(seen: Snapshot) -> None:
    del marks(seen)[f"{FEATURE}system-os_release.OSTREE_VERSION"]


def old_rhel_label(seen: Snapshot) -> None:
    marks(seen)[f"{FEATURE}system-os_release.RHEL_VERSION"] = "9.6"


def relabelled(seen: Snapshot) -> None:
    reboot(seen)
    relabel(seen)


def tagged(seen: Snapshot) -> None:
    relabelled(seen)
    tag(seen)


def without_toolkit(seen: Snapshot) -> None:
    driver(seen)["metadata"]["labels"] = {}


def made_too_early(seen: Snapshot) -> None:
    tagged(seen)
    rename(seen)
    driver(seen)["metadata"]["labels"]["openshift.driver-toolkit.rhcos-image-missing"] = "true"


def other_version(seen: Snapshot) -> None:
    driver(seen)["metadata"]["labels"]["openshift.driver-toolkit.rhcos"] = "9.8.20260722-0"


def not_pulled(seen: Snapshot) -> None:
    precompiled(seen)
    waiting = {"reason": "ImagePullBackOff", "message": "manifest unknown"}
    driver_pod(seen)["status"]["containerStatuses"][0] |= {"ready": False, "state": {"waiting": waiting}}


def of_another_kernel(seen: Snapshot) -> None:
    precompiled(seen, kernel=NEW_KERNEL)


def precompiled_after_reboot(seen: Snapshot) -> None:
    precompiled(seen)
    reboot(seen)
    relabel(seen)


BROKEN = [
    (no_kernel_label, "labels", "GPU-NFD-KERNEL", "no label"),
    (
        reboot,
        "labels",
        "GPU-KERNEL-STALE",
        f"kernel-version.full={KERNEL} is of another kernel than the running {NEW_KERNEL}",
    ),
    (old_rhel_label, "labels", "GPU-DTK-STALE", "label RHEL_VERSION=9.6 contradicts its osImage"),
    (no_ostree_label, "labels", "GPU-NFD-OSTREE", "no label system-os_release.OSTREE_VERSION"),
    (relabelled, "toolkit", "GPU-DTK-STREAM", f"has no tag {NEW_RHCOS} (it has 9.8.20260722-0, {RHCOS})"),
    (
        tagged,
        "daemonset",
        "GPU-DTK-DAEMONSET",
        f"no driver DaemonSet for RHCOS {NEW_RHCOS}, only {DRIVER}{RHCOS}",
    ),
    (
        made_too_early,
        "daemonset",
        "GPU-DTK-DAEMONSET",
        f"was made before the ImageStream had tag {NEW_RHCOS}",
    ),
    (
        other_version,
        "daemonset",
        "GPU-DTK-DAEMONSET",
        f"is of RHCOS 9.8.20260722-0, and the node runs {RHCOS}",
    ),
    (without_toolkit, "daemonset", "GPU-DRV-NODTK", "builds the driver without the Driver Toolkit"),
    (
        precompiled_after_reboot,
        "daemonset",
        "GPU-DTK-DAEMONSET",
        f"no driver DaemonSet for kernel {NEW_KERNEL}",
    ),
    (
        not_pulled,
        "image",
        "GPU-DRV-PRECOMPILED",
        f"r.io/driver:595-{KERNEL}-rhel9.8 is in ImagePullBackOff: manifest unknown",
    ),
    (of_another_kernel, "image", "GPU-DRV-PRECOMPILED", f"was not made for the running kernel {KERNEL}"),
]


@pytest.mark.parametrize(
    ("change", "link", "code", "text"), BROKEN, ids=[f"{one[1]}-{one[0].__name__}" for one in BROKEN]
)
def test_the_one_that_does_not_fit(
    seen: Snapshot, change: t.Callable[[Snapshot], None], link: str, code: str, text: str
) -> None:
    change(seen)
    wrong = facts(seen)["misfit"]
    assert (wrong["fact"], wrong["code"], facts(seen)["fits"]) == (link, code, False)
    assert text in wrong["message"]
    assert wrong["remedy"]
    # A driver that runs is not argued with.
    assert (driver_kernel.judge(node(seen), seen["policies"][0], seen) is None) == driver_kernel.match(
        node(seen), seen["policies"][0], seen
    ).driver_ready
    unready(driver_pod(seen))
    now = 0.0
    judging = clusterpolicy_judge.Judge(
        {"name": "gpu-cluster-policy", "grace": 60, "pools": [POOL]}, lambda: now
    )
    first = judging(seen)
    now = 61.0
    assert ("pending", code) == (first.verdict, first.code)
    verdict = judging(seen)
    assert (verdict.verdict, verdict.code) == ("failed", code)


@pytest.mark.parametrize(
    "spec",
    [
        {"driver": {"enabled": False}},
        {"driver": {"enabled": True}, "operator": {"use_ocp_driver_toolkit": False}},
    ],
)
def test_a_driver_from_elsewhere_needs_no_toolkit(seen: Snapshot, spec: Data) -> None:
    seen["policies"][0]["spec"] |= spec
    seen["streams"] = []
    assert facts(seen)["misfit"] == {}


def test_a_kernel_whose_version_is_no_label(seen: Snapshot) -> None:
    node(seen)["status"]["nodeInfo"]["kernelVersion"] = "5.14.0-570.12.1.el9_6.x86_64+rt"
    assert facts(seen)["misfit"]["code"] == "GPU-KERNEL-STALE"
    marks(seen)[f"{FEATURE}kernel-version.full"] = "5.14.0-570.12.1.el9_6.x86_64_rt"
    assert facts(seen)["misfit"] == {}


def test_a_first_start_has_no_daemonset_anywhere(seen: Snapshot) -> None:
    seen["daemonsets"] = [one for one in seen["daemonsets"] if not one["metadata"]["name"].startswith(DRIVER)]
    assert (facts(seen)["misfit"], facts(seen)["waits_at"]) == ({}, "driver")


def test_an_update_is_followed_link_by_link(seen: Snapshot) -> None:
    judging = clusterpolicy_judge.Judge(
        {"name": "gpu-cluster-policy", "grace": 600, "pools": [POOL]}, lambda: 0.0
    )
    assert judging(seen).is_ready
    notes = {
        f"{MACHINE_CONFIG}currentConfig": "a",
        f"{MACHINE_CONFIG}desiredConfig": "b",
        f"{MACHINE_CONFIG}state": "Working",
    }
    node(seen)["metadata"]["annotations"] = notes
    node(seen)["spec"]["unschedulable"] = True
    lines = [judging(seen).details]
    reboot(seen)
    lines.append(judging(seen).details)
    node(seen)["metadata"]["annotations"] = notes | {
        f"{MACHINE_CONFIG}currentConfig": "b",
        f"{MACHINE_CONFIG}state": "Done",
    }
    for step in (lambda _seen: None, relabel, tag, rename):
        step(seen)
        lines.append(judging(seen).details)
    driver_pod(seen)["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    lines.append(judging(seen).details)
    changed = "gpu-0: kernel 5.14.0-570.12.1 -> 5.14.0-611.5.1, step"
    starts = [line.partition(";")[0] for (line,) in lines]
    assert (
        starts[0]
        == f"gpu-0: is being updated by the machine-config operator, cordoned, still on kernel {KERNEL}"
    )
    assert [line.partition("): ")[0] for line in starts[1:]] == [
        f"{changed} 1 of 7 (node",
        f"{changed} 2 of 7 (labels",
        f"{changed} 3 of 7 (toolkit",
        f"{changed} 4 of 7 (daemonset",
        f"{changed} 6 of 7 (driver",
        f"{changed} 7 of 7 (device plugin",
    ]
    for pod in seen["pods"]:
        pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    assert judging(seen).is_ready
    assert facts(seen)["waits_at"] == ""


def test_a_daemon_that_has_given_up_is_a_failure_of_its_own(seen: Snapshot) -> None:
    notes = {
        f"{MACHINE_CONFIG}currentConfig": "a",
        f"{MACHINE_CONFIG}desiredConfig": "b",
        f"{MACHINE_CONFIG}state": "Degraded",
    }
    node(seen)["metadata"]["annotations"] = notes | {
        f"{MACHINE_CONFIG}reason": "failed to drain node gpu-0 after 1 hour"
    }
    found = update.judge(node(seen))
    assert found is not None
    assert (found.code, "failed to drain node gpu-0" in found.message) == ("GPU-NODE-DEGRADED", True)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("9.8.20260801-0", ("9.8", "")),
        ("415.92.202402130021-0", ("9.2", "4.15")),
        ("418.94.202501010000-0", ("9.4", "4.18")),
        ("", ("", "")),
        ("42", ("", "")),
    ],
)
def test_releases_in_a_version_of_rhcos(image: str, expected: tuple[str, str]) -> None:
    assert system.releases(image) == expected


SUFFIXES = [
    ((4, 18), "", "rhcos4.17", ["rhcos4.18"]),
    ((4, 19), "9.6.20260101-0", "rhcos4.18", ["rhel9.6", "rhel9"]),
    ((5, 0), "9.8.20260801-0", "rhel9.6", ["rhel9.8"]),
    ((5, 0), "9.8.20260801-0", "rhel9", ["rhel9"]),
    ((4, 22), "", "rhel9.6", []),
]


@pytest.mark.parametrize(("release", "rhcos", "now", "suffixes"), SUFFIXES)
def test_the_suffix_of_a_driver_image(
    release: tuple[int, int], rhcos: str, now: str, suffixes: list[str]
) -> None:
    assert system.suffixes_of_release(release, rhcos, now) == suffixes
