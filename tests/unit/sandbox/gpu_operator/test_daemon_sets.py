# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU operator's DaemonSets and their images."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.gpu_operator.builders import RELEASE, Object, daemon_set, policy

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
        pod = daemon_sets.daemon_set(operand, policy(), RELEASE)["spec"]["template"]["spec"]
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
        found = daemon_sets.driver_daemon_sets(policy(), RELEASE, {"9.8.1": "dtk:1", "9.8.2": None})
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

    def test_options_add_containers_to_the_driver(self) -> None:
        on = {"enabled": True}
        spec = {"driver": {"rdma": on}, "gds": on | {"image": "r/fs:1"}, "gdrcopy": on}
        (made,) = daemon_sets.driver_daemon_sets(policy(**spec), RELEASE, {})
        containers = made["spec"]["template"]["spec"]["containers"]
        assert {one["name"]: one["image"] for one in containers} == {
            "nvidia-driver-ctr": RELEASE.images["DRIVER_IMAGE"],
            "nvidia-peermem-ctr": RELEASE.images["DRIVER_IMAGE"],
            "nvidia-fs-ctr": "r/fs:1",
            "nvidia-gdrcopy-ctr": RELEASE.images["GDRCOPY_IMAGE"],
        }

    def test_a_driver_with_a_tag_has_the_system_at_its_end(self) -> None:
        driver = {"repository": "r", "image": "driver", "version": "580.1", "rdma": {"enabled": True}}
        (made,) = daemon_sets.driver_daemon_sets(policy(driver=driver), RELEASE, {}, "rhcos4.22")
        containers = made["spec"]["template"]["spec"]["containers"]
        assert [one["image"] for one in containers] == ["r/driver:580.1-rhcos4.22"] * 2

    def test_without_the_image_stream_there_is_a_plain_driver(self) -> None:
        [one] = daemon_sets.driver_daemon_sets(policy(), RELEASE, {})
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
            ({}, RELEASE.images["DRIVER_IMAGE"]),
            ({"repository": "r", "image": "driver", "version": "580.1"}, "r/driver:580.1"),
            ({"repository": "r", "image": "driver", "version": "sha256:ab"}, "r/driver@sha256:ab"),
            ({"image": "r/driver@sha256:cd"}, "r/driver@sha256:cd"),
        ],
    )
    def test_path(self, part: Object, image: str) -> None:
        assert daemon_sets.image_path("DRIVER_IMAGE", part, RELEASE.images) == image

    @pytest.mark.parametrize("operand", operands.OPERANDS, ids=lambda one: str(one.name))
    def test_every_operand_has_the_image_of_the_operators_env(self, operand: operands.Operand) -> None:
        pod = daemon_sets.daemon_set(operand, policy(), RELEASE)["spec"]["template"]["spec"]
        assert {one["image"] for one in pod["containers"]} == {RELEASE.images[operand.image]}
        assert "@sha256:" in RELEASE.images[operand.image] or operand.image == "VALIDATOR_IMAGE"

    def test_init_containers_have_images_of_their_own(self) -> None:
        manager = {"repository": "r", "image": "manager", "version": "v1", "env": [{"name": "A"}]}
        for driver, image in (
            ({}, RELEASE.images["DRIVER_MANAGER_IMAGE"]),
            ({"manager": manager}, "r/manager:v1"),
        ):
            made = daemon_set("nvidia-driver-daemonset", driver=driver)
            (found,) = made["spec"]["template"]["spec"]["initContainers"]
            assert (found["image"], found.get("env")) == (image, manager["env"] if driver else None)
        (validation,) = daemon_set("nvidia-dcgm")["spec"]["template"]["spec"]["initContainers"]
        assert validation["image"] == RELEASE.images["VALIDATOR_IMAGE"]

    def test_an_operator_without_the_image_fails(self) -> None:
        with pytest.raises(
            daemon_sets.ImageError,
            match="empty image path provided through both ClusterPolicy CR and ENV DCGM_IMAGE",
        ):
            daemon_sets.image_path("DCGM_IMAGE", {}, {})

    def test_a_lone_version_is_refused(self) -> None:
        with pytest.raises(
            daemon_sets.ImageError,
            match="invalid image specification: repository, image and version must all be set",
        ):
            daemon_sets.image_path("DRIVER_IMAGE", {"version": "580.1"}, RELEASE.images)
