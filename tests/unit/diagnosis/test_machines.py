# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer of machines: what keeps GPU machines from being nodes, and which machines are none of ours."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from unit.diagnosis.builders import ago, found_in, machine, node, result, roots, saw

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import machines
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import csr

HOST: t.Final = "ip-10-0-1-2.us-east-2.compute.internal"
LIMIT: t.Final = (
    "error launching instance: You have requested more vCPU capacity than your current vCPU limit"
)
NONE_LEFT: t.Final = (
    "error creating EC2 instance: InsufficientInstanceCapacity: we do not have sufficient g4dn"
)


def refused(text: str, age: float) -> dict[str, t.Any]:
    condition = {
        "type": "MachineCreation",
        "status": "False",
        "message": text,
        "lastTransitionTime": ago(age),
    }
    return machine("Provisioning", age=age, providerStatus={"conditions": [condition]})


def request() -> dict[str, t.Any]:
    texts = json.loads((Path(__file__).parents[1] / "fixtures/certificate_requests.json").read_text())
    groups = ["openshift-machine-config-operator", ""]
    spec = {
        "request": texts["client"],
        "signerName": csr.CLIENT,
        "usages": ["digital signature", "client auth"],
        "username": csr.BOOTSTRAPPER,
        "groups": [f"system:serviceaccounts:{one}".removesuffix(":") for one in groups],
    }
    spec["groups"].append("system:authenticated")
    return {"metadata": {"name": "csr-a", "creationTimestamp": ago(100)}, "spec": spec, "status": {}}


@pytest.mark.parametrize(
    ("one", "code", "text"),
    [
        (machine("Failed", errorMessage=LIMIT), "MACH-QUOTA", "vCPU limit"),
        (refused(NONE_LEFT, 200), "MACH-CAPACITY", "InsufficientInstanceCapacity"),
        (
            machine("Failed", errorMessage="Can't find created instance."),
            "MACH-INSTANCE-LOST",
            "find created",
        ),
        (machine("Provisioned", age=1300), "MACH-NO-NODE", "has not joined as a node yet"),
        (machine("Provisioning", age=1300), "MACH-TIMEOUT", "m1 is Provisioning"),
    ],
)
def test_a_machine_that_does_not_become_a_node(one: dict[str, t.Any], code: str, text: str) -> None:
    seen = saw(machines=[one])
    assert roots(seen) == [(code, "Machine openshift-machine-api/m1")]
    (found,) = found_in(seen)
    assert text in found.message
    assert "NAME" not in found.remedy
    assert found.remedy
    assert found.since == one["status"]["lastUpdated"]


@pytest.mark.parametrize(
    "one",
    [
        refused(NONE_LEFT, 60),
        machine("Provisioned", age=600),
        machine("Provisioning", age=200),
        machine("", age=1),
        machine("Provisioning", age=9, errorReason="x", errorMessage="No available BareMetalHost found"),
    ],
    ids=["refused for a minute", "boots", "provisions", "new", "no host yet"],
)
def test_a_machine_on_its_way_is_no_fault(one: dict[str, t.Any]) -> None:
    seen = saw(machines=[one], size=1)
    assert result(seen)["diagnosis"]["healthy"]
    assert [(each.code, each.cause) for each in found_in(seen)][1:] == [("GPU-NODES", "machine")]


def test_machines_without_gpus_are_not_judged() -> None:
    plain = machine("Failed", pool="", errorMessage=LIMIT)
    plain["spec"]["providerSpec"]["value"]["instanceType"] = "m6i.xlarge"
    assert not found_in(saw(machines=[plain]))
    plain["status"]["nodeRef"] = {"name": "n1"}
    assert roots(saw(machines=[plain], nodes=[node()])), "its node has GPUs"


@pytest.mark.parametrize(
    ("value", "marks"),
    [
        ({"vmSize": "Standard_NC4as_T4_v3"}, {}),
        ({"machineType": "n1-standard-4", "gpus": [{"type": "nvidia-tesla-t4", "count": 1}]}, {}),
        ({"gpus": [{"type": "Name", "name": "Tesla T4"}]}, {}),
        ({"template": "rhcos"}, {"cluster-api/accelerator": "nvidia-t4"}),
    ],
    ids=["azure", "gcp", "nutanix", "vsphere"],
)
def test_a_machine_with_gpus_of_each_cloud(value: dict[str, t.Any], marks: dict[str, str]) -> None:
    one = machine("Failed", pool="", errorMessage=LIMIT)
    one["spec"] = {"providerSpec": {"value": value}, "metadata": {"labels": marks}}
    assert [code for code, _about in roots(saw(machines=[one]))] == ["MACH-QUOTA"]


def test_a_pending_certificate_request_is_named() -> None:
    names = [{"type": "Hostname", "address": HOST}]
    one = machine("Provisioned", age=100, addresses=names)
    assert list(machines.more(saw(machines=[one], nodes=[node()]))) == [machines.REQUESTS]
    assert not machines.more(saw(machines=[machine("Provisioned", age=30)], nodes=[node()]))
    (found,) = found_in(saw(machines=[one], certificate_requests=[request()]))
    assert (found.code, found.is_busy) == ("MACH-CSR-PENDING", False)
    assert "`oc adm certificate approve csr-a`" in found.remedy


