# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes get another geometry one after another; what fails is rolled back, what stopped is resumed."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from unit.engine import api_on
from unit.sharing.builders import SPACE, cut, gpu_pod, params
from unit.sharing.mig_server import MODE, STATE, MigServer, at_work, named, running

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import repartition_steps, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.repartition import (
    BEFORE,
    GpuRepartitionParams,
)

SEVEN: t.Final = {"mig": {"profile": "1g.5gb"}}
TWO: t.Final = {"mig": {"profile": "3g.20gb"}}
OF_SEVEN, OF_TWO = cut("inference", SEVEN), cut("inference", TWO)


@contextlib.contextmanager
def paused(_api: Api, pool: str, namespace: str) -> t.Iterator[None]:
    assert (pool, namespace) == ("inference", "openshift-machine-api")
    yield


def asked(sharing: t.Mapping[str, t.Any], **more: t.Any) -> GpuRepartitionParams:
    given = {
        "pools": params(("inference", sharing))["pools"],
        "namespace": SPACE,
        "machine_namespace": "openshift-machine-api",
        "state": "present",
        "on_busy": "fail",
        "delete_emptydir": False,
        "evict_unmanaged": True,
        "node_timeout": 60,
        "wait": True,
        "wait_timeout": 60,
        "lock_timeout": 0,
    }
    return t.cast("GpuRepartitionParams", given | more)


def change(server: MigServer, sharing: t.Mapping[str, t.Any], check: bool = False, **more: t.Any) -> t.Any:
    """Write the configurations, as gpu_sharing does, then run gpu_repartition."""
    if more.get("state") != "absent" and not check:
        steps.present(api_on(server, wait_wanted=False), params(("inference", sharing), on_change="keep"))
    # A wait on a server in memory ends only with a time of 0.
    is_short = server.stuck or server.empty or server.second
    api = api_on(server, seconds=0.0 if is_short else 300.0, check_mode=check)
    return repartition_steps.ensure(api, asked(sharing, **more), paused)


def cluster(*names: str) -> MigServer:
    """Return two nodes with whole GPUs, a prepared ClusterPolicy, and managers of before the file."""
    server = MigServer(named(), *(at_work(one) for one in names or ("a", "b")))
    for one in names or ("a", "b"):
        server.put(running(one, "2026-11-20T08:00:00Z"))
    return server


def order(server: MigServer, name: str) -> list[str]:
    """Return what was sent to a node and its manager."""
    return [f"{verb} {path.rpartition('/')[2]}" for verb, path in server.writes() if path.endswith(name)]


def test_one_node_after_another_is_emptied_cut_and_given_back() -> None:
    server = cluster()
    found = change(server, SEVEN)
    assert found["done"] == ["a", "b"]
    assert [one["before"] for one in found["turns"]] == ["all-disabled", "all-disabled"]
    for one in ("a", "b"):
        assert (server.mark(one), server.mark(one, STATE)) == (OF_SEVEN, "success")
        assert (server.is_cordoned(one), server.notes(one)) == (False, {})
    paths = [path.rpartition("/")[2] for _verb, path in server.writes()]
    assert paths == ["gpu-mig", *turn("a"), *turn("b")]


def test_a_manager_that_starts_in_the_second_of_the_file_has_read_it() -> None:
    """The API server's times have no parts of a second, and a DaemonSet replaces a pod at once."""
    server = cluster("a")
    server.second = "2026-11-24T08:00:00Z"
    assert change(server, SEVEN, wait_timeout=0, node_timeout=0)["done"] == ["a"]
    assert server.mark("a", STATE) == "success"


def turn(name: str) -> list[str]:
    """Return where a turn writes: cordon, manager, note, label, end."""
    return [name, f"manager-{name}", name, name, name]


def test_a_second_run_writes_nothing() -> None:
    server = cluster()
    change(server, SEVEN)
    server.requests.clear()
    assert change(server, SEVEN)["turns"] == []
    assert server.writes() == []


