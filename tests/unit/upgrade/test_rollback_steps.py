# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollbacks, and whose upgradePolicy the objects have after them."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import Answer
from unit.upgrade.in_memory.builders import NEW, OLD, gpu_pod, params
from unit.upgrade.in_memory.controller import STATE, Operator
from unit.upgrade.test_run_steps import after_each_write

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import gate_steps, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import (
    options,
    steps as validation_steps,
)

WAITS: t.Final = "wait-for-jobs-required"
RULES: t.Final = {"autoUpgrade": True, "maxUnavailable": "100%"}
PROBE: t.Final = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "probe", "namespace": "team"}}


def rules_of(operator: Operator, kind: str, object_name: str) -> t.Any:
    spec = operator.must(kind, object_name)["spec"]
    return (spec["driver"] if kind == "ClusterPolicy" else spec)["upgradePolicy"]


def test_a_failed_upgrade_restores_the_upgrade_policy_of_each_object() -> None:
    operator = Operator(("gpu-0", "gpu-1"), **{"gpu-0": "a", "gpu-1": "b"})
    operator.broken.add(("gpu-1", NEW))
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params(wait_for="app=train"))
    assert operator.phase() == "rolled-back"
    assert rules_of(operator, "NVIDIADriver", "b") == RULES
    assert rules_of(operator, "NVIDIADriver", "a") == RULES, "its nodes worked; its policy is the user's"


def test_the_upgrade_policy_is_restored_where_the_object_asked_for_the_driver_already() -> None:
    operator = Operator(("gpu-0",))
    operator.is_stopped = True
    operator.must("ClusterPolicy", "gpu-cluster-policy")["spec"]["driver"]["version"] = NEW
    operator.node("gpu-0")["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade.skip"] = "true"
    operator.node("gpu-0")["metadata"]["annotations"] = {"accelerators.openshift/driver-upgrade-held": "true"}
    operator.is_stopped = False
    operator.request("PATCH", "/api/v1/nodes/gpu-0", body=b"{}")
    assert operator.versions() == {"gpu-0": OLD}
    found = steps.ensure(operator.api(), params(wait_for="app=train"))["driver_upgrade"]
    assert (found["phase"], operator.versions()) == ("done", {"gpu-0": NEW})
    assert rules_of(operator, "ClusterPolicy", "gpu-cluster-policy") == RULES


def test_a_rollback_waits_for_the_same_pods_and_ends_them_by_the_same_consent() -> None:
    operator = Operator(("gpu-0",))
    operator.broken.add(NEW)
    seen: list[tuple[str, t.Any]] = []

    def look(_method: str, _url: str) -> None:
        driver = operator.must("ClusterPolicy", "gpu-cluster-policy")["spec"]["driver"]
        seen.append((driver["version"], "waitForCompletion" in driver["upgradePolicy"]))

    after_each_write(operator, look)
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params(wait_for="app=train"))
    back = seen[seen.index((NEW, True)) :]
    assert (OLD, True) in back, "the old driver comes while the controller still waits for these pods"
    assert rules_of(operator, "ClusterPolicy", "gpu-cluster-policy") == RULES


def test_a_gate_that_does_not_end_in_time_rolls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def times_out(*_: object) -> None:
        raise WaitTimeoutError("WORK-PENDING", "The validation pods did not start.", "Look at their events.")

    monkeypatch.setattr(gate_steps, "check", times_out)
    operator = Operator()
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "WORK-PENDING"
    assert operator.versions() == dict.fromkeys(("gpu-0", "gpu-1", "gpu-2"), OLD)
    assert operator.phase() == "rolled-back"


def test_a_failed_upgrade_after_its_rollback_reads_as_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise NotReadyError(
            "GPU-UPG-FAILED", "Node gpu-0: its new driver pod is not Ready", "Run `oc delete pod`."
        )

    monkeypatch.setattr(gate_steps, "check", fails)
    operator = Operator(("gpu-0",))
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params())
    assert "is not Ready. gpu-0 has the old driver again." in caught.value.message
    assert caught.value.remedy == "Repair what the evidence shows, then run the upgrade again."


