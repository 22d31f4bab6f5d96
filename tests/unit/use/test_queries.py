# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The queries of the use report."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import metrics
from ansible_collections.accelerators.openshift.plugins.module_utils._use import queries

HOURS = (queries.THERE, queries.BUSY, queries.COVERED, queries.idle(1))


@pytest.mark.parametrize("query", HOURS)
def test_the_exporter_collects_what_a_query_reads_without_a_list_of_ours(query: str) -> None:
    ours = list(metrics.COLLECTED).index("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL")
    assert metrics.used(query) <= set(list(metrics.COLLECTED)[:ours])


def test_a_gpu_below_the_limit_is_idle() -> None:
    assert "< bool 0.01)" in queries.idle(1)
    assert "< bool 0.5)" in queries.idle(50)


def test_owners_are_asked_for_the_namespaces_alone() -> None:
    query = queries.PODS.query(["a", "b"], 7)
    assert 'kube_pod_owner{namespace=~"a|b", owner_is_controller!="false"}[7d]' in query
    assert "by (namespace, pod, owner_kind, owner_name)" in query


def test_many_namespaces_become_several_queries() -> None:
    parts = queries.in_parts(f"team-{number:03}" for number in range(120))
    assert [len(part) for part in parts] == [50, 50, 20]
    assert (parts[0][0], parts[-1][-1]) == ("team-000", "team-119")


@pytest.mark.parametrize("now", [1_700_000_000.0, 1_700_000_099.9, 1_700_000_100.0])
def test_no_window_ends_at_a_look(now: float) -> None:
    first, last = queries.windows(now, 7)
    assert last - first == 6 * queries.DAY
    assert last % queries.STEP == queries.STEP / 2
    assert 0 <= now - last <= 2 * queries.STEP
