# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs from `gpu_pools` is told with both values, and nothing is written."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from integration.playbook import Run
from integration.scenarios.place import Data, Place
from integration.troubles.demo import MACHINE_SETS, POLICIES, POOLS

SCENARIO: t.Final = "aws"
pytestmark = [
    pytest.mark.long("the whole chain first: the unit tests of _drift have each kind of difference"),
    pytest.mark.story("a cluster that is right, people who change it, a run that puts it right"),
]


def drift(place: Place, **variables: t.Any) -> Run:
    """Run drift.yml; it must have written nothing and taken no lease."""
    run = place.run("drift", **{"gpu_pools": POOLS, **variables})
    assert place.writes(run) == []
    leases = [one for one in place.audit.of(*run.tasks) if one.resource.startswith("leases")]
    assert {one.verb for one in leases} <= {"get"}
    return run


def told(run: Run) -> Data:
    """Return the report as the next node of a workflow gets it."""
    shown = next(one["msg"] for one in run.tasks if one.name == "Show it as JSON")
    found: Data = json.loads(shown.removeprefix("drift "))
    return found


def test_a_cluster_that_is_right_has_no_drift(place: Place, tmp_path: Path) -> None:
    place.done("enable_gpus", gpu_pools=POOLS, gpu_operator_grace=60)
    run = drift(place, gpu_drift_file=str(tmp_path / "drift.json"))
    assert run.rc == 0, run.output[-4000:]
    assert (told(run)["verdict"], told(run)["findings"]) == ("none", [])
    written = json.loads((tmp_path / "drift.json").read_text())
    assert {**told(run), "table": ["No drift, the cluster is as gpu_pools says."]} == written


def test_what_people_changed_is_told_with_both_values(place: Place) -> None:
    first = place.client.list(*MACHINE_SETS[:3], labels=MACHINE_SETS[3])[0]
    name, number = first["metadata"]["name"], first["spec"]["replicas"]
    more = {"spec": {"replicas": number + 1}}
    place.client.patch(*MACHINE_SETS[:2], name, MACHINE_SETS[2], more)
    (policy,) = place.client.list(*POLICIES)
    place.client.patch(
        *POLICIES, policy["metadata"]["name"], None, {"spec": {"daemonsets": {"tolerations": []}}}
    )
    pools = [{key: value for key, value in POOLS[0].items() if key != "priority"}]
    run = drift(place, gpu_pools=pools)
    assert run.rc != 0
    assert run.failure["msg"].startswith("DRIFT-FOUND: 3 objects differ from gpu_pools: ")
    found = {one["object"]: one for one in told(run)["findings"]}
    assert found[f"MachineSet openshift-machine-api/{name}"]["fields"] == [
        {"field": "spec.replicas", "live": number + 1, "wanted": number}
    ]
    (field,) = found["ClusterPolicy gpu-cluster-policy"]["fields"]
    assert (field["field"], field["live"]) == ("spec.daemonsets.tolerations", [])
    assert found["PriorityClass demo-high"]["command"] == "oc delete priorityclass demo-high"
    assert any("Somebody scaled machine set" in text for text in told(run)["warnings"])


def test_a_report_alone_fails_nothing(place: Place) -> None:
    run = drift(place, gpu_drift_fail=False)
    assert run.rc == 0, run.output[-4000:]
    assert told(run)["code"] == "DRIFT-FOUND"


def test_the_commands_of_the_report_put_it_right(place: Place) -> None:
    commands = told(drift(place))["commands"]
    assert len(commands) == 2
    for command in commands:
        words = command.split()
        tag = words[words.index("--tags") + 1]
        allowed = dict(one.split("=") for one in words if "=" in one)
        place.done("enable_gpus", "--tags", tag, gpu_pools=POOLS, gpu_on_busy="drain", **allowed)
    again = drift(place)
    assert again.rc == 0, told(again)
