# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bundle reads: no Secret, each list once, with rights that the playbook has."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._access import needs
from ansible_collections.accelerators.openshift.plugins.module_utils._access.needs import Need
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import seen
from ansible_collections.accelerators.openshift.plugins.module_utils._gather import plan
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Query

Data = dict[str, t.Any]
ROWS: t.Final = plan.rows(seen.GPU)


def pod(name: str, owner: str, *, ready: bool = True, **status: t.Any) -> Data:
    conditions = [{"type": "Ready", "status": str(ready)}]
    metadata = {"name": name, "ownerReferences": [{"uid": owner}]}
    return {"metadata": metadata, "status": {"conditions": conditions, **status}}


def test_no_secret_is_read_and_no_list_twice() -> None:
    assert "Secret" not in {row.query.kind.kind for row in ROWS}
    assert len({row.file for row in ROWS}) == len({row.query for row in ROWS}) == len(ROWS)


def test_the_rights_of_the_playbook_are_to_read_and_cover_what_it_reads() -> None:
    places = {place: list(found) for place, found in needs.NAMESPACES.items()}
    granted = {*needs.of("must_gather", (), places, ()).useful}
    assert needs.of("must_gather", (), places, ()).needed == []
    assert {need.verb for need in granted} == {"get", "list"}
    assert "secrets" not in {need.resource for need in granted}
    queries = [row.query for row in ROWS]
    assert [query for query in queries if not rights(query) & granted] == []


def rights(query: Query) -> set[Need]:
    """Return the rights of which one is enough."""
    kind = query.kind
    places = {query.namespace or needs.CLUSTER, needs.CLUSTER}
    return {Need("list", kind.group, kind.plural, place) for place in places}


def test_a_namespace_of_the_user_is_read() -> None:
    own = [row for row in plan.rows("my-gpus") if row.place == plan.GPU]
    assert {row.query.namespace for row in own} == {"my-gpus"}
    assert {row.file for row in own} >= {"gpu_operand_pods", "gpu_operand_ds", "gpu_events"}


def test_of_each_owner_a_broken_pod_and_a_healthy_one_come_first() -> None:
    pods = [pod(f"a{number}", "a") for number in range(50)]
    pods += [
        pod("a-broken", "a", ready=False),
        pod("b", "b"),
        pod("done", "c", ready=False, phase="Succeeded"),
    ]
    found = [one["metadata"]["name"] for one in plan.worth_reading(pods)]
    assert found[:4] == ["a-broken", "a0", "b", "done"]
    assert len(found) == 30


def test_a_container_that_never_ran_has_no_log_and_one_that_ended_has_two() -> None:
    ended = {"terminated": {"exitCode": 1}}
    init = [{"name": "i", "state": ended}]
    main = [
        {"name": "new", "state": {"waiting": {"reason": "PodInitializing"}}},
        {"name": "crashed", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended},
        {"name": "runs", "state": {"running": {}}},
    ]
    status = {"initContainerStatuses": init, "containerStatuses": main}
    broken = plan.logs_of(pod("p", "o", ready=False, **status))
    assert broken == [("i", False), ("crashed", False), ("crashed", True), ("runs", False)]
    init[0] = {"name": "i", "state": {"terminated": {"exitCode": 0}}}
    healthy = plan.logs_of(pod("p", "o", containerStatuses=main[2:], initContainerStatuses=init))
    assert healthy == [("runs", False)]
