# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU operator's DaemonSets and their images."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.gpu_operator.builders import NAMESPACE, Object, daemon_set, policy

from openshift_sandbox.stand_ins.gpu_operator import daemon_sets, operands

# The specs of a ClusterPolicy: twice the same one, and one that differs.
SPECS: t.Final[tuple[Object, ...]] = ({}, {}, {"dcgm": {"env": [1]}})


class TestDaemonSets:
    @pytest.mark.parametrize(
        "operand",
        [one for one in operands.OPERANDS if "mps" not in one.name],
        ids=lambda one: str(one.name),
    )
    def test_each_runs_where_its_deploy_label_is(self, operand: operands.Operand) -> None:
        pod = daemon_sets.daemon_set(operand, policy(), NAMESPACE)["spec"]["template"]["spec"]
        assert pod["nodeSelector"] == {f"nvidia.com/gpu.deploy.{operand.component}": "true"}
        assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]

    def test_mps_wants_capable_nodes(self) -> None:
        pod = daemon_set("nvidia-device-plugin-mps-control-daemon")["spec"]["template"]["spec"]
        assert pod["nodeSelector"] == {
            "nvidia.com/gpu.deploy.device-plugin": "true",
            "nvidia.com/mps.capable": "true",
        }

    def test_tolerations_are_added(self) -> None:
        own = {"key": "team", "operator": "Exists"}
        assert own in daemon_set(daemonsets={"tolerations": [own]})["spec"]["template"]["spec"]["tolerations"]
        assert (
            len(
                daemon_set(daemonsets={"tolerations": [daemon_sets.TOLERATION]})["spec"]["template"]["spec"][
                    "tolerations"
                ]
            )
            == 1
        )

    def test_one_driver_for_each_rhcos_version(self) -> None:
        found = daemon_sets.driver_daemon_sets(policy(), NAMESPACE, {"9.8.1": "dtk:1", "9.8.2": None})
        assert [one["metadata"]["name"] for one in found] == [
            "nvidia-driver-daemonset-9.8.1",
            "nvidia-driver-daemonset-9.8.2",
        ]
        first, second = (one["spec"] for one in found)
        assert first["updateStrategy"] == {"type": "OnDelete"}
        assert first["template"]["spec"]["nodeSelector"][daemon_sets.OSTREE] == "9.8.1"
        assert [one["name"] for one in first["template"]["spec"]["initContainers"]] == ["k8s-driver-manager"]
        assert [one["name"] for one in first["template"]["spec"]["containers"]] == [
            "nvidia-driver-ctr",
            "openshift-driver-toolkit-ctr",
        ]
        assert first["template"]["spec"]["containers"][1]["image"] == "dtk:1"
        assert (
            second["template"]["metadata"]["labels"]["openshift.driver-toolkit.rhcos-image-missing"] == "true"
        )

    def test_without_the_image_stream_there_is_a_plain_driver(self) -> None:
        [one] = daemon_sets.driver_daemon_sets(policy(), NAMESPACE, {})
        assert one["metadata"]["name"] == "nvidia-driver-daemonset"
        assert len(one["spec"]["template"]["spec"]["containers"]) == 1

    def test_the_hash_follows_the_content(self) -> None:
        hashes = [
            daemon_sets.with_hash(daemon_set(**spec))["metadata"]["annotations"][daemon_sets.APPLIED]
            for spec in SPECS
        ]
        assert hashes[0] == hashes[1] != hashes[2]


class TestImages:
    @pytest.mark.parametrize(
        ("part", "image"),
        [
            ({}, "nvcr.io/nvidia/driver:595.91.07"),
            ({"repository": "r", "image": "driver", "version": "580.1"}, "r/driver:580.1"),
            ({"repository": "r", "image": "driver", "version": "sha256:ab"}, "r/driver@sha256:ab"),
            ({"image": "r/driver@sha256:cd"}, "r/driver@sha256:cd"),
        ],
    )
    def test_path(self, part: Object, image: str) -> None:
        assert daemon_sets.image_path(operands.DRIVER, part) == image

    @pytest.mark.parametrize(
        ("driver", "image"),
        [
            ({}, "r/driver@sha256:ab"),
            ({"repository": "r", "image": "driver", "version": "580.1"}, "r/driver:580.1"),
            ({"usePrecompiled": True}, "nvcr.io/nvidia/driver:595.91.07"),
        ],
    )
    def test_the_operators_own_driver_is_the_one_of_its_deployment(self, driver: Object, image: str) -> None:
        container = {
            "name": "gpu-operator",
            "env": [{"name": "X"}, {"name": "DRIVER_IMAGE", "value": "r/driver@sha256:ab"}],
        }
        made = daemon_sets.with_own_driver(
            policy(driver=driver), {"spec": {"template": {"spec": {"containers": [container]}}}}
        )
        assert daemon_sets.image_path(operands.DRIVER, made["spec"]["driver"]) == image
        assert daemon_sets.with_own_driver(made, {}) == made

    def test_a_lone_version_is_refused(self) -> None:
        with pytest.raises(
            daemon_sets.ImageError,
            match="invalid image specification: repository, image and version must all be set",
        ):
            daemon_sets.image_path(operands.DRIVER, {"version": "580.1"})