def test_another_geometry_and_whole_gpus_again() -> None:
    server = cluster()
    change(server, SEVEN)
    assert [one["before"] for one in change(server, TWO)["turns"]] == [OF_SEVEN, OF_SEVEN]
    assert (server.mark("a"), server.mark("b")) == (OF_TWO, OF_TWO)
    found = change(server, {})
    assert [one["after"] for one in found["turns"]] == ["whole GPUs", "whole GPUs"]
    assert (server.mark("a"), server.mark("a", STATE)) == (None, None)
    assert (server.named("Node", "a") or {})["status"]["allocatable"] == {"nvidia.com/gpu": "1"}
    server.requests.clear()
    change(server, {})
    assert [path for _verb, path in server.writes() if "nodes" in path] == []


def test_absent_gives_whole_gpus_back_without_knowing_the_geometry() -> None:
    server = cluster()
    change(server, SEVEN)
    found = change(server, {}, state="absent")
    assert found["done"] == ["a", "b"]
    assert (server.mark("a"), server.is_cordoned("a")) == (None, False)


def test_pods_with_gpus_are_asked_for_before_the_first_write() -> None:
    server = cluster()
    server.put(gpu_pod("b"))
    steps.present(api_on(server, wait_wanted=False), params(("inference", SEVEN), on_change="keep"))
    server.requests.clear()
    with pytest.raises(AcceleratorError) as raised:
        change(server, SEVEN)
    assert (raised.value.code, server.writes()) == ("GPU-MIG-BUSY", [])
    assert "team/work-b on b" in raised.value.message
    found = change(server, SEVEN, on_busy="drain")
    assert found["ends"][0]["pods"][0]["name"] == "work-b"
    assert (server.named("Pod", "work-b"), server.mark("b")) == (None, OF_SEVEN)


def test_data_of_pods_is_not_lost_unasked() -> None:
    server = cluster()
    pod = gpu_pod("b")
    pod["spec"]["volumes"] = [{"name": "x", "emptyDir": {}}]
    server.put(pod)
    with pytest.raises(AcceleratorError) as raised:
        change(server, SEVEN, on_busy="drain")
    assert raised.value.code == "NODE-EMPTYDIR"
    assert server.mark("a") is None


def test_check_mode_shows_what_would_end_and_writes_nothing() -> None:
    server = cluster()
    server.put(gpu_pod("b"))
    found = change(server, SEVEN, check=True, on_busy="drain")
    assert ([one["node"] for one in found["turns"]], server.writes()) == (["a", "b"], [])
    assert found["ends"][0]["nodes"] == ["a", "b"]


def test_a_failure_is_rolled_back_and_the_next_node_is_left_alone() -> None:
    server = cluster()
    change(server, SEVEN)
    server.old, server.fails = OF_SEVEN, {"a": "Error: Insufficient Resources"}
    with pytest.raises(AcceleratorError) as raised:
        change(server, TWO)
    assert raised.value.code == "GPU-MIG-FAILED"
    assert "Insufficient Resources" in raised.value.message
    assert raised.value.facts["done"] == []
    for one in ("a", "b"):
        assert (server.mark(one), server.mark(one, STATE)) == (OF_SEVEN, "success")
        assert (server.is_cordoned(one), server.notes(one)) == (False, {})


@pytest.mark.parametrize("before", [SEVEN, {}])
def test_a_rollback_ends_when_the_node_offers_its_devices_again(before: dict[str, t.Any]) -> None:
    server = cluster("a")
    change(server, before)
    server.old, server.fails, server.empty = OF_SEVEN, {"a": "Error: Insufficient Resources"}, {"a"}
    with pytest.raises(AcceleratorError) as raised:
        change(server, TWO, wait_timeout=0, node_timeout=0)
    assert raised.value.code == "GPU-MIG-FAILED"
    assert f"offers nvidia.com/gpu 0 of {7 if before else 1}" in raised.value.message
    assert server.is_cordoned("a")


