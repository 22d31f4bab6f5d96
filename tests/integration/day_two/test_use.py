# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_use on a cluster: it says why it cannot ask the monitoring API, and writes nothing."""

from __future__ import annotations

from cluster import Cluster
from integration.playbook import Playbook
from integration.wire import Audit


def test_a_cluster_without_monitoring_is_named(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    run = playbook.playbook("report_use")
    assert (run.failure["code"], audit.writes(*run.tasks)) == ("MON-API", [])
    assert "monitoring-shared-config" in run.failure["message"]


def test_a_wrong_number_is_refused(cluster: Cluster, playbook: Playbook) -> None:
    found = playbook.module("gpu_use", days=0)
    assert (found.failed, found.result["code"]) == (True, "INPUT-VALUE")
