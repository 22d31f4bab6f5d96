# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node's kernel, labels, toolkit, DaemonSet and image belong together."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.builders import some_params
from unit.stack.drivers.nodes import (
    DRIVER,
    FEATURE,
    KERNEL,
    NEW_KERNEL,
    NEW_RHCOS,
    POOL,
    RHCOS,
    Data,
    Snapshot,
    driver,
    driver_pod,
    facts,
    marks,
    node,
    precompiled,
    reboot,
    relabel,
    rename,
    tag,
    unready,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    kernel as driver_kernel,
)


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
        "GPU-NFD-KERNEL",
        f"kernel-version.full={KERNEL} is of another kernel than the running {NEW_KERNEL}",
    ),
    (old_rhel_label, "labels", "GPU-NFD-KERNEL", "label RHEL_VERSION=9.6 contradicts its osImage"),
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
    (without_toolkit, "daemonset", "GPU-DRV-NO-DTK", "builds the driver without the Driver Toolkit"),
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
        some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), lambda: now
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
    assert facts(seen)["misfit"]["code"] == "GPU-NFD-KERNEL"
    marks(seen)[f"{FEATURE}kernel-version.full"] = "5.14.0-570.12.1.el9_6.x86_64_rt"
    assert facts(seen)["misfit"] == {}


def test_a_first_start_has_no_daemonset_anywhere(seen: Snapshot) -> None:
    seen["daemonsets"] = [one for one in seen["daemonsets"] if not one["metadata"]["name"].startswith(DRIVER)]
    assert (facts(seen)["misfit"], facts(seen)["waits_at"]) == ({}, "driver")
