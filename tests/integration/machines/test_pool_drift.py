# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A live pool gets other labels, taints and disks: the module replaces machines only on request."""

from __future__ import annotations

import threading
import typing as t
from pathlib import Path

import pytest
from integration.killed import kill
from integration.machines.living_pool import SPACE, TAINT, Pool, labels_of, served, working
from integration.patience import SECONDS, until
from integration.wire import Audit

pytestmark = pytest.mark.story("one pool's life")


def test_labels_and_taints_reach_machines_and_nodes_and_leave_them(pool: Pool, audit: Audit) -> None:
    first = min(pool.names)
    pool.client.patch("v1", "nodes", first, None, {"metadata": {"labels": {"mine": "x"}}})
    assert all(labels_of(node).get("node-role.kubernetes.io/gpu") == "" for node in pool.nodes)
    options: dict[str, t.Any] = {"labels": {"team": "ai"}, "taints": [TAINT | {"value": "b"}]}
    foreseen = pool.apply(check=True, **options)
    assert foreseen.changed
    assert audit.writes(foreseen) == []
    done = pool.apply(**{f"keep_{key}": value for key, value in options.items()})
    assert done.changed, done.result
    fields = {one["field"]: (one["live"], one["wanted"]) for one in done["drift"]}
    assert fields == {
        "labels.team": ("ml", "ai"),
        "labels.tier": ("one", None),
        "taints.nvidia.com/gpu:NoSchedule": ("a", "b"),
    }
    for machine in pool.machines:
        assert "tier" not in machine["spec"]["metadata"]["labels"]
        assert machine["spec"]["taints"] == options["taints"]
    for node in pool.nodes:
        assert (labels_of(node).get("team"), labels_of(node).get("tier")) == ("ai", None)
        assert [one for one in node["spec"]["taints"] if one["key"] == TAINT["key"]] == options["taints"]
    assert labels_of(next(node for node in pool.nodes if node["metadata"]["name"] == first))["mine"] == "x"
    again = pool.apply()
    assert (again.changed, again["drift"], audit.writes(again)) == (False, [], [])


def test_what_differs_is_told_and_nothing_is_written(pool: Pool, audit: Audit) -> None:
    told = pool.apply(on_change="report", disk={"size_gib": 200})
    assert (told.changed, audit.writes(told)) == (False, [])
    assert [(one["field"], one["live"], one["wanted"], len(one["machines"])) for one in told["drift"]] == [
        ("providerSpec.blockDevices[0].ebs.volumeSize", 120, 200, 2)
    ]
    assert "on_change: report" in " ".join(told["warnings"])


def test_new_machines_get_it(pool: Pool, audit: Audit) -> None:
    done = pool.apply(keep_disk={"size_gib": 200})
    assert done.changed
    assert (
        pool.set["spec"]["template"]["spec"]["providerSpec"]["value"]["blockDevices"][0]["ebs"]["volumeSize"]
        == 200
    )
    assert pool.disks == [120, 120]
    again = pool.apply()
    assert (again.changed, audit.writes(again)) == (False, [])
    assert [len(one["machines"]) for one in again["drift"]] == [2]


def test_a_replacement_is_refused_while_a_node_works(pool: Pool, audit: Audit) -> None:
    busy = max(pool.names)
    with working(pool, "job", busy):
        again = pool.apply()
        assert (again.failed, again.changed, audit.writes(again)) == (False, False, [])
        refused = pool.apply(on_change="replace")
        assert (refused["code"], refused["layer"]) == ("NODE-BUSY", "node")
        assert f"{SPACE}/job" in refused["message"]
        assert busy in refused["message"]
        assert "on_busy" in refused["remedy"]
        assert audit.writes(refused) == []
    assert pool.is_tidy(2)


def test_every_machine_is_replaced_and_a_budget_is_kept_to(pool: Pool, audit: Audit) -> None:
    """Block the first drain by a PodDisruptionBudget, then relax the budget while the drain waits."""
    before = pool.names
    with served(pool, minimum=2):
        foreseen = pool.apply(check=True, on_change="replace")
        assert foreseen.changed, foreseen.result
        assert audit.writes(foreseen) == []
        seen: list[bool] = []

        def yields() -> None:
            until(
                lambda: [node for node in pool.nodes if node["spec"].get("unschedulable")], "a cordoned node"
            )
            seen.append(len(pool.machines) == 3)
            pool.client.patch(
                "policy/v1", "poddisruptionbudgets", "served", SPACE, {"spec": {"minAvailable": 1}}
            )

        colleague = threading.Thread(target=yields)
        colleague.start()
        done = pool.apply(on_change="replace")
        colleague.join(SECONDS)
        assert not done.failed, done.result
        assert seen == [True]
    assert {one["node"] for one in done["replaced"]} == before
    assert before & pool.names == set()
    assert pool.disks == [200, 200]
    assert pool.is_tidy(2)
    evictions = [line for line in audit.writes(done) if line.startswith("create pods")]
    assert len(evictions) >= 2, audit.writes(done)
    again = pool.apply(on_change="replace")
    assert (again.changed, again["replaced"], audit.writes(again)) == (False, [], [])


def test_a_budget_that_never_yields_is_named(pool: Pool) -> None:
    with served(pool, minimum=2):
        late = pool.apply(keep_disk={"size_gib": 210}, on_change="replace", wait_timeout=12)
        assert late["code"] == "NODE-PDB", late.result
        assert f"{SPACE}/served-" in late["message"]
        assert "served" in late["message"]
        assert "disruption budget" in late["message"]
        assert len(pool.machines) == 3
    done = pool.apply()
    assert not done.failed, done.result
    assert pool.is_tidy(2)
    assert sorted(pool.disks) == [200, 210]
    assert len(done["replaced"]) == 1


def test_killed_in_the_middle(pool: Pool, tmp_path: Path) -> None:
    """Kill the task with SIGKILL while a drain waits; the next run completes the replacement."""
    pool.options["disk"] = {"size_gib": 220}
    with served(pool, minimum=2):
        kill(
            pool.playbook,
            tmp_path,
            lambda: [node for node in pool.nodes if node["spec"].get("unschedulable")],
            "gpu_machineset",
            **pool.options,
            on_change="replace",
        )
        assert len(pool.machines) == 3
        assert not pool.is_tidy(2)
    done = pool.apply(on_change="replace")
    assert not done.failed, done.result
    assert pool.is_tidy(2)
    assert pool.disks == [220, 220]
