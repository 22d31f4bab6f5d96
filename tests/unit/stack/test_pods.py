# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a broken container, and what its log adds to a failure."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import pods
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.operands import Operand
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import add_log_end
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Finding


@pytest.mark.parametrize(
    ("log", "code"),
    [
        (
            "error: failed to install elfutils packages. RHEL entitlement may be improperly deployed.",
            "GPU-DRV-NO-DTK",
        ),
        ("modprobe: ERROR: could not insert 'nvidia': Required key not available", "GPU-DRV-SIGN"),
        ("NVRM: RmInitAdapter failed! (0x22:0x56:884)", "GPU-DRV-INIT"),
        ("Could not unload NVIDIA driver kernel modules, driver is in use", "GPU-DRV-IN-USE"),
    ],
)
def test_a_known_text_in_the_log_brings_its_remedy(log: str, code: str) -> None:
    error = NotReadyError("GPU-DRV-CRASH", "driver crashes.", "look")
    add_log_end(error, "nvidia-driver-x", "nvidia-driver-ctr", f"starting\n{log}\n", node="gpu-1")
    assert error.code == code
    assert error.message.endswith(log)
    assert error.remedy != "look"
    assert error.evidence[-1].endswith(log)


def test_an_unknown_text_is_only_evidence() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "driver crashes.", "look")
    add_log_end(error, "nvidia-driver-x", "ctr", "something else")
    assert (error.code, error.remedy, error.evidence) == (
        "GPU-DRV-CRASH",
        "look",
        ["nvidia-driver-x/ctr: something else"],
    )
    said = "The log of container ctr of pod nvidia-driver-x ends with: something else"
    assert error.message == f"driver crashes. {said}"


def test_a_log_does_not_replace_another_cause() -> None:
    error = AcceleratorError("GPU-TAINT", "not tolerated.", "oc adm taint")
    add_log_end(error, "nvidia-driver-x", "ctr", "NVRM: RmInitAdapter failed!")
    assert (error.code, error.message, error.remedy) == ("GPU-TAINT", "not tolerated.", "oc adm taint")


def in_state(state: dict[str, t.Any], last: dict[str, t.Any] | None = None, restarts: int = 0) -> KubeObject:
    container = {"name": "c", "resources": {"limits": {"memory": "256Mi"}}}
    entry = {"name": "c", "ready": False, "restartCount": restarts, "state": state, "lastState": last or {}}
    return {
        "metadata": {"name": "plugin-x", "namespace": "nvidia-gpu-operator"},
        "spec": {"nodeName": "gpu-1", "containers": [container]},
        "status": {"containerStatuses": [entry]},
    }


BACK_OFF = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}}
KILLED = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}


def judged(pod: KubeObject, component: str = "device-plugin") -> Finding:
    node = {"metadata": {"name": "gpu-1", "labels": {}}}
    [found] = pods.judge_pods(node, [(Operand(component, "ds", "plugin-x", note="is not Ready"), pod)])
    return found


@pytest.mark.parametrize(
    "pod", [in_state(BACK_OFF, KILLED, 9), in_state(KILLED), in_state({"running": {}}, KILLED, 5)]
)
def test_a_container_without_memory_says_so_and_how_to_give_more(pod: KubeObject) -> None:
    found = judged(pod)
    assert found.code == "GPU-OPERAND-OOM"
    assert "OOMKilled" in found.message
    assert "{devicePlugin: {resources: {limits: {memory: 512Mi}}}} (now 256Mi)" in found.remedy


def test_without_a_limit_the_node_lacks_memory() -> None:
    pod = in_state(BACK_OFF, KILLED, 9)
    del pod["spec"]["containers"][0]["resources"]
    assert "`oc describe node gpu-1`" in judged(pod).remedy


@pytest.mark.parametrize(
    "reason", ["CreateContainerError", "CreateContainerConfigError", "RunContainerError", "StartError"]
)
def test_a_container_that_never_ran_has_no_log_to_look_at(reason: str) -> None:
    found = judged(in_state({"waiting": {"reason": reason, "message": "something new"}}, restarts=2))
    assert "`oc describe pod -n nvidia-gpu-operator plugin-x`" in found.remedy


def test_a_program_that_the_runtime_could_not_start_has_no_log_either() -> None:
    last = {"terminated": {"reason": "StartError", "exitCode": 128, "message": "exec: no such file"}}
    found = judged(in_state(BACK_OFF, last, 4))
    assert "it ended as StartError; exit code 128; exec: no such file" in found.message
    assert "oc describe pod" in found.remedy


def test_a_crash_says_its_exit_code_and_the_log_before_the_last_start() -> None:
    found = judged(in_state(BACK_OFF, {"terminated": {"reason": "Error", "exitCode": 2}}, 4))
    assert "exit code 2" in found.message
    assert "oc logs -n nvidia-gpu-operator plugin-x -c c --previous" in found.remedy
    first = judged(in_state({"terminated": {"reason": "Error", "exitCode": 1}}))
    assert first.remedy == "Run `oc logs -n nvidia-gpu-operator plugin-x -c c`."


@pytest.mark.parametrize(
    ("said", "meaning", "remedy"),
    [
        ("reading manifest 9 in nvcr.io/nvidia/driver: manifest unknown", "no such image or tag", "Correct"),
        ("unauthorized: authentication required", "does not accept the login", "rotate_pull_secret"),
        ("toomanyrequests: too many requests", "limits how often", "tries again by itself"),
        ("Back-off pulling image", "", "oc describe pod"),
    ],
)
def test_an_image_that_is_not_pulled_says_why(said: str, meaning: str, remedy: str) -> None:
    found = judged(in_state({"waiting": {"reason": "ImagePullBackOff", "message": said}}))
    assert found.code == "GPU-IMAGE"
    assert meaning in found.message
    assert remedy in found.remedy
    assert "oc logs" not in found.remedy


def test_a_name_that_no_registry_has_is_told_by_the_reason_alone() -> None:
    found = judged(
        in_state({"waiting": {"reason": "InvalidImageName", "message": 'Failed: "/:570"'}}), "driver"
    )
    assert "Set repository, image and version together" in found.remedy


def test_a_running_plugin_that_offers_nothing_is_quoted() -> None:
    error = AcceleratorError("GPU-ALLOC", "Node a offers 0 of 4.", "look")
    add_log_end(
        error,
        "plugin-x",
        "nvidia-device-plugin",
        "I1 start\nE1121 strange: cannot open /dev/nvidia0\nI2 wait",
    )
    said = "The log of container nvidia-device-plugin of pod plugin-x says: E1121 strange: cannot open"
    assert error.message == f"Node a offers 0 of 4. {said} /dev/nvidia0"
    assert error.code == "GPU-ALLOC"


def test_a_running_plugin_without_an_error_is_not_quoted() -> None:
    error = AcceleratorError("GPU-ALLOC", "Node a offers 0 of 4.", "look")
    add_log_end(error, "plugin-x", "c", "I1 start\nregistered device plugin")
    assert error.message == "Node a offers 0 of 4."


def test_the_end_of_a_program_is_never_quoted() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "driver crashes.", "look")
    log = (
        "error: strange thing\nUnloading NVIDIA driver kernel modules...\nUnmounting NVIDIA driver rootfs..."
    )
    add_log_end(error, "d", "ctr", log)
    assert error.message == "driver crashes. The log of container ctr of pod d says: error: strange thing"
    silent = AcceleratorError("GPU-DRV-CRASH", "driver crashes.", "look")
    add_log_end(silent, "d", "ctr", log.partition("\n")[2])
    assert silent.message == "driver crashes."
