# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof of sharing on an API server in memory: what runs, what is remembered, and what is left."""

from __future__ import annotations

import itertools
import typing as t
from dataclasses import replace

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.workload.builders import node
from unit.workload.proofs.test_sharing_proof import GPU, PARAMS, POOL, refused

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import placeholders
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    GpuWorkloadParams,
    ProveParams,
    SharingProofParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import (
    proof_steps,
    steps,
)

Object = dict[str, t.Any]
PLACE: t.Final = "gpu-validation"
OURS: t.Final = Run("root", "bastion", "", 1, "1")
SHORT: t.Final = f"0/1 nodes are available: 1 Insufficient {GPU}."


def given(shared: t.Sequence[SharingProofParams], **more: t.Any) -> GpuWorkloadParams:
    """Return the parameters of a task that proves the sharing of these pools."""
    return replace(PARAMS, hold=0, grace=0.0, prove=ProveParams(list(shared), []), **more)


class World:
    """A cluster with a node of two GPUs, each of them for two pods. devices: what the pods see, in turn."""

    def __init__(self, devices: t.Sequence[str] = ("GPU-a", "GPU-b"), shares: int = 4) -> None:
        kinds = ("Job", "Node", "Namespace", "Pod", "ConfigMap", "ServiceAccount", "Lease")
        self.server, self.shares = FakeServer(*kinds), shares
        found = {"apiVersion": "v1", "kind": "Node", **node("gpu-0", gpu="4")}
        found["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        self.server.put(found)
        account = {"name": "default", "namespace": PLACE}
        self.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        self._devices, self.logs = itertools.cycle(devices), dict[str, str]()
        self.server.request = self.answer

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if "/log" in url:
            object_name = url.partition("/log")[0].rpartition("/")[2]
            return Answer(200, self.logs[object_name])
        answered = self.server.answer(method, url, body, **more)
        if method == "POST" and url.partition("?")[0].endswith("/pods") and "dryRun" not in url:
            self._schedule(next(reversed(self.server.objects.values())))
        return answered

    def _schedule(self, pod: Object) -> None:
        running = [one for one in self.of("pods") if one.get("status", {}).get("phase") == "Running"]
        if len(running) >= self.shares:
            pod["status"] = refused("", SHORT)["status"]
            return
        pod["spec"]["nodeName"], pod["status"] = "gpu-0", {"phase": "Running"}
        self.logs[pod["metadata"]["name"]] = f"GPU 0: Tesla T4 (UUID: {next(self._devices)})\n"

    def of(self, plural: str) -> list[Object]:
        return [one for key, one in self.server.objects.items() if key[1] == plural]

    def put_pod(self, object_name: str, **more: t.Any) -> None:
        """Put a pod of a team that holds a share of the node."""
        limits = {"resources": {"limits": {GPU: "1"}}}
        pod = {
            "metadata": {"name": object_name, "namespace": "team", **more.pop("metadata", {})},
            "spec": {"nodeName": "gpu-0", "containers": [limits], **more},
            "status": {"phase": "Running"},
        }
        self.server.put({"apiVersion": "v1", "kind": "Pod", **pod})

    def api(self, **more: t.Any) -> Api:
        self.server.requests.clear()
        return api_on(self.server, FakeClock(), run=OURS, **more)

    def prove(self, **more: t.Any) -> Object:
        return self.prove_by(self.api(), **more)

    def prove_by(self, api: Api, shared: t.Sequence[SharingProofParams] = (POOL,), **more: t.Any) -> Object:
        """Return the result of the only pool. The clock in memory stands still, so nothing may wait."""
        (found,) = steps.present(api, given(shared, **more))["sharing"]
        return t.cast(Object, found)


def test_four_pods_on_two_gpus_prove_the_sharing_and_leave_nothing() -> None:
    world = World()
    found = world.prove()
    assert (found["proven"], found["node"]) == (True, "gpu-0")
    (devices,) = found["devices"]
    assert (devices["shares"], devices["replicas"], devices["devices"]) == (4, 2, 2)
    assert (devices["uuids"], devices["refused"]) == (["GPU-a", "GPU-b"], SHORT)
    assert world.of("pods") == []
    made = [path for method, path in world.server.writes() if method == "POST" and path.endswith("/pods")]
    assert len(made) == 5


def test_a_second_run_writes_nothing_and_force_proves_again() -> None:
    world = World()
    world.prove()
    again = world.prove()
    assert (again["proven"], again["why"], again["devices"]) == (True, "proven before", [])
    assert world.server.writes() == []
    assert world.prove(repeat=True)["devices"]
    assert world.prove(shared=[replace(POOL, replicas=2, name="other")])["devices"]
    assert sorted(world.of("configmaps")[0]["data"]) == ["inference", "other"]


@pytest.mark.parametrize(
    ("world", "code", "text"),
    [
        (World(devices=["GPU-a", "GPU-a", "GPU-a", "GPU-b"]), "WORK-SHARE-DEVICE", "GPU-a (3 pods)"),
        (World(devices=["GPU-a", "GPU-b", "GPU-c", "GPU-d"]), "WORK-SHARE-DEVICE", "ran on 4 devices"),
        (World(shares=5), "WORK-SHARE-MORE", "one more pod ran"),
        (World(shares=3), "WORK-SHARE-APART", "Insufficient nvidia.com/gpu"),
    ],
)
def test_wrong_shares_fail_and_leave_nothing(world: World, code: str, text: str) -> None:
    with pytest.raises(NotReadyError) as caught:
        world.prove()
    assert caught.value.code == code
    assert text in caught.value.message
    assert caught.value.facts["failed_pools"] == ["inference"]
    assert world.of("pods") == []
    assert world.of("configmaps") == []


def test_a_pool_that_is_disproved_later_is_not_remembered_as_proven() -> None:
    world = World(devices=[*(("GPU-a", "GPU-b") * 2), "GPU-x", *["GPU-a"] * 9])
    world.prove()
    with pytest.raises(NotReadyError):
        world.prove(repeat=True)
    assert world.of("configmaps")[0].get("data") in (None, {})


def test_a_busy_node_is_not_proven_and_nothing_is_written() -> None:
    world = World()
    world.put_pod("work")
    api = world.api()
    found = world.prove_by(api)
    assert (found["proven"], found["node"]) == (False, "")
    assert "held by team/work (1)" in found["why"]
    assert "The sharing of pool inference is not proven" in api.warnings[0]
    assert world.server.writes() == []


def test_a_placeholder_pod_keeps_its_share() -> None:
    world = World()
    world.put_pod("spare", metadata={"labels": {placeholders.LABEL: "inference"}}, priority=-10)
    found = world.prove()
    assert found["proven"] is False
    assert "held by placeholder pod spare" in found["why"]
    assert world.server.writes() == []


def test_a_pod_that_comes_meanwhile_makes_the_node_busy() -> None:
    world = World(shares=4)
    schedule = world._schedule

    def come(pod: Object) -> None:
        if not [one for one in world.of("pods") if one["metadata"]["namespace"] == "team"]:
            world.put_pod("work")
        schedule(pod)

    world._schedule = come  # type: ignore[method-assign]
    found = world.prove()
    assert (found["proven"], GPU in found["why"]) == (False, True)
    assert [one["metadata"]["name"] for one in world.of("pods")] == ["work"]


def test_pods_without_a_device_in_their_output_prove_nothing() -> None:
    found = World(devices=["none"]).prove()
    assert (found["proven"], "printed no device" in found["why"]) == (False, True)


def test_pods_of_a_killed_run_go() -> None:
    world = World()
    api = world.api()
    steps.present(api, given([POOL]))
    pod = {
        "metadata": {
            "name": "left",
            "namespace": PLACE,
            "labels": {
                "app.kubernetes.io/managed-by": "accelerators.openshift",
                "accelerators.openshift/run": "old",
            },
        },
        "spec": {
            "nodeName": "gpu-0",
            "nodeSelector": {"kubernetes.io/hostname": "host-gpu-0"},
            "containers": [{"resources": {"limits": {GPU: "1"}}}],
        },
        "status": {"phase": "Running"},
    }
    world.server.put({"apiVersion": "v1", "kind": "Pod", **pod})
    assert world.prove(repeat=True)["proven"] is True
    assert world.of("pods") == []


def test_check_mode_runs_nothing_and_says_what_would_run() -> None:
    world = World()
    api = world.api(check_mode=True)
    found = world.prove_by(api)
    assert (found["proven"], found["node"]) == (None, "gpu-0")
    assert [one.object_name for one in api.changes] == ["Pod gpu-validation: 5 pods on node gpu-0"]
    assert world.server.writes() == []


def test_a_pool_without_a_ready_node_is_not_proven() -> None:
    world = World()
    world.of("nodes")[0]["status"]["conditions"] = []
    assert "not ready" in world.prove()["why"]
    api = world.api()
    found = world.prove_by(api, shared=[replace(POOL, node_selector={"pool": "b"})])
    assert (found["proven"], found["why"]) == (None, "no node has its labels")
    assert api.warnings == []


def test_check_mode_does_not_warn_of_a_pool_without_a_free_node() -> None:
    world = World()
    world.put_pod("work")
    api = world.api(check_mode=True)
    found = world.prove_by(api)
    assert (found["proven"], "team/work" in found["why"]) == (None, True)
    assert (api.warnings, api.changes) == ([], [])


def test_a_pool_that_fails_keeps_no_other_from_its_proof() -> None:
    world = World()
    with pytest.raises(NotReadyError) as caught:
        world.prove(shared=[replace(POOL, name="wrong", replicas=4), POOL], pools=[])
    assert caught.value.facts["failed_pools"] == ["wrong"]
    assert caught.value.facts["workload"]["nodes"] == []
    assert [one["proven"] for one in caught.value.facts["sharing"]] == [True]
    assert list(world.of("configmaps")[0]["data"]) == ["inference"]


@pytest.mark.parametrize(
    ("more", "path"), [({}, "prove.sharing[0].image"), ({"image": "r.io/x:1:2"}, "image")]
)
def test_an_image_that_no_kubelet_can_parse_is_refused_at_once(more: dict[str, str], path: str) -> None:
    pools = [replace(POOL, image=None if more else "https://r.io/x")]
    with pytest.raises(InputError) as caught:
        steps.present(t.cast(t.Any, None), given(pools, **more))
    assert (caught.value.code, caught.value.message.split()[0]) == ("INPUT-IMAGE", path)


@pytest.mark.parametrize(("check_mode", "proven", "warnings"), [(False, False, 1), (True, None, 0)])
def test_only_a_run_that_would_have_proven_warns(
    check_mode: bool, proven: bool | None, warnings: int
) -> None:
    api = api_on(FakeServer(), check_mode=check_mode)
    found = proof_steps.not_proven(api, POOL, "no node is free")
    assert (found["proven"], found["why"], found["devices"]) == (proven, "no node is free", [])
    assert len(api.warnings) == warnings