def test_a_refused_rollback_does_not_say_that_nothing_was_changed() -> None:
    operator = Operator(("gpu-0",))
    operator.jobs_end = "Failed"

    def comes_back(_method: str, url: str) -> None:
        if url.partition("?")[0].endswith("/jobs"):
            operator.server.put(gpu_pod("train", "gpu-0"))

    after_each_write(operator, comes_back)
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params(probe=PROBE))
    assert caught.value.code == "UPGRADE-BUSY"
    assert "Nothing was changed" not in caught.value.message
    assert "drain" in caught.value.remedy
    assert "wait" not in caught.value.remedy, "the rollback does not wait for pods"
    operator.server.request = operator.request
    with pytest.raises(AcceleratorError) as checked:
        steps.ensure(operator.api(check_mode=True), params(probe=PROBE))
    assert checked.value.code == "UPGRADE-BUSY", "check mode refuses what the real run refuses"
    assert operator.ended == []


class Patient(Operator):
    """The controller waits for pods of users while the upgradePolicy says so. since: start of that wait."""

    since: float | None = None

    @property
    def is_waiting(self) -> bool:
        return bool(self.node("gpu-0")["metadata"]["labels"][STATE] == WAITS)

    def let_end(self, pod: str, seconds: float) -> None:
        """End the pod of a user if the controller has waited for it for so long."""
        if not self.is_waiting:
            return
        if self.since is None:
            self.since = self.clock.seconds
        if self.clock.seconds > self.since + seconds:
            self.end(pod)
            self.work()

    def _empty(self, node: KubeObject) -> None:
        object_name = node["metadata"]["name"]
        waits = "waitForCompletion" in rules_of(self, "ClusterPolicy", "gpu-cluster-policy")
        if waits and any(one["metadata"]["namespace"] == "team" for one in self.all("Pod")):
            if node["metadata"]["labels"][STATE] != WAITS:
                self._mark(self.node(object_name), WAITS)
        else:
            super()._empty(node)

    def _step(self, node: KubeObject) -> None:
        if node["metadata"]["labels"].get(STATE) == WAITS:
            self._empty(node)
        else:
            super()._step(node)


def test_a_pod_that_outlasts_the_upgrade_is_still_there_after_the_rollback() -> None:
    operator = Patient(("gpu-0",), gpu_pod("train", "gpu-0"))

    def request(method: str, url: str, **more: t.Any) -> Answer:
        operator.clock.seconds += 20
        return operator.request(method, url, **more)

    operator.server.request = request
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(wait_for="app=train", on_busy="drain", node_timeout=60))
    assert caught.value.code == "UPGRADE-SLOW"
    assert operator.ended == []
    assert operator.versions() == {"gpu-0": OLD}
    assert operator.phase() == "rolled-back"
    assert not operator.node("gpu-0")["spec"].get("unschedulable")
    assert rules_of(operator, "ClusterPolicy", "gpu-cluster-policy") == RULES


def test_the_next_upgrade_does_not_take_the_policy_of_a_failed_one_for_the_users() -> None:
    operator = Operator(("gpu-0",))
    operator.broken.add(NEW)
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params(wait_for="app=train", rollback=False))
    assert steps.ensure(operator.api(), params(version=OLD))["driver_upgrade"]["phase"] == "done"
    assert rules_of(operator, "ClusterPolicy", "gpu-cluster-policy") == RULES


def test_a_node_of_the_wave_whose_probe_passed_keeps_the_new_driver() -> None:
    operator = Operator()
    jobs: list[str] = []

    def ends(_method: str, url: str) -> None:
        for job in operator.all("Job"):
            if job["spec"]["template"]["spec"]["nodeSelector"]["kubernetes.io/hostname"] == "gpu-2":
                jobs.append(url)
                job["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
                operator.server.put(job)

    after_each_write(operator, ends)
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(wave="2", probe=PROBE))
    assert caught.value.code == "UPGRADE-PROBE"
    assert jobs
    assert operator.versions() == {"gpu-0": NEW, "gpu-1": NEW, "gpu-2": OLD}
    assert operator.held() == ["gpu-0", "gpu-1"]


def test_a_node_of_the_wave_whose_validation_passed_keeps_the_new_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def present(_api: object, wanted: options.GpuWorkloadParams) -> None:
        names = [one["name"] for one in wanted.pools or []]
        if "gpu-2" in names:
            raise NotReadyError("WORK-FAILED", "Pool gpu-2 failed.", facts={"failed_pools": ["gpu-2"]})

    monkeypatch.setattr(validation_steps, "present", present)
    operator = Operator()
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params(wave="2", validate=True))
    assert caught.value.code == "WORK-FAILED"
    assert operator.versions() == {"gpu-0": NEW, "gpu-1": NEW, "gpu-2": OLD}