def test_a_rollback_waits_for_devices_that_were_not_offered_when_it_began() -> None:
    server = cluster("a")
    live = server.named("Node", "a") or {}
    live["metadata"]["labels"]["nvidia.com/gpu.count"], live["status"]["allocatable"] = "1", {}
    server.fails, server.empty = {"a": "Error: Insufficient Resources"}, {"a"}
    with pytest.raises(AcceleratorError) as raised:
        change(server, TWO, wait_timeout=0, node_timeout=0)
    assert "offers no device" in raised.value.message
    assert server.is_cordoned("a")


def test_a_first_geometry_that_fails_leaves_no_label() -> None:
    server = cluster("a")
    server.fails = {"a": "Error: no"}
    with pytest.raises(AcceleratorError) as raised:
        change(server, SEVEN)
    assert raised.value.code == "GPU-MIG-FAILED"
    assert (server.mark("a"), server.mark("a", STATE), server.is_cordoned("a")) == (None, None, False)


def test_a_mode_that_waits_for_a_reboot_says_so() -> None:
    server = cluster("a")
    server.fails = {"a": MODE}
    with pytest.raises(AcceleratorError) as raised:
        change(server, SEVEN)
    assert raised.value.code == "GPU-MIG-REBOOT"
    assert "gpu_mig_reboot" in raised.value.remedy


def test_an_interrupted_turn_is_resumed() -> None:
    server = cluster("a")
    server.stuck = {"a"}
    with pytest.raises(AcceleratorError) as raised:
        change(server, SEVEN, wait_timeout=0, node_timeout=0)
    assert raised.value.code == "GPU-MIG-RUNNING"
    assert (server.is_cordoned("a"), server.notes("a")[BEFORE]) == (True, "all-disabled")
    server.stuck = set()
    live = server.named("Node", "a") or {}
    live["metadata"]["labels"][STATE] = "success"
    live["status"]["allocatable"] = {"nvidia.com/gpu": "7"}
    server.requests.clear()
    assert change(server, SEVEN)["done"] == ["a"]
    assert (server.mark("a"), server.is_cordoned("a"), server.notes("a")) == (OF_SEVEN, False, {})
    assert order(server, "a") == ["PATCH a"]


def test_a_cordon_of_an_administrator_stays() -> None:
    server = cluster("a")
    (server.named("Node", "a") or {}).setdefault("spec", {})["unschedulable"] = True
    change(server, SEVEN)
    assert (server.mark("a"), server.is_cordoned("a"), server.notes("a")) == (OF_SEVEN, True, {})


def test_a_policy_that_is_not_prepared_is_refused() -> None:
    server = cluster("a")
    with pytest.raises(AcceleratorError) as raised:
        repartition_steps.ensure(api_on(server), asked(SEVEN), paused)
    assert raised.value.code == "GPU-MIG-POLICY"
    assert server.writes() == []
    server.put(named("mixed"))
    with pytest.raises(AcceleratorError) as raised:
        change(server, SEVEN)
    assert (raised.value.code, server.is_cordoned("a")) == ("GPU-MIG-POLICY", False)


def machine_set(owner: str = "accelerators.openshift") -> KubeObject:
    pool = "inference"
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "MachineSet",
        "metadata": {
            "name": f"set-{pool}",
            "namespace": "openshift-machine-api",
            "labels": {"accelerators.openshift/pool": pool, "app.kubernetes.io/managed-by": owner},
        },
        "spec": {"template": {"spec": {"metadata": {"labels": {}}}}},
    }


def of_template(server: MigServer) -> dict[str, str]:
    found = server.named("MachineSet", "set-inference") or {}
    return dict(found["spec"]["template"]["spec"]["metadata"]["labels"])


def test_new_machines_get_the_new_geometry() -> None:
    server = cluster("a")
    server.put(machine_set())
    change(server, SEVEN)
    assert of_template(server) == {"nvidia.com/mig.config": OF_SEVEN}
    server.requests.clear()
    change(server, SEVEN)
    assert server.writes() == []
    change(server, {})
    assert of_template(server) == {}


def test_a_machine_set_of_others_is_left_alone() -> None:
    server = cluster("a")
    server.put(machine_set(owner="others"))
    change(server, SEVEN)
    assert of_template(server) == {}
