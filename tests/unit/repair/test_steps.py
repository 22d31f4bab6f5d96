# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A repair on the server in memory: reboots, second runs, killed runs, nodes that stay broken, refusals."""

from __future__ import annotations

import contextlib
import json
import typing as t

import pytest
from unit.repair.node_in_memory import PLACE, UUID, KilledError, Room, params, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import wait
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import sentinel
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import steps


class Validation:
    """Stands in for the steps of gpu_workload. fails: the code with which it fails."""

    def __init__(self) -> None:
        self.asked: list[t.Any] = []
        self.fails = ""

    def present(self, _api: object, wishes: t.Any) -> dict[str, t.Any]:
        self.asked.append(wishes)
        if self.fails:
            raise NotReadyError(self.fails, "The pod failed.", "Read its log.")
        return {"workload": {"nodes": []}}


@pytest.fixture(autouse=True)
def validation(monkeypatch: pytest.MonkeyPatch) -> Validation:
    found = Validation()
    monkeypatch.setattr(steps, "validation_steps", found)
    monkeypatch.setattr(wait, "LOOK_EVERY", 0.0)
    return found


def repair(room: Room, **given: t.Any) -> dict[str, t.Any]:
    return steps.ensure(room.api(), params(**given))


def failure(room: Room, **given: t.Any) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        repair(room, **given)
    return caught.value


def test_a_broken_node_is_rebooted_validated_and_given_back(validation: Validation) -> None:
    room = Room()
    found = repair(room)
    assert (found["action"], found["rebooted_with"], room.boots) == ("rebooted", "bare_metal_host", 1)
    assert found["faults"] == ["7 of 8 nvidia.com/gpu are allocatable"]
    (asked,) = validation.asked
    assert asked.pools[0]["expected"] == {"nvidia.com/gpu": 8}
    assert asked.repeat is True
    assert {
        "key": "node.kubernetes.io/unschedulable",
        "operator": "Exists",
        "effect": "NoSchedule",
    } in asked.pools[0]["tolerations"]
    assert (found["cordoned"], room.node["spec"].get("unschedulable"), room.notes) == (False, None, {})


def test_a_second_run_writes_nothing_and_a_healthy_node_stays_as_it_is(validation: Validation) -> None:
    room = Room()
    repair(room)
    room.server.requests.clear()
    for wish in ("auto", "reboot", "replace"):
        assert repair(room, repair=wish)["action"] == "nothing"
    assert room.server.writes() == []
    assert len(validation.asked) == 1


def test_the_form_has_what_is_known_and_says_why_the_rest_is_not() -> None:
    form = repair(Room())["form"]
    (gpu,) = form["gpus"]
    assert (gpu["uuid"], gpu["xid"], gpu["serial"]) == (UUID, 79, "")
    assert form["server"] == {
        "host": "host-0",
        "manufacturer": "Dell Inc.",
        "product": "XE9680",
        "serial": "ABC1234",
    }
    assert (form["machine"], form["provider_id"]) == ("m-0", "baremetalhost:///m-0")
    assert (form["driver_version"], form["gpu_model"]) == ("595.91.07", "H100")
    assert set(form["unknown"]) == {"gpus.serial", "instance_type"}
    assert all(form["unknown"].values())


def test_a_pod_reboots_where_there_is_no_host_and_is_deleted() -> None:
    room = Room(bare_metal=False)
    found = repair(room, reboot_with="pod")
    assert (found["rebooted_with"], room.boots) == ("pod", 1)
    assert [one["metadata"]["name"] for one in room.all("Pod")] == ["nvidia-device-plugin-daemonset-x"]
    assert found["form"]["unknown"]["server"]


