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
