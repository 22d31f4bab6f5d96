# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer metrics: whether the monitoring of the cluster sees the exporter."""

from __future__ import annotations

from unit.diagnosis.seen_builders import GPU, NOW, Object, obj, seen, without

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import metrics
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen, Trouble

LABEL = "openshift.io/cluster-monitoring"


def judged(found: Seen) -> list[Trouble]:
    return list(metrics.judge(found))


def the(found: Seen) -> Trouble:
    (trouble,) = judged(found)
    return trouble


def unlabelled() -> list[Object]:
    return [obj(GPU)]


def test_a_cluster_that_works() -> None:
    assert judged(seen()) == []
    assert metrics.more(seen()) == {}


def test_the_namespace_lacks_its_label() -> None:
    trouble = the(seen(namespaces=unlabelled()))
    assert trouble.code == "MON-UNSEEN"
    assert f"namespace {GPU} lacks the label {LABEL}=true" in trouble.message
    assert trouble.remedy == f"Run `oc label namespace {GPU} {LABEL}=true --overwrite`."


def test_no_service_monitor() -> None:
    trouble = the(seen(monitors=[]))
    assert "no ServiceMonitor in namespace" in trouble.message
    assert "monitor_gpus.yml" in trouble.remedy


def test_our_own_service_monitor_is_one() -> None:
    assert judged(seen(monitors=[obj("accelerators-openshift-gpus", GPU)])) == []


def test_the_prometheus_of_user_workload_needs_no_label() -> None:
    found = seen(namespaces=unlabelled())
    assert [*metrics.more(found)] == ["monitoring"]
    found.objects["monitoring"] = [{"data": {"config.yaml": "enableUserWorkload: true\n"}}]
    assert judged(found) == []


def test_a_new_stack_is_in_progress() -> None:
    found = seen(monitors=[])
    found.objects["policies"][0]["metadata"]["creationTimestamp"] = NOW
    assert the(found).is_busy


def test_nothing_is_missed_without_nodes_exporter_or_monitoring() -> None:
    off = seen(monitors=[])
    off.objects["policies"][0]["spec"]["dcgmExporter"] = {"enabled": False}
    assert judged(off) == []
    assert judged(seen(monitors=[], nodes=[])) == []
    assert judged(without(seen(), "monitors")) == []
