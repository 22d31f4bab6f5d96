# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the PrometheusRule."""

from __future__ import annotations

from unit.monitoring.builders import POOL

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import alerts, metrics, rules
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.alerts import Limits

ALL = alerts.alerts(Limits())


def test_the_memory_is_recorded_in_bytes() -> None:
    """The GPU operator records percent of the bandwidth as used bytes, and nothing as the total."""
    found = {one["record"]: one["expr"] for one in rules.recorded()}
    assert "(DCGM_FI_DEV_FB_USED * 1048576," in found[rules.USED]
    assert metrics.used(found[rules.TOTAL]) == {
        *("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED")
    }
    assert not [name for name in found if name.startswith("accelerator_")], (
        "two rules would record one series"
    )


def test_what_is_recorded_reads_metrics_that_are_collected() -> None:
    read = {name for one in rules.recorded() for name in metrics.used(one["expr"])}
    assert read <= metrics.COLLECTED.keys()


def test_each_pool_says_what_its_nodes_have_to_offer() -> None:
    (rule,) = rules.expected([POOL])
    assert rule == {
        "record": alerts.EXPECTED,
        "expr": 'max by (node) (kube_node_labels{label_accelerators_openshift_pool="training"}) * 8',
        "labels": {"pool": "training", "resource": "nvidia_com_gpu"},
    }


def test_a_value_is_quoted() -> None:
    (rule,) = rules.expected([{**POOL, "node_selector": {"a/b": 'x"y'}}])
    assert 'label_a_b="x\\"y"' in rule["expr"]


def test_a_pool_without_nodes_to_select_or_devices_has_no_rule() -> None:
    assert rules.expected([{**POOL, "node_selector": {}}, {**POOL, "expected": {}}]) == []


def test_there_is_a_group_for_what_is_recorded_and_one_for_the_alerts() -> None:
    found = rules.groups(ALL, [POOL])
    assert [group["name"].rpartition(".")[2] for group in found] == ["gpus", "pools", "alerts"]
    assert [rule["alert"] for rule in found[-1]["rules"]] == [one.name for one in ALL]


def test_without_rules_there_is_no_empty_group() -> None:
    assert [group["name"] for group in rules.groups([], [])] == ["accelerators-openshift.gpus"]


def test_an_alert_about_gpus_alone_reads_what_the_exporter_has() -> None:
    """The Prometheus of user workload has no other metrics."""
    alone = [one for one in ALL if not one.reads_cluster]
    assert [one.name for one in alone] == [one.name for one in ALL[:8]]
    assert all("kube_" not in one.expression and alerts.EXPECTED not in one.expression for one in alone)
