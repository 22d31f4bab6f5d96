# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of another release: which ones drivers and Modules need, and what a missing one means."""

from __future__ import annotations

import pytest
from unit.update.builders import NEW_KERNEL, NEW_RHCOS, OLD_KERNEL

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import (
    MISSING,
    REFUSED,
    THERE,
    Answer,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update import drivers
from ansible_collections.accelerators.openshift.plugins.module_utils._update.release import Target

JUDGED = [
    (THERE, "ok", "a is there"),
    (MISSING, "blocking", "no image for the kernel: a or b (words)"),
    (REFUSED, "unknown", "the update needs a; not allowed: words"),
]


@pytest.mark.parametrize(("verdict", "expected", "text"), JUDGED)
def test_what_an_update_makes_of_it(verdict: str, expected: str, text: str) -> None:
    known = {
        name: Answer(
            name, verdict, "sha256:1" if verdict == THERE else "", "words" if verdict != THERE else ""
        )
        for name in "ab"
    }
    check = drivers.judged("image", [("a", "b")], known, "UPDATE-DRIVER", "the kernel")
    assert (check.verdict, check.message) == (expected, text)
    assert (verdict != THERE) or check.evidence == ("a is sha256:1",)


def nic(image: str, kernel: str = OLD_KERNEL) -> KubeObject:
    selector = {"feature.node.kubernetes.io/kernel-version.full": kernel}
    return {"spec": {"template": {"spec": {"nodeSelector": selector, "containers": [{"image": image}]}}}}


def test_images_of_nic_drivers() -> None:
    target = Target("4.22.9", (4, 22), NEW_KERNEL, NEW_RHCOS, None)
    built, made = "r.io/doca:26.07-rhel9.8-amd64", f"r.io/doca:26.07-{NEW_KERNEL}-rhel9.8-amd64"
    assert drivers.nic_driver_images([nic("r.io/doca:26.07-rhel9.6-amd64")], [], target) == [(built,)]
    assert drivers.nic_driver_images([nic(f"r.io/doca:26.07-{OLD_KERNEL}-rhel9.6-amd64")], [], target) == [
        (made, built)
    ]
    forced = [{"spec": {"ofedDriver": {"forcePrecompiled": True}}}]
    assert drivers.nic_driver_images(
        [nic(f"r.io/doca:26.07-{OLD_KERNEL}-rhel9.6-amd64")], forced, target
    ) == [(made,)]
    assert drivers.nic_driver_images([nic("r.io/doca@sha256:1")], [], target) == []


MAPPED = {"metadata": {"name": "m", "namespace": "n"}, "spec": {"moduleLoader": {"container": {}}}}


@pytest.mark.parametrize(("kernel", "expected"), [(NEW_KERNEL, (f"r.io/m:{NEW_KERNEL}",)), ("", ())])
def test_the_image_of_a_module(kernel: str, expected: tuple[str, ...]) -> None:
    mapping = {"regexp": "^5.*$", "containerImage": "r.io/m:${KERNEL_FULL_VERSION}"}
    module = {**MAPPED, "spec": {"moduleLoader": {"container": {"kernelMappings": [mapping]}}}}
    assert drivers.module_image(module, Target("4.22.9", (4, 22), kernel, NEW_RHCOS, None)) == expected
