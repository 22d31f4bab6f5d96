# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the device plugin reads its configuration, and what it makes of it."""

from __future__ import annotations

import pytest

from openshift_sandbox.stand_ins.gpu_operator.sharing import config
from openshift_sandbox.stand_ins.gpu_operator.sharing.config import Config, ConfigError

GPU = "nvidia.com/gpu"


def sliced(replicas: int = 4, **more: object) -> str:
    return str({"version": "v1", "sharing": {"timeSlicing": {"resources": resources(replicas), **more}}})


def resources(replicas: int) -> list[dict[str, object]]:
    return [{"name": GPU, "replicas": replicas, "rename": "nvidia.com/other", "devices": [0]}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Config()),
        ("version: v1\nflags: {migStrategy: mixed}", Config(mig_strategy="mixed")),
        (sliced(), Config("time-slicing", {GPU: 4})),
        (
            sliced(renameByDefault=True, failRequestsGreaterThanOne=True),
            Config("time-slicing", {GPU: 4}, True, True),
        ),
        (
            "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2}]}, "
            "mps: {resources: [{name: nvidia.com/gpu, replicas: 3}]}}",
            Config("mps", {GPU: 3}, False, True),
        ),
        (
            "sharing: {mps: {failRequestsGreaterThanOne: false, resources: [{name: gpu, replicas: 3}]}}",
            Config("mps", {GPU: 3}),
        ),
    ],
)
def test_what_a_configuration_says(text: str, expected: Config) -> None:
    assert config.read(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("version: v2", "unknown version: v2"),
        ("[1]", "cannot unmarshal"),
        ("{", "unmarshal error"),
        ("sharing: {timeSlicing: {}}", "no resources specified"),
        ("sharing: {timeSlicing: {resources: [{replicas: 2}]}}", "no resource name specified"),
        ("sharing: {timeSlicing: {resources: [{name: gpu}]}}", "no replicas specified"),
        (sliced(1), "number of replicas must be >= 2"),
        ("sharing: {mps: {resources: [{name: gpu, replicas: two}]}}", "number of replicas must be >= 2"),
    ],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        config.read(text)


def test_what_is_offered() -> None:
    devices = {GPU: 4, "nvidia.com/mig-1g.5gb": 7}
    assert Config().offered(devices) == devices
    assert config.read(sliced()).offered(devices) == devices | {GPU: 16}
    renamed = config.read(sliced(renameByDefault=True))
    assert renamed.offered(devices) == {"nvidia.com/gpu.shared": 16, "nvidia.com/mig-1g.5gb": 7}


@pytest.mark.parametrize(
    ("replicas", "compute", "fits"), [(48, "7.5", True), (49, "9.0", False), (17, "7.0", False)]
)
def test_how_many_clients_mps_has(replicas: int, compute: str, fits: bool) -> None:
    assert (config.mps_problem(Config("mps", {GPU: replicas}), compute) == "") is fits
    assert config.mps_problem(Config("time-slicing", {GPU: replicas}), compute) == ""
