# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU drivers: can they follow the nodes to another release?"""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import pytest
import yaml
from unit.update.builders import NEW_KERNEL, NEW_RHCOS, OLD_KERNEL, named, target

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    kernel as driver_kernel,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update import drivers
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import Check
from ansible_collections.accelerators.openshift.plugins.module_utils._update.release import Target

FIXTURE = yaml.safe_load((Path(__file__).parents[1] / "fixtures/stack_ready.yml").read_text())


NOTHING: t.Final[drivers.Answers] = {}


def matches(precompiled: bool = False, **spec: t.Any) -> tuple[list[driver_kernel.Match], list[KubeObject]]:
    seen = copy.deepcopy(FIXTURE)
    seen["policies"][0]["spec"] |= spec
    if precompiled:
        seen["policies"][0]["spec"]["driver"]["usePrecompiled"] = True
        driver = next(
            one for one in seen["daemonsets"] if one["metadata"]["name"].startswith("nvidia-driver")
        )
        driver["spec"]["template"]["spec"]["containers"] = [
            {"name": "nvidia-driver-ctr", "image": f"r.io/d:595-{OLD_KERNEL}-rhel9.6"}
        ]
    return [driver_kernel.match(seen["nodes"][0], seen["policies"][0], seen)], seen["streams"]


IMAGE = f"r.io/d:595-{NEW_KERNEL}-rhel9.8"


DRIVERS = [
    (False, target(), "driver (Driver Toolkit)", "unknown", "comes with the release itself"),
    (False, target(rhcos="9.8.20260722-0"), "driver (Driver Toolkit)", "ok", "has tag 9.8.20260722-0"),
    (
        False,
        target(rhcos=NEW_RHCOS),
        "driver (Driver Toolkit)",
        "unknown",
        f"tag {NEW_RHCOS} comes with the release itself",
    ),
    (True, target(), "driver (precompiled)", "unknown", "which the cluster does not know before"),
    (True, target(NEW_KERNEL), "driver (precompiled)", "unknown", "without the version of RHCOS"),
    (
        True,
        target(NEW_KERNEL, version="4.18.9"),
        "driver (precompiled)",
        "unknown",
        f"the update needs r.io/d:595-{NEW_KERNEL}-rhcos4.18",
    ),
    (True, target(NEW_KERNEL, NEW_RHCOS), "driver (precompiled)", "unknown", f"the update needs {IMAGE}"),
    (True, target(NEW_KERNEL, NEW_RHCOS, [IMAGE]), "driver (precompiled)", "ok", IMAGE),
    (True, target(NEW_KERNEL, NEW_RHCOS, [IMAGE.rpartition(":")[2]]), "driver (precompiled)", "ok", IMAGE),
    (
        True,
        target(NEW_KERNEL, NEW_RHCOS, []),
        "driver (precompiled)",
        "blocking",
        f"no image for kernel {NEW_KERNEL}: {IMAGE}",
    ),
]


@pytest.mark.parametrize(("precompiled", "wanted", "name", "verdict", "text"), DRIVERS)
def test_where_the_driver_would_come_from(
    precompiled: bool, wanted: Target, name: str, verdict: str, text: str
) -> None:
    live, streams = matches(precompiled)
    known = (
        NOTHING
        if wanted.images is None
        else drivers.given(drivers.driver_images(live, wanted), wanted.images)
    )
    found = drivers.checks(live, streams, wanted, known)
    assert (named(found, name).verdict, text in named(found, name).message) == (verdict, True)
    assert named(found, "kernels of today").verdict == "ok"


def test_a_toolkit_without_any_image() -> None:
    assert (
        named(drivers.checks(matches()[0], [], target(), NOTHING), "driver (Driver Toolkit)").verdict
        == "blocking"
    )


@pytest.mark.parametrize(
    ("spec", "name", "verdict"),
    [
        ({"driver": {"enabled": False}}, "driver (host)", "unknown"),
        ({"operator": {"use_ocp_driver_toolkit": False}}, "driver (packages)", "warning"),
    ],
)
def test_drivers_from_elsewhere(spec: KubeObject, name: str, verdict: str) -> None:
    assert named(drivers.checks(*matches(**spec), target(), NOTHING), name).verdict == verdict


def tagged(image: str, wanted: Target, *there: str) -> Check | None:
    """Return the check of the driver's image. there: the tags that the registry has."""
    live, streams = matches()
    containers = [{"name": "nvidia-driver-ctr", "image": image}]
    live[0].daemonset["spec"]["template"]["spec"]["containers"] = containers  # type: ignore[index]
    known = drivers.given(drivers.driver_images(live, wanted), there)
    found = drivers.checks(live, streams, wanted, known)
    return next((check for check in found if check.name == "driver image"), None)


OF_418: t.Final = "r.io/d:595.91.07-rhcos4.18"


@pytest.mark.parametrize(
    ("operator", "rhcos", "tag"),
    [((26, 3), "9.6.20260101-0", "rhel9.6"), ((26, 7), "", "rhel9"), ((26, 7), NEW_RHCOS, "rhel9")],
)
def test_an_update_past_4_18_asks_for_another_tag(operator: tuple[int, int], rhcos: str, tag: str) -> None:
    wanted = target(rhcos=rhcos, version="4.19.3", operator=operator)
    gone = tagged(OF_418, wanted, "595.91.07-rhcos4.18", "595.91.07-rhel9.8")
    assert gone is not None
    assert (gone.code, gone.verdict) == ("MIRROR-OS-TAG", "blocking")
    assert f"OpenShift 4.19.3 takes the driver image r.io/d:595.91.07-{tag}," in gone.message
    assert OF_418 in gone.message
    assert f"- name: r.io/d:595.91.07-{tag}." in gone.remedy
    there = tagged(OF_418, wanted, f"595.91.07-{tag}")
    assert (there and there.verdict) == "ok"


def test_a_tag_that_is_not_known_yet_is_said() -> None:
    found = tagged(OF_418, target(version="4.19.3", operator=(26, 3)))
    assert found is not None
    assert (found.verdict, f"{OF_418} has another tag on 4.19.3" in found.message) == ("unknown", True)
    assert "gpu_update_rhcos" in found.remedy
    assert tagged("r.io/d@sha256:1", target(version="4.19.3", operator=(26, 3))) is None


def test_an_image_of_today_that_is_gone_is_no_new_tag() -> None:
    found = tagged("r.io/d:595.91.07-rhel9", target(operator=(26, 7)))
    assert (found and found.code) == "UPDATE-DRIVER"


def test_a_node_that_does_not_fit_today() -> None:
    seen = copy.deepcopy(FIXTURE)
    seen["nodes"][0]["status"]["nodeInfo"]["kernelVersion"] = NEW_KERNEL
    found = drivers.checks(
        [driver_kernel.match(seen["nodes"][0], seen["policies"][0], seen)], seen["streams"], target(), NOTHING
    )
    assert (
        named(found, "kernels of today").verdict,
        "gpu-0: label kernel-version.full" in named(found, "kernels of today").message,
    ) == ("warning", True)
