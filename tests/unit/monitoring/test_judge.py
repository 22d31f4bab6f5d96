# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cluster has, and why the monitoring cannot be set up."""

from __future__ import annotations

import pytest
from unit.monitoring.builders import SPACE, monitor, policy, settings

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ConflictError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import judge, manifest


def test_the_oldest_policy_counts() -> None:
    old, new = policy(), policy()
    old["metadata"] |= {"name": "b", "creationTimestamp": "2026-01-01T00:00:00Z"}
    new["metadata"] |= {"name": "a", "creationTimestamp": "2026-02-01T00:00:00Z"}
    assert judge.stack([new, old], []) == old
    assert judge.stack([], []) is None


def test_our_own_service_monitor_is_none_of_others() -> None:
    ours = manifest.service_monitor(SPACE)
    assert judge.scraper([ours]) is None
    assert judge.scraper([ours, monitor("theirs")]) == monitor("theirs")


@pytest.mark.parametrize(
    ("text", "is_on"),
    [
        ("enableUserWorkload: true\n", True),
        ("prometheusK8s: {}\nenableUserWorkload: true # for teams\n", True),
        ("enableUserWorkload: false\n", False),
        ("# enableUserWorkload: true\n", False),
        ("prometheusK8s:\n  enableUserWorkload: true\n", False),
        ("", False),
    ],
)
def test_monitoring_of_user_workload(text: str, is_on: bool) -> None:
    assert judge.has_user_workload(settings(text)) is is_on


def test_without_settings_monitoring_of_user_workload_is_off() -> None:
    assert not judge.has_user_workload(None)


def test_a_copy_of_others_is_not_overwritten() -> None:
    wanted = manifest.metric_list(SPACE, "")
    with pytest.raises(AcceleratorError) as raised:
        judge.refuse_foreign(wanted, wanted, "report")
    assert raised.value.code == "MON-FOREIGN"
    assert f"ConfigMap {SPACE}/{manifest.NAME}" in raised.value.message
    judge.refuse_foreign(wanted, wanted, "take")
    judge.refuse_foreign(None, wanted, "report")


def test_what_somebody_edited_is_named_with_both_values() -> None:
    wanted = manifest.metric_list(SPACE, "ours")
    live = manifest.metric_list(SPACE, "theirs")
    entry = {
        "manager": "kubectl-edit",
        "operation": "Update",
        "fieldsV1": {"f:data": {"f:dcgm-metrics.csv": {}}},
    }
    live["metadata"] |= {"labels": dict(MANAGED_BY), "managedFields": [entry]}
    with pytest.raises(ConflictError) as raised:
        judge.refuse_foreign(live, wanted, "report")
    assert "kubectl-edit" in raised.value.message
    assert "gpu_monitoring_adopt: take" in raised.value.remedy
