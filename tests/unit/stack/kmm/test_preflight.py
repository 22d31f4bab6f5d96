# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PreflightValidation: a future kernel is judged Module by Module."""

from __future__ import annotations

from unit.stack.kmm.builders import KERNEL, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    manifest as kmm_manifest,
    preflight as kmm_preflight,
)


def verified(*entries: KubeObject) -> KubeObject:
    return {
        "preflights": [{"spec": {"kernelVersion": "6.1"}, "status": {"modules": list(entries)}}],
        "modules": [kmm_manifest.build(params())],
    }


def verification(status: str, reason: str = "") -> KubeObject:
    return {
        "name": "card",
        "namespace": "openshift-kmm",
        "verificationStatus": status,
        "verificationStage": "Done",
        "statusReason": reason,
    }


def test_a_kernel_to_come_is_judged_module_by_module() -> None:
    judge = kmm_preflight.Judge("", "openshift-kmm")
    assert judge(verified()).verdict == "pending"
    assert judge(verified(verification("InProgress"))).verdict == "pending"
    assert judge(verified(verification("Success"))).is_ready
    bad = judge(verified(verification("Failure", "no image")))
    assert (bad.verdict, bad.code) == ("failed", "GPU-KMM-PREFLIGHT")
    assert "openshift-kmm/card: no image" in bad.message
    assert kmm_preflight.Judge("other", "openshift-kmm")(verified()).code == "GPU-KMM-NONE"


def test_the_older_api_says_it_by_name() -> None:
    live = {
        "spec": {"kernelVersion": "6.1"},
        "status": {"crStatuses": {"card": {"verificationStatus": "True", "verificationStage": "Done"}}},
    }
    assert kmm_preflight.modules(live)[0]["status"] == "Success"
    assert kmm_preflight.Judge("", "")(
        {"preflights": [live], "modules": [kmm_manifest.build(params())]}
    ).is_ready


def test_the_older_api_has_each_module_twice_and_no_word_for_failure() -> None:
    """v1beta1 of KMM 2.1 to 2.3 has each Module twice, by name and by place; a failure is also requeued."""
    failed = {
        "verificationStatus": "False",
        "verificationStage": "Requeued",
        "statusReason": "image i inaccessible or does not exists",
    }
    building = {
        "verificationStatus": "False",
        "verificationStage": "Requeued",
        "statusReason": "Waiting for build verification",
    }
    new = {"verificationStatus": "False", "verificationStage": "Image"}
    entries = {"a/card": failed, "b/card": building, "card": building, "new": new}
    found = [
        (one["namespace"], one["name"], one["status"])
        for one in kmm_preflight.modules({"status": {"crStatuses": entries}})
    ]
    assert found == [("a", "card", "Failure"), ("b", "card", "InProgress"), ("", "new", "InProgress")]


def test_the_check_is_named_after_its_kernel() -> None:
    asked = {"kernel_version": KERNEL, "dtk_image": "quay.io/dtk", "push_built_image": None}
    built = kmm_preflight.build(asked, "kmm.sigs.x-k8s.io/v1beta2")
    assert (built["kind"], built["metadata"]["name"]) == (
        "PreflightValidationOCP",
        "accelerators-5.14.0-570.12.1.el9-6.x86-64",
    )
    assert built["spec"] == {"kernelVersion": KERNEL, "dtkImage": "quay.io/dtk"}
