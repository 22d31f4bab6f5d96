# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A colleague scales a pool's machine set with `oc scale`: no run fails, and the number stays."""

from __future__ import annotations

import typing as t

import pytest
from cluster import own
from integration.machines.living_pool import NAME, Pool
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

SCENARIO = "scaled-by-hand"
pytestmark = pytest.mark.story("one pool's life")


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pool]:
    with own(SCENARIO) as cluster:
        folder = tmp_path_factory.mktemp("scaled")
        made = Pool(cluster, Playbook(folder, cluster.kubeconfig))
        done = made.apply(keep_replicas=1)
        assert not done.failed, done.result
        until(lambda: len(made.nodes) == 2, "the second node, which the colleague asked for")
        yield made


@pytest.fixture
def audit(pool: Pool) -> Audit:
    assert pool.sandbox
    return Audit(pool.sandbox.directory / "audit.log", pool.client)


def cordoned(pool: Pool) -> list[str]:
    return [node["metadata"]["name"] for node in pool.nodes if node["spec"].get("unschedulable")]


def test_a_run_keeps_the_number_and_says_who_scaled(pool: Pool, audit: Audit) -> None:
    for check in (True, False):
        again = pool.apply(check=check)
        assert not again.failed, again.result
        assert (again.changed, audit.writes(again)) == (False, [])
        (warning,) = again["warnings"]
        for words in (f"{pool.set['metadata']['name']} to 2", "kubectl", f"pool {NAME} asks for 1", "take"):
            assert words in warning
    assert pool.is_tidy(2)


def test_other_changes_of_the_pool_go_through(pool: Pool) -> None:
    done = pool.apply(keep_labels={"team": "ml", "tier": "two"})
    assert not done.failed, done.result
    assert pool.is_tidy(2)
    again = pool.apply()
    assert (again.changed, len(again["warnings"])) == (False, 1)
    assert pool.is_tidy(2)


def test_a_write_that_is_refused_ends_before_a_node_is_cordoned(pool: Pool) -> None:
    """Another manager owns the template's taints, so the set cannot be written."""
    taints: t.Any = [{"key": "nvidia.com/gpu", "value": "b", "effect": "NoSchedule"}]
    spec = {"spec": {"template": {"spec": {"taints": taints}}}}
    name, labels = pool.set["metadata"]["name"], dict(pool.options["labels"])
    pool.client.patch("machine.openshift.io/v1beta1", "machinesets", name, "openshift-machine-api", spec)
    refused = pool.apply(on_scaled="take", labels={**labels, "tier": "three"})
    assert refused["code"] == "API-CONFLICT", refused.result
    assert "gpu_node_pool_adopt: take" in refused["remedy"]
    assert cordoned(pool) == []
    assert len(pool.nodes) == 2
    taints[0]["value"] = "a"
    pool.client.patch("machine.openshift.io/v1beta1", "machinesets", name, "openshift-machine-api", spec)


def test_resize_pool_takes_the_number_that_it_was_asked_for(pool: Pool) -> None:
    done = pool.resize(1)
    assert done.rc == 0, done.output[-4000:]
    assert "from 2 to 1" in " ".join(done.output.split())
    assert pool.is_tidy(1)
    again = pool.apply()
    assert (again.changed, again.result.get("warnings", [])) == (False, [])
