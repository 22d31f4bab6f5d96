# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain Kubernetes without OpenShift and OLM: what needs them fails with a remedy."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from integration.playbook import Playbook
from integration.wire import Audit

SCENARIO: t.Final = "no-olm"
TOLERATION: t.Final = {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}
DRIVER: t.Final = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07"}


@pytest.mark.parametrize("check", [True, False])
def test_the_gpu_operator_is_refused_with_the_charts_values(
    check: bool, playbook: Playbook, audit: Audit
) -> None:
    policy = playbook.module(
        "special_resource", check=check, mig={"strategy": "mixed"}, tolerations=[TOLERATION], driver=DRIVER
    )
    operator = playbook.module(
        "olm_operator", check=check, name="gpu-operator-certified", namespace="nvidia-gpu-operator"
    )
    assert policy["code"] == operator["code"] == "OLM-ABSENT"
    assert "is not OpenShift" in policy["message"]
    assert "helm upgrade --install gpu-operator nvidia/gpu-operator" in policy["remedy"]
    values = yaml.safe_load(policy["helm_values"])
    assert values["driver"] == DRIVER
    assert values["mig"] == {"strategy": "mixed"}
    assert TOLERATION in values["daemonsets"]["tolerations"]
    assert TOLERATION in values["node-feature-discovery"]["worker"]["tolerations"]
    assert yaml.safe_load(operator["helm_values"]) == {
        "dcgm": {"enabled": True},
        "nodeStatusExporter": {"enabled": True},
    }
    assert audit.writes(policy, operator) == []


def test_another_operator_is_refused_without_values(playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("olm_operator", name="nfd", namespace="openshift-nfd")
    absent = playbook.module("olm_operator", name="nfd", namespace="openshift-nfd", state="absent")
    part = playbook.module("olm_operator", name="node-tuning", namespace="anywhere")
    assert (task["code"], "helm_values" in task.result) == ("OLM-ABSENT", False)
    assert (absent.failed, absent.changed) == (False, False)
    assert part["code"] == "API-KIND-NOT-SERVED"
    assert audit.writes(task, absent, part) == []
