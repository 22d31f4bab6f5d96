# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which operands a ClusterPolicy switches on, and what the operator makes besides DaemonSets."""

from __future__ import annotations

import pytest
from unit.sandbox.gpu_operator.builders import BY_NAME, NAMESPACE, Object, policy

from openshift_sandbox.stand_ins.gpu_operator import assets, daemon_sets, operands
from openshift_sandbox.stand_ins.gpu_operator.rules import facts, turns


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
    scraped = policy(dcgmExporter={"serviceMonitor": {"enabled": True}})
    made = [obj for state in assets.STATES for obj in assets.assets(state, scraped, NAMESPACE)]
    assert all(obj["metadata"]["ownerReferences"][0]["uid"] == "u1" for obj in made)
    kinds = [obj["kind"] for obj in made]
    assert (kinds.count("RuntimeClass"), kinds.count("ServiceMonitor"), kinds.count("PrometheusRule")) == (
        3,
        3,
        3,
    )


@pytest.mark.parametrize(
    ("exporter", "monitors"),
    [({}, 0), ({"serviceMonitor": {"enabled": False}}, 0), ({"serviceMonitor": {"enabled": True}}, 1)],
)
def test_the_exporter_is_scraped_where_the_policy_asks_for_it(exporter: Object, monitors: int) -> None:
    made = assets.assets("state-dcgm-exporter", policy(dcgmExporter=exporter), NAMESPACE)
    kinds = [obj["kind"] for obj in made]
    assert (kinds.count("ServiceMonitor"), kinds.count("Service")) == (monitors, 1)


def test_the_config_maps_of_the_mig_manager_are_made_unless_the_policy_names_others() -> None:
    def made(**spec: Object) -> list[str]:
        found = assets.assets("state-mig-manager", policy(**spec), NAMESPACE)
        return [obj["metadata"]["name"] for obj in found if obj["kind"] == "ConfigMap"]

    assert made() == ["default-mig-parted-config", "default-gpu-clients"]
    assert made(migManager={"config": {"name": "ours"}}) == ["default-gpu-clients"]
    assert made(migManager={"gpuClientsConfig": {"name": "ours"}}) == ["default-mig-parted-config"]


class TestOperator:
    def test_the_oldest_policy_counts(self) -> None:
        older, newer = policy(), policy()
        newer["metadata"] = {"name": "a", "creationTimestamp": "2026-01-02T00:00:00Z"}
        assert turns.active([newer, older]) is older
        assert turns.active([]) is None

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
        assert facts.completed_version({"status": {"history": history}}) == version

    def test_toolkit_images_of_the_versions_on_gpu_nodes(self) -> None:
        labels = {"nvidia.com/gpu.present": "true", daemon_sets.OSTREE: "9.8.1"}
        nodes = [
            {"metadata": {"labels": labels}},
            {"metadata": {"labels": {daemon_sets.OSTREE: "9.8.0"}}},
        ]
        stream = {"spec": {"tags": [{"name": "9.8.1", "from": {"name": "dtk:1"}}]}}
        assert facts.toolkit_images(stream, nodes) == {"9.8.1": "dtk:1"}
        assert facts.toolkit_images({"spec": {}}, nodes) == {"9.8.1": None}
        assert facts.toolkit_images(None, nodes) == {}
