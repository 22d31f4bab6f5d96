# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU operator adds to a pod for a configuration of the device plugin."""

from __future__ import annotations

import pytest
from unit.sandbox.gpu_operator.builders import Object, daemon_set

from openshift_sandbox.stand_ins.gpu_operator.sharing import containers

WITH: Object = {"devicePlugin": {"config": {"name": "sharing", "default": "any"}}}
PODS = {
    "nvidia-device-plugin-daemonset": "nvidia-device-plugin",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "nvidia-device-plugin-mps-control-daemon": "mps-control-daemon-ctr",
}


def pod(name: str, **spec: object) -> Object:
    return {"spec": daemon_set(name, **spec)["spec"]["template"]["spec"]}


@pytest.mark.parametrize("name", PODS)
def test_a_pod_without_and_with_a_configuration(name: str) -> None:
    bare = pod(name)
    assert containers.config_map(bare) == ""
    assert "volumes" not in bare["spec"]
    made = pod(name, **WITH)
    assert containers.config_map(made) == "sharing"
    assert containers.main(made) == PODS[name]
    assert containers.env(made, PODS[name], "CONFIG_FILE") == "/config/config.yaml"
    assert containers.env(made, "config-manager", "DEFAULT_CONFIG") == "any"
    assert made["spec"]["initContainers"][-1]["name"] == "config-manager-init"
    assert made["spec"].get("shareProcessNamespace", False) is not made["spec"].get("hostPID", False)


def test_other_pods_have_none() -> None:
    assert pod("nvidia-dcgm", **WITH) == pod("nvidia-dcgm")
    assert containers.main(pod("nvidia-dcgm")) == ""


def test_the_strategy_of_mig_is_in_the_environment() -> None:
    made = pod("gpu-feature-discovery", mig={"strategy": "mixed"})
    assert containers.env(made, "gpu-feature-discovery", "MIG_STRATEGY") == "mixed"
    assert containers.env(pod("gpu-feature-discovery"), "gpu-feature-discovery", "MIG_STRATEGY") == ""