@pytest.mark.parametrize("way", ["bare_metal_host", "pod"])
def test_a_run_that_was_killed_at_any_write_is_resumed_without_a_second_reboot(way: str) -> None:
    whole = Room()
    repair(whole, reboot_with=way)
    number = len(whole.server.writes())
    assert number > 3
    for left in range(number):
        room = Room()
        room.writes_left = left
        with pytest.raises(KilledError):
            repair(room, reboot_with=way)
        room.writes_left = None
        _until_done(room, way)
        assert room.boots == 1, left
        assert (room.node["spec"].get("unschedulable"), room.notes) == (None, {}), left
        assert [one for one in room.all("Pod") if one["metadata"]["name"].startswith("gpu-repair")] == []


def _until_done(room: Room, way: str) -> None:
    """Run again; once more, much later, if the killed run ended between its record and the request."""
    with contextlib.suppress(WaitTimeoutError):
        repair(room, reboot_with=way)
        return
    note = json.loads(room.notes["accelerators.openshift/repair"])
    room.node["metadata"]["annotations"]["accelerators.openshift/repair"] = json.dumps(note | {"asked": 0})
    repair(room, reboot_with=way)


def test_a_node_that_does_not_start_is_named_and_stays_cordoned() -> None:
    room = Room()
    room.is_slow = True
    error = failure(room)
    assert error.code == "REPAIR-BOOT"
    assert "still has boot id boot-1" in error.message
    assert error.facts["form"]["node"] == "gpu-0"
    assert room.node["spec"]["unschedulable"] is True


def test_a_node_that_stays_broken_is_not_rebooted_again_unless_that_is_asked_for() -> None:
    room = Room()
    room.cures = False
    error = failure(room)
    assert (error.code, room.boots) == ("REPAIR-STAYS", 1)
    assert error.facts["form"]["gpus"][0]["xid"] == 79
    room.server.requests.clear()
    assert failure(room).code == "REPAIR-STAYS"
    assert (room.boots, room.server.writes()) == (1, [])
    assert failure(room, repair="reboot").code == "REPAIR-STAYS"
    assert (room.boots, room.node["spec"]["unschedulable"]) == (2, True)


def test_a_node_that_the_vendor_repaired_is_validated_and_given_back(validation: Validation) -> None:
    room = Room()
    room.cures = False
    failure(room)
    live = room.node
    live["status"]["allocatable"] = live["status"]["capacity"]
    room.server.put(live)
    assert (repair(room)["action"], room.boots, len(validation.asked)) == ("resumed", 1, 1)
    assert (room.node["spec"].get("unschedulable"), room.notes) == (None, {})


@pytest.mark.parametrize("code", ["WORK-FAILED", "WORK-FAULT", "WORK-LOW", "WORK-BASELINE", "WORK-PEER"])
def test_a_failed_validation_counts_as_broken_but_an_image_does_not(
    validation: Validation, code: str
) -> None:
    room = Room()
    validation.fails = "WORK-IMAGE"
    assert failure(room).code == "WORK-IMAGE"
    validation.fails = code
    error = failure(room)
    assert error.code == "REPAIR-STAYS"
    assert (room.boots, room.node["spec"]["unschedulable"]) == (1, True)


def test_nvsentinel_leaves_the_node_alone_and_keeps_what_it_holds() -> None:
    room = Room()
    room.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nvsentinel"}})
    room.node["metadata"]["labels"][sentinel.STATE] = "quarantined"
    room.writes_left = 1
    with contextlib.suppress(KilledError):
        repair(room)
    assert room.node["metadata"]["labels"][sentinel.MANAGED] == "false"
    room.writes_left = None
    api = room.api()
    steps.ensure(api, params())
    assert (room.node["spec"]["unschedulable"], room.notes) == (True, {})
    assert sentinel.MANAGED not in room.node["metadata"]["labels"]
    assert any("NVSentinel holds it" in warning for warning in api.warnings)


def test_a_node_that_an_administrator_cordoned_stays_cordoned() -> None:
    room = Room()
    room.node["spec"]["unschedulable"] = True
    api = room.api()
    found = steps.ensure(api, params())
    assert (found["action"], found["cordoned"]) == ("rebooted", True)
    assert "cordoned before" in api.warnings[0]


