# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ResourceSlices say: devices of a node, whole pools only, and claims that somebody uses."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.dra import (
    attribute,
    claims_in_use,
    offer,
    resources,
)

Data = dict[str, t.Any]


def device(name: str, kind: str = "gpu", **more: str) -> Data:
    return {
        "name": name,
        "attributes": {"type": {"string": kind}, **{key: {"string": value} for key, value in more.items()}},
    }


def part(
    *devices: Data, node: str = "n1", generation: int = 1, count: int = 1, driver: str = "gpu.nvidia.com"
) -> Data:
    pool = {"name": node, "generation": generation, "resourceSliceCount": count}
    return {
        "metadata": {"name": f"{node}-{generation}"},
        "spec": {"driver": driver, "nodeName": node, "pool": pool, "devices": list(devices)},
    }


@pytest.mark.parametrize(
    ("slices", "names", "complete"),
    [
        ([], [], True),
        ([part(device("gpu-1"), device("gpu-0"))], ["gpu-0", "gpu-1"], True),
        ([part(device("gpu-0"), count=2)], ["gpu-0"], False),
        ([part(device("gpu-0"), count=2), part(device("gpu-1"), count=2)], ["gpu-0", "gpu-1"], True),
        ([part(device("old")), part(device("new"), generation=2)], ["new"], True),
        ([part(device("gpu-0"), node="n2")], [], True),
        ([part(device("channel-0"), driver="compute-domain.nvidia.com")], [], True),
    ],
)
def test_what_a_node_offers(slices: list[Data], names: list[str], complete: bool) -> None:
    found = offer("n1", slices)
    assert ([one["name"] for one in found.devices], found.complete) == (names, complete)


def test_devices_count_as_the_device_plugin_would_name_them() -> None:
    devices = [
        device("gpu-0"),
        device("mig-0", "mig", profile="1g.5gb"),
        device("mig-1", "mig", profile="1g.5gb"),
        device("vfio-0", "vfio"),
    ]
    assert resources(devices) == {"nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 2}


def test_an_attribute_by_either_name() -> None:
    assert attribute({"attributes": {"gpu.nvidia.com/uuid": {"string": "GPU-1"}}}, "uuid") == "GPU-1"
    assert (
        attribute({"attributes": {"driverVersion": {"version": "595.91.7"}}}, "driverVersion") == "595.91.7"
    )
    assert attribute({}, "uuid") == ""


def claim(namespace: str, driver: str = "gpu.nvidia.com", reserved: bool = True) -> Data:
    status = {
        "allocation": {"devices": {"results": [{"driver": driver}]}},
        "reservedFor": [{"name": "pod"}] if reserved else [],
    }
    return {"metadata": {"namespace": namespace, "name": "claim"}, "status": status}


def test_claims_in_use() -> None:
    claims = [
        claim("team"),
        claim("idle", reserved=False),
        claim("net", driver="other"),
        claim("operator"),
        {"metadata": {"namespace": "new", "name": "claim"}},
    ]
    assert claims_in_use(claims, but="operator") == ["team/claim"]