def test_a_broken_host_is_the_cause() -> None:
    one = machine("Provisioning", age=100)
    one["metadata"]["annotations"] = {"metal3.io/BareMetalHost": "openshift-machine-api/h1"}
    assert machines.HOSTS in machines.more(saw(machines=[one]))
    status = {"errorType": "provisioning error", "errorMessage": "Image failed"}
    host = {"metadata": {"name": "h1", "namespace": "openshift-machine-api"}, "status": status}
    (found,) = found_in(saw(machines=[one], hosts=[host]))
    assert (found.code, found.is_busy) == ("MACH-HOST", False)
    assert "provisioning error: Image failed" in found.message
    assert found.remedy == "Run `oc describe baremetalhost -n openshift-machine-api h1`."


@pytest.mark.parametrize(("age", "busy"), [(600, True), (2000, False)])
def test_a_machine_that_is_deleted(age: float, busy: bool) -> None:
    one = machine("Running", nodeRef={"name": "n1"})
    one["metadata"]["deletionTimestamp"] = ago(age)
    one["status"]["conditions"] = [{"type": "Drained", "status": "False", "message": "budget keeps pod x"}]
    first, *others = found_in(saw(machines=[one], nodes=[node(ready="False", since=60)]))
    assert (first.code, first.node, first.is_busy) == ("MACH-DELETE-TIMEOUT", "n1", busy)
    assert "budget keeps pod x" in first.message
    assert [(other.code, other.cause) for other in others] == [("GPU-NODE-NOT-READY", "machine")]


def machine_set(replicas: int, written: float, **more: t.Any) -> dict[str, t.Any]:
    labels = {"accelerators.openshift/pool": "train"}
    metadata = {"name": "set-1", "namespace": "openshift-machine-api", "labels": labels, **more}
    metadata["managedFields"] = [{"time": ago(written)}]
    return {"metadata": metadata, "spec": {"replicas": replicas, "template": {"spec": {}}}}


def test_a_machine_set_without_its_machines() -> None:
    assert machines.SETS in machines.more(saw(machines=[], size=2))
    seen = saw(machines=[machine("Running")], machine_sets=[machine_set(2, 500)], size=2)
    assert roots(seen) == [("MACH-TIMEOUT", "MachineSet openshift-machine-api/set-1")]
    (found, short) = found_in(seen)
    assert found.message == "machine set set-1 has 1 of 2 machines."
    assert (short.code, short.cause) == ("GPU-NODES", "machine")
    assert result(saw(machine_sets=[machine_set(2, 20)], machines=[]))["diagnosis"]["healthy"]


def test_a_pool_that_is_scaled_to_zero() -> None:
    seen = saw(machines=[], machine_sets=[machine_set(0, 500)], size=0)
    assert result(seen)["diagnosis"]["healthy"]
    by_hand = saw(machines=[], machine_sets=[machine_set(0, 500)], size=2)
    assert roots(by_hand) == [("GPU-NODES", "Pool train")]
    assert "machine set set-1 wants 0 machines" in found_in(by_hand)[0].evidence


def test_a_failed_machine_explains_no_other_node_and_nothing_of_the_cluster() -> None:
    seen = saw(machines=[machine("Failed", errorMessage=LIMIT)], nodes=[node(ready="False")], size=2)
    of_all = Trouble(layer="nfd", code="NFD-DEGRADED", about="NFD", message="m", remedy="r")
    found = found_in(saw(machines=[machine("Failed", errorMessage=LIMIT)], size=1), of_all)
    assert [(one.code, one.cause) for one in found if one.code == "NFD-DEGRADED"] == [("NFD-DEGRADED", "")]
    assert [code for code, _about in roots(seen)] == ["MACH-QUOTA", "GPU-NODE-NOT-READY"]


def test_machines_of_one_kind_are_told_once() -> None:
    several = [machine("Failed", name=f"m{one}", errorMessage=LIMIT) for one in range(30)]
    lines = result(saw(machines=several))["table"]
    assert sum("MACH-QUOTA" in line for line in lines) == 1
    assert any("on:    30 machines: m0, m1" in line for line in lines)


def test_a_node_of_a_gpu_machine_without_any_label_is_looked_for() -> None:
    one = machine("Running", pool="", nodeRef={"name": "n9"})
    query = machines.more(saw(machines=[one], nodes=[node()]))[machines.STRAYS]
    assert query.labels == "node.kubernetes.io/instance-type in (g4dn.xlarge)"
    assert not machines.more(saw(machines=[one], nodes=[node("n9")]))


def test_a_cluster_without_machines_of_its_own() -> None:
    assert not machines.more(saw(nodes=[]))
    assert not found_in(saw(nodes=[node()]))


def test_five_thousand_machines_in_trouble() -> None:
    many = [machine("Failed", name=f"m{one}", errorMessage=LIMIT) for one in range(5000)]
    seen = saw(machines=many, nodes=[node(f"n{one}") for one in range(5000)])
    assert len(list(machines.judge(seen))) == 5000