def test_pods_with_gpus_are_asked_for_before_the_first_write() -> None:
    work = pod("train-0", containers=[{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}])
    room = Room(work)
    assert failure(room).code == "NODE-BUSY"
    assert room.server.writes() == []


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("REPAIR-RESET", {"repair": "reset"}),
        ("REPAIR-NO-REBOOT", {}),
        ("REPAIR-NO-REBOOT", {"reboot_with": "bare_metal_host"}),
        ("REPAIR-NO-IMAGE", {"reboot_with": "pod", "reboot_image": None}),
        ("NODE-ABSENT", {"name": "gpu-1"}),
        ("NODE-FOREIGN", {"repair": "replace"}),
        ("NODE-FOREIGN", {"replace": True}),
        ("INPUT-VALUE", {"wait": False}),
        ("INPUT-OPTION", {"validation": {"pools": []}}),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_first_write(code: str, given: dict[str, t.Any]) -> None:
    room = Room(bare_metal=False)
    error = failure(room, **given)
    assert error.code == code
    assert error.remedy
    assert room.server.writes() == []


def test_check_mode_shows_the_cordon_and_the_reboot_and_writes_nothing() -> None:
    room = Room()
    api = room.api(check_mode=True)
    found = steps.ensure(api, params())
    assert (found["action"], found["rebooted_with"]) == ("rebooted", "bare_metal_host")
    titles = [one.object_name for one in api.changes]
    assert "Node gpu-0" in titles
    assert f"BareMetalHost {PLACE}/host-0" in titles
    assert (room.server.writes(), room.boots) == ([], 0)


def test_a_stack_that_is_not_there_is_no_broken_gpu() -> None:
    room = Room()
    room.server.objects = {key: one for key, one in room.server.objects.items() if key[1] != "pods"}
    error = failure(room)
    assert (error.code, room.server.writes()) == ("REPAIR-UNCLEAR", [])
    assert (repair(room, repair="reboot")["action"], room.boots) == ("rebooted", 1)


def test_a_driver_that_is_being_replaced_is_no_broken_gpu() -> None:
    room = Room()
    room.node["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"] = "pod-restart-required"
    error = failure(room)
    assert (error.code, room.server.writes()) == ("REPAIR-DRIVER", [])
    assert "pod-restart-required" in error.message


def test_a_node_that_is_being_updated_is_left_to_the_machine_config_operator() -> None:
    room = Room()
    key = "machineconfiguration.openshift.io"
    room.node["metadata"]["annotations"] |= {f"{key}/state": "Working", f"{key}/currentConfig": "a"}
    assert failure(room).code == "REPAIR-UPDATE"
    assert room.server.writes() == []


def rejected(
    object_name: str, reason: str = "UnexpectedAdmissionError", resource: str = "nvidia.com/gpu"
) -> t.Any:
    limits = {"limits": {resource: "1"}}
    found = pod(object_name, containers=[{"name": "c", "image": "i", "resources": limits}])
    return {**found, "status": {"phase": "Failed", "reason": reason}}


@pytest.mark.parametrize("is_asked", [False, True])
def test_pods_that_the_kubelet_refused_are_named_and_deleted_only_when_asked(is_asked: bool) -> None:
    room = Room()
    room.cures = True
    repair(room)
    for one in (rejected("t-0"), rejected("evicted-0", "Evicted"), rejected("cpu-0", resource="cpu")):
        room.server.put(one)
    api = room.api()
    found = steps.ensure(api, params(remove_rejected=is_asked))
    assert (found["action"], found["rejected_pods"]) == ("nothing", ["team/t-0"])
    left = {one["metadata"]["name"] for one in room.all("Pod")}
    assert {"evicted-0", "cpu-0"} <= left
    assert ("t-0" in left) is not is_asked
    assert any("gpu_repair_remove_rejected" in one for one in api.warnings) is not is_asked
