# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools on bare metal: the module counts free hosts first; removing the pool frees its hosts."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from integration.patience import until
from integration.platforms.pools import NAMESPACE, Data, Pools
from integration.playbook import ROOT, TaskResult

SCENARIO: t.Final = "baremetal"
HOSTS: t.Final = "baremetalhosts.metal3.io"
EXAMPLE: t.Final[list[Data]] = yaml.safe_load((ROOT / "examples/baremetal.yml").read_text())["gpu_pools"]
POOL: t.Final[Data] = EXAMPLE[0]
SET: t.Final = "demo-x7k2p-training"
H100: t.Final = {key: value for key, value in POOL["candidates"][0].items() if key != "baremetal"}
L40S: t.Final = {
    "instance_type": "l40s-server",
    "gpus": 4,
    "gpu_model": "L40S",
    "baremetal": {"host_selector": {"gpu": "l40s"}},
}


def hosts(pools: Pools) -> dict[str, Data]:
    return {
        one["metadata"]["name"]: one
        for one in pools.client.list("metal3.io/v1alpha1", "baremetalhosts", NAMESPACE)
    }


def taken_by(pools: Pools, machine_set: str) -> list[str]:
    """Return the hosts whose consumer is a Machine of the set; its name is the set's plus a suffix."""
    consumers = {
        name: (host["spec"].get("consumerRef") or {}).get("name", "") for name, host in hosts(pools).items()
    }
    return sorted(name for name, consumer in consumers.items() if consumer.rpartition("-")[0] == machine_set)


def looks(pools: Pools, task: TaskResult) -> list[str]:
    """Return the verbs of the task's requests for hosts; the audit log has two events for each watch."""
    return sorted(
        {one.event["auditID"]: one.verb for one in pools.audit.of(task) if one.resource == HOSTS}.values()
    )


def test_the_life_of_a_pool(pools: Pools) -> None:
    asked = pools.ensure(POOL)
    # One list is sent before the Machines exist; a list and a watch are sent while they come.
    assert looks(pools, asked) == ["list", "list", "watch"]
    value, worker = pools.sets(POOL)[""], pools.worker("")
    assert value["hostSelector"] == {"matchLabels": {"gpu": "h100"}}
    for key in ("customDeploy", "userData", "image"):
        assert value[key] == worker[key], key
    assert taken_by(pools, SET) == ["gpu-0"]
    (node,) = pools.nodes(POOL)
    assert node["spec"]["taints"] == POOL["taints"]
    assert node["metadata"]["labels"]["cluster-api/accelerator"] == "nvidia-h100"
    again = pools.ensure(POOL)
    assert (pools.audit.writes(again), looks(pools, again)) == ([], ["list"])

    grown = {**POOL, "replicas": 2, "labels": {"team": "ml"}}
    pools.ensure(grown)
    assert [node["metadata"]["labels"]["team"] for node in pools.nodes(grown)] == ["ml", "ml"]

    too_many = pools.attempt({**grown, "replicas": 3})
    assert (too_many["code"], too_many.changed) == ("MACH-HOST", False)
    assert "0 of 2 hosts that match gpu=h100 are free" in too_many["msg"]
    assert "host gpu-0: taken by demo-x7k2p-training-" in "".join(too_many["evidence"])
    assert pools.audit.writes(too_many) == []
    assert pools.unchanged(grown)

    pools.remove(grown)
    until(lambda: taken_by(pools, SET) == [], "free hosts")


def test_a_candidate_without_hosts_is_passed_over(pools: Pools) -> None:
    with (
        pools.trouble("host_error", host="gpu-0", error_type="registration error"),
        pools.trouble("host_error", host="gpu-1", error_type="inspection error"),
    ):
        until(
            lambda: all(hosts(pools)[name]["status"].get("errorType") for name in ("gpu-0", "gpu-1")),
            "broken hosts",
        )
        alone = pools.attempt(POOL)
        assert (alone["code"], pools.audit.writes(alone)) == ("MACH-HOST", [])
        assert "host gpu-1: inspection error: timeout reached" in "".join(alone["evidence"])
        two = {**POOL, "candidates": [*POOL["candidates"], L40S]}
        made = pools.ensure(two)
    assert [(one["instance_type"], one["code"]) for one in made["attempts"]] == [("h100-server", "MACH-HOST")]
    assert pools.sets(two)[""]["hostSelector"] == {"matchLabels": {"gpu": "l40s"}}
    assert taken_by(pools, SET) == ["gpu-2"]
    assert {node["metadata"]["labels"]["cluster-api/accelerator"] for node in pools.nodes(two)} == {
        "nvidia-l40s"
    }
    assert pools.unchanged(two)
    pools.remove(two)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"candidates": [H100]}, ("POOL-REQUIRED", "candidates[0].baremetal.host_selector")),
        (
            {"provider_spec_patch": {"hostSelecter": {}}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.hostSelecter"),
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_never_sent(pools: Pools, changes: Data, problem: tuple[str, str]) -> None:
    assert pools.refused({**POOL, **changes}) == problem
