# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What proves a shared claim: the node, the claim and the pods that use it, and the devices that they see."""

from __future__ import annotations

import typing as t

import pytest
from unit.workload.builders import MARK, node
from unit.workload.proofs.test_sharing_proof import PARAMS, POOL, ready_node

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.claims import Devices
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import (
    claim_proof as proof,
    sharing_proof,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs.sharing_proof import (
    Stop,
)

PART: t.Final = Devices(device_class="mig.nvidia.com", profile="1g.5gb")


def device(object_name: str, kind: str = "gpu", profile: str = "") -> KubeObject:
    more = {"profile": {"string": profile}} if profile else {}
    attributes = {
        "type": {"string": kind},
        "productName": {"string": "Tesla T4"},
        "driverVersion": {"version": "595.91.7"},
    }
    return {"name": object_name, "attributes": attributes | more}


def slices(*devices: KubeObject, on: str = "gpu-0") -> list[KubeObject]:
    """Return the ResourceSlice of a node with these devices."""
    pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": on, "pool": pool, "devices": list(devices)}
    metadata = {"name": f"{on}-slice"}
    return [{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": metadata, "spec": spec}]


def test_a_node_serves_what_its_slices_offer() -> None:
    place = proof.offer(ready_node(), slices(device("gpu-0"), device("p", "mig", "1g.5gb")))
    assert place.lacks(Devices()) == ""
    assert place.lacks(PART) == ""
    assert place.lacks(Devices(2)) == "the ResourceSlices of node gpu-0 offer 1 of 2 nvidia.com/gpu"
    assert "not ready" in proof.offer(node(), slices(device("gpu-0"))).lacks(Devices())
    assert (place.model, place.driver) == ("Tesla T4", "595.91.7")


def test_the_proof_holds_until_claims_model_or_driver_change() -> None:
    place = proof.offer(ready_node(), slices(device("gpu-0")))
    assert proof.key([Devices(), PART], place) == (
        "claims=1/gpu.nvidia.com,1/mig.nvidia.com/1g.5gb product=Tesla T4 driver=595.91.7"
    )
    assert proof.key([Devices(2)], place) != proof.key([Devices()], place)


def test_two_pods_name_one_claim() -> None:
    place = proof.offer(ready_node(), slices(device("gpu-0")))
    given = proof.workload(PARAMS, POOL, PART, 900)
    claim = proof.claim(given, PART, MARK)
    pods = proof.pods(given, place, MARK)
    assert claim["spec"] == PART.spec
    assert len({pod["metadata"]["name"] for pod in pods}) == 2
    for pod in pods:
        assert pod["spec"]["resourceClaims"] == [
            {"name": "gpu", "resourceClaimName": claim["metadata"]["name"]}
        ]
        (container,) = pod["spec"]["containers"]
        assert container["resources"]["claims"] == [{"name": "gpu"}]
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}


def log(*devices: str) -> str:
    return "".join(f"GPU {index}: Tesla T4 (UUID: {one})\n" for index, one in enumerate(devices))


@pytest.mark.parametrize(
    ("count", "seen", "shared"),
    [
        (1, [["GPU-a"], ["GPU-a"]], ["GPU-a"]),
        (2, [["GPU-a", "GPU-b"], ["GPU-b", "GPU-a"]], ["GPU-a", "GPU-b"]),
        (1, [["GPU-a"], ["GPU-b"]], None),
        (1, [["GPU-a", "GPU-b"], ["GPU-a", "GPU-b"]], None),
        (2, [["GPU-a", "GPU-b"], ["GPU-a"]], None),
    ],
)
def test_pods_of_a_claim_see_the_same_devices(
    count: int, seen: list[list[str]], shared: list[str] | None
) -> None:
    place = proof.offer(ready_node(), slices(device("gpu-0")))
    found = proof.judged(Devices(count), place, {f"p{index}": log(*one) for index, one in enumerate(seen)})
    if shared is not None:
        assert found == shared
        return
    assert isinstance(found, Stop)
    assert found.code == "WORK-CLAIM-DEVICE"
    error = sharing_proof.failure(POOL, "gpu-0", found)
    assert error.message.startswith("Pool inference: ")
    assert "2 pods with one claim" in error.message
    assert "GPU-a" in error.message
    assert "`oc describe node gpu-0`" in error.remedy
