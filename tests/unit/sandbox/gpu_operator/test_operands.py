# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU operator's stand-in makes, labels and judges: pure functions, against what the real operator was seen to do."""

from __future__ import annotations

import datetime
import typing as t

import pytest

from openshift_sandbox.stand_ins.gpu_operator import (
    assets,
    daemon_sets,
    driver_upgrade,
    operands,
    operator,
    readiness,
)
from openshift_sandbox.stand_ins.gpu_operator import labels as gpu_labels

Object = dict[str, t.Any]

NAMESPACE = "nvidia-gpu-operator"
PCI = "feature.node.kubernetes.io/pci-0302_10de.present"
BY_NAME = {operand.name: operand for operand in operands.OPERANDS}


def policy(**spec: t.Any) -> Object:
    return {
        "metadata": {"name": "gpu-cluster-policy", "uid": "u1", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": spec,
    }


def daemon_set(name: str = "nvidia-dcgm", **spec: t.Any) -> Object:
    return daemon_sets.daemon_set(BY_NAME[name], policy(**spec), NAMESPACE)


def status(wanted: int, available: int, updated: int | None = None, **more: int) -> Object:
    counts = {
        "desiredNumberScheduled": wanted,
        "numberAvailable": available,
        "updatedNumberScheduled": wanted if updated is None else updated,
    }
    return {"observedGeneration": 1, "numberUnavailable": wanted - available} | counts | more


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
            for spec in ({}, {}, {"dcgm": {"env": [1]}})
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


@pytest.mark.parametrize(
    ("name", "spec", "enabled"),
    [
        ("nvidia-dcgm", {}, True),
        ("nvidia-dcgm", {"dcgm": {"enabled": False}}, False),
        ("nvidia-node-status-exporter", {}, False),
        ("nvidia-driver-daemonset", {"driver": {"useNvidiaDriverCRD": True}}, False),
    ],
)
def test_what_is_switched_on(name: str, spec: Object, enabled: bool) -> None:
    assert operands.enabled(BY_NAME[name], spec) is enabled


def test_every_asset_goes_with_its_policy() -> None:
    made = [obj for state in assets.STATES for obj in assets.assets(state, policy(), NAMESPACE)]
    assert all(obj["metadata"]["ownerReferences"][0]["uid"] == "u1" for obj in made)
    kinds = [obj["kind"] for obj in made]
    assert (kinds.count("RuntimeClass"), kinds.count("ServiceMonitor"), kinds.count("PrometheusRule")) == (
        3,
        3,
        3,
    )


class TestNodeLabels:
    def test_a_gpu_node_gets_all_of_them(self) -> None:
        changes = gpu_labels.label_changes({PCI: "true"})
        assert changes.pop("nvidia.com/gpu.present") == "true"
        assert sorted(key.removeprefix("nvidia.com/gpu.deploy.") for key in changes) == [
            "client",
            "container-toolkit",
            "dcgm",
            "dcgm-exporter",
            "device-plugin",
            "driver",
            "gpu-feature-discovery",
            "node-status-exporter",
            "operator-validator",
        ]

    @pytest.mark.parametrize(
        ("labels", "changes"),
        [
            ({}, {}),
            ({"nvidia.com/gpu.present": "true"}, {"nvidia.com/gpu.present": "false"}),
            (
                {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.deploy.driver": "true"},
                {"nvidia.com/gpu.present": "false", "nvidia.com/gpu.deploy.driver": None},
            ),
        ],
    )
    def test_no_gpu_here(self, labels: dict[str, str], changes: Object) -> None:
        assert gpu_labels.label_changes(labels) == changes

    def test_a_value_that_is_there_is_honoured(self) -> None:
        assert "nvidia.com/gpu.deploy.dcgm" not in gpu_labels.label_changes(
            {PCI: "true", "nvidia.com/gpu.deploy.dcgm": "false"}
        )

    def test_a_node_can_opt_out(self) -> None:
        labels = {
            PCI: "true",
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.deploy.operands": "false",
            "nvidia.com/gpu.deploy.driver": "true",
        }
        assert gpu_labels.label_changes(labels) == {"nvidia.com/gpu.deploy.driver": None}

    @pytest.mark.parametrize(
        ("labels", "capable"),
        [
            ({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}, True),
            ({"nvidia.com/mig.capable": "false", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}, False),
            ({"nvidia.com/gpu.product": "Tesla-T4"}, False),
        ],
    )
    def test_mig_manager_only_where_it_can_do_something(self, labels: dict[str, str], capable: bool) -> None:
        assert (gpu_labels.MIG_MANAGER in gpu_labels.label_changes({PCI: "true"} | labels)) is capable


class TestReadiness:
    @pytest.mark.parametrize(
        ("found", "ready"),
        [
            (status(0, 0), True),
            (status(2, 2), True),
            (status(2, 1), False),
            (status(2, 2, updated=1), False),
            (status(2, 2, observedGeneration=0), False),
            ({}, False),
        ],
    )
    def test_of_a_rolling_daemon_set(self, found: Object, ready: bool) -> None:
        live = daemon_set()
        live["metadata"]["generation"] = 1
        assert readiness.daemon_set_ready(live | {"status": found}) is ready

    @pytest.mark.parametrize(("revision", "ready"), [("new", True), ("newer", False)])
    def test_of_a_driver_whose_pods_are_of_a_revision(self, revision: str, ready: bool) -> None:
        pod = {
            "metadata": {"labels": {"controller-revision-hash": "new"}},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        live = daemon_set("nvidia-driver-daemonset") | {"status": status(1, 1)}
        assert readiness.daemon_set_ready(live, [pod], revision) is ready

    def test_message_names_the_states_in_order(self) -> None:
        verdict = readiness.operands_not_ready(["state-driver", "state-dcgm"])
        assert verdict["Error"] == (
            "True",
            "OperandNotReady",
            "ClusterPolicy is not ready; states not ready: [state-driver state-dcgm]",
        )
        assert verdict["Ready"] == ("False", "Error", "")

    def test_a_transition_keeps_its_time_while_the_status_stays(self) -> None:
        first = readiness.status(
            readiness.operands_not_ready(["a"]),
            {},
            NAMESPACE,
            datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        )
        later = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
        second = readiness.status(readiness.operands_not_ready(["b"]), first, NAMESPACE, later)
        third = readiness.status(readiness.ready(readiness.RECONCILED), second, NAMESPACE, later)
        times = [
            [one["lastTransitionTime"][:10] for one in found["conditions"]]
            for found in (first, second, third)
        ]
        assert times == [["2026-01-01"] * 2, ["2026-01-01"] * 2, ["2026-01-02"] * 2]

    def test_newest_revision(self) -> None:
        live = {"metadata": {"name": "ds", "uid": "u"}}
        revisions = [
            {"metadata": {"name": f"ds-{name}", "ownerReferences": [{"uid": uid}]}, "revision": number}
            for name, uid, number in (("a", "u", 1), ("b", "u", 2), ("c", "x", 3))
        ]
        assert readiness.latest_revision(revisions, live) == "b"
        assert readiness.latest_revision([], live) is None


class TestOperator:
    def test_the_oldest_policy_counts(self) -> None:
        older, newer = policy(), policy()
        newer["metadata"] = {"name": "a", "creationTimestamp": "2026-01-02T00:00:00Z"}
        assert operator.active([newer, older]) is older
        assert operator.active([]) is None

    @pytest.mark.parametrize(
        ("history", "version"),
        [
            ([], None),
            (
                [{"state": "Partial", "version": "4.22.6"}, {"state": "Completed", "version": "4.22.5"}],
                "4.22.5",
            ),
        ],
    )
    def test_completed_version(self, history: list[Object], version: str | None) -> None:
        assert operator.completed_version({"status": {"history": history}}) == version

    def test_toolkit_images_of_the_versions_on_gpu_nodes(self) -> None:
        labels = {"nvidia.com/gpu.present": "true", daemon_sets.OSTREE: "9.8.1"}
        nodes = [
            {"metadata": {"labels": labels}},
            {"metadata": {"labels": {daemon_sets.OSTREE: "9.8.0"}}},
        ]
        stream = {"spec": {"tags": [{"name": "9.8.1", "from": {"name": "dtk:1"}}]}}
        assert operator.toolkit_images(stream, nodes) == {"9.8.1": "dtk:1"}
        assert operator.toolkit_images({"spec": {}}, nodes) == {"9.8.1": None}
        assert operator.toolkit_images(None, nodes) == {}


class TestUpgrade:
    @pytest.mark.parametrize(
        ("rules", "states", "unavailable", "free"),
        [
            ({}, ["upgrade-required"] * 8, 0, 1),
            ({"maxParallelUpgrades": 0, "maxUnavailable": "100%"}, ["upgrade-required"] * 8, 0, 8),
            ({"maxParallelUpgrades": 3}, ["upgrade-required"] * 8, 1, 1),
            ({}, ["upgrade-required", "pod-restart-required"], 1, 0),
            ({"maxParallelUpgrades": 4, "maxUnavailable": 2}, ["upgrade-required"] * 8, 0, 2),
        ],
    )
    def test_slots(self, rules: Object, states: list[str], unavailable: int, free: int) -> None:
        assert driver_upgrade.slots(rules, states, unavailable) == free

    @pytest.mark.parametrize(
        ("state", "stale", "ready", "following"),
        [
            ("", False, True, "upgrade-done"),
            ("", False, False, ""),
            ("upgrade-done", True, True, "upgrade-required"),
            ("cordon-required", True, True, "wait-for-jobs-required"),
            ("wait-for-jobs-required", True, True, "pod-deletion-required"),
            ("pod-restart-required", True, True, "pod-restart-required"),
            ("pod-restart-required", False, False, "pod-restart-required"),
            ("pod-restart-required", False, True, "uncordon-required"),
            ("uncordon-required", False, True, "upgrade-done"),
            ("upgrade-failed", True, True, "upgrade-failed"),
        ],
    )
    def test_label_after_label(self, state: str, stale: bool, ready: bool, following: str) -> None:
        assert driver_upgrade.after(state, stale, ready) == following
