# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof of shared claims on an API server in memory: what runs, what is remembered, and what is left."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.workload.builders import node
from unit.workload.proofs.test_claim_proof import device, log, slices
from unit.workload.proofs.test_sharing_proof import POOL, refused
from unit.workload.proofs.test_sharing_proof_steps import given as asked

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import steps

Object = dict[str, t.Any]
PLACE: t.Final = "gpu-validation"
KINDS: t.Final = (
    "Job",
    *("Node", "Namespace", "Pod", "ConfigMap", "ServiceAccount", "Lease"),
    *("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"),
)
NO_DEVICE: t.Final = "0/1 nodes are available: 1 cannot allocate all claims."


class World:
    """A cluster with a node of one GPU. seen: the devices that each pod sees. starts: whether pods start."""

    def __init__(self, *seen: str, starts: bool = True) -> None:
        self.server, self._seen, self._starts = FakeServer(*KINDS), list(seen), starts
        found = {"apiVersion": "v1", "kind": "Node", **node("gpu-0")}
        found["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        self.server.put(found)
        self.server.put(slices(device("gpu-0"))[0])
        account = {"name": "default", "namespace": PLACE}
        self.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        self.logs: dict[str, str] = {}
        self.server.request = self.answer

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if "/log" in url:
            return Answer(200, self.logs[url.partition("/log")[0].rpartition("/")[2]])
        answered = self.server.answer(method, url, body, **more)
        if method == "POST" and url.partition("?")[0].endswith("/pods"):
            pod = next(reversed(self.server.objects.values()))
            if not self._starts:
                pod["status"] = refused("", NO_DEVICE)["status"]
                return answered
            pod["spec"]["nodeName"], pod["status"] = "gpu-0", {"phase": "Running"}
            self.logs[pod["metadata"]["name"]] = log(self._seen.pop(0))
        return answered

    def of(self, plural: str) -> list[Object]:
        return [one for key, one in self.server.objects.items() if key[1] == plural]

    def prove(self, check_mode: bool = False, **pool: t.Any) -> Object:
        """Return the result of the only pool. The clock in memory stands still, so nothing may wait."""
        self.server.requests.clear()
        api = api_on(self.server, FakeClock(), run=Run("root", "bastion", "", 1, "1"), check_mode=check_mode)
        given = asked([replace(POOL, **{"claims": [{"count": 1}], **pool})])
        (found,) = steps.present(api, given)["sharing"]
        return t.cast(Object, found)

    def is_clean(self) -> bool:
        """Return whether no pod and no claim of a proof is left."""
        return not self.of("pods") and not self.of("resourceclaims")


def test_two_pods_with_one_device_prove_the_claim_once() -> None:
    world = World("GPU-a", "GPU-a")
    found = world.prove()
    assert (found["proven"], found["node"]) == (True, "gpu-0")
    (shared,) = found["devices"]
    assert (shared["resource"], shared["replicas"], shared["uuids"]) == ("1 gpu.nvidia.com", 2, ["GPU-a"])
    made = [path.rpartition("/")[2] for method, path in world.server.writes() if method == "POST"]
    assert made == ["jobs", "resourceclaims", "pods", "pods"]
    assert world.is_clean()
    assert world.prove()["why"] == "proven before"
    assert world.server.writes() == []


def test_pods_with_different_devices_disprove_it() -> None:
    world = World("GPU-a", "GPU-b")
    with pytest.raises(NotReadyError) as raised:
        world.prove()
    assert raised.value.code == "WORK-CLAIM-DEVICE"
    assert world.is_clean()


def test_a_claim_that_gets_no_device_is_not_proven() -> None:
    world = World(starts=False)
    found = world.prove()
    assert (found["proven"], world.is_clean()) == (False, True)
    assert "cannot allocate all claims" in found["why"]


def test_a_node_that_others_use_is_left_alone() -> None:
    world = World()
    given = {"driver": "gpu.nvidia.com", "pool": "gpu-0", "device": "gpu-0"}
    world.server.put(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "shared-gpu", "namespace": "team-a"},
            "status": {
                "allocation": {"devices": {"results": [given]}},
                "reservedFor": [{"name": "server-0"}],
            },
        }
    )
    found = world.prove()
    assert found["proven"] is False
    assert "team-a/server-0" in found["why"]
    assert world.server.writes() == []


def test_more_devices_than_a_node_has_are_not_proven() -> None:
    found = World().prove(claims=[{"count": 2}])
    assert (found["proven"], "offer 1 of 2 nvidia.com/gpu" in found["why"]) == (False, True)


def test_check_mode_runs_nothing() -> None:
    world = World()
    found = world.prove(check_mode=True)
    assert (found["proven"], found["node"], world.server.writes()) == (None, "gpu-0", [])
