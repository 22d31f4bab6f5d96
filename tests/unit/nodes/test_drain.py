"""Drains: which pods must leave, which need permission, and which Machine goes first."""

from __future__ import annotations

import typing as t

import pytest
from unit.nodes.builders import GOING, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import removal
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain, drain_judge
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain_judge import Rules

Data = dict[str, t.Any]


MARKED: dict[str, t.Any] = {"machine.openshift.io/delete-machine": "true"}


@pytest.mark.parametrize(
    ("one", "leaves"),
    [
        (pod("app"), True),
        (pod("bare", owner=""), True),
        (pod("job", phase="Succeeded"), False),
        (pod("ds", owner="DaemonSet"), False),
        (pod("static", owner="Node", annotations={drain.MIRROR: "x"}), False),
        (pod("ends", **GOING), True),
    ],
    ids=lambda one: one["metadata"]["name"] if isinstance(one, dict) else "",
)
def test_which_pods_leave(one: Data, leaves: bool) -> None:
    assert bool(drain.leaving([one])) is leaves


def test_devices() -> None:
    claims = pod("claims")
    claims["spec"]["resourceClaims"] = [{"name": "gpu"}]
    requests = pod("requests")
    requests["spec"]["initContainers"] = [
        {"name": "i", "resources": {"requests": {"nvidia.com/mig-1g.5gb": 1}}}
    ]
    assert [drain.uses_devices(one) for one in (pod("plain"), pod("gpu", gpus=1), claims, requests)] == [
        False,
        True,
        True,
        True,
    ]


def asking(resource: str, number: t.Any = "1", **more: t.Any) -> Data:
    """Return a pod whose container asks for a resource."""
    found = pod("p", **more)
    found["spec"]["containers"] = [{"name": "c", "resources": {"limits": {resource: number}}}]
    return found


@pytest.mark.parametrize(
    ("resource", "is_gpu", "is_device"),
    [
        ("nvidia.com/gpu", True, True),
        ("nvidia.com/gpu.shared", True, True),
        ("nvidia.com/mig-1g.10gb", True, True),
        ("nvidia.com/GA102GL_A10", True, True),
        ("amd.com/gpu", True, True),
        ("gpu.intel.com/xe", True, True),
        ("habana.ai/gaudi", True, True),
        ("rdma/rdma_shared_device_a", False, True),
        ("rdma/hca_shared_devices_b", False, True),
        ("openshift.io/mlnx_nics", False, True),
        ("mellanox.com/cx7", False, True),
        ("intel.com/intel_sriov_netdevice", False, True),
        ("vpc.amazonaws.com/efa", False, True),
        ("example.com/fpga", False, True),
        ("vpc.amazonaws.com/pod-eni", False, False),
        ("devices.kubevirt.io/kvm", False, False),
        ("bridge.network.kubevirt.io/br1", False, False),
        ("management.workload.openshift.io/cores", False, False),
        ("storage.kubernetes.io/scratch", False, False),
        ("hugepages-1Gi", False, False),
        ("cpu", False, False),
    ],
)
def test_one_function_says_what_is_a_device(resource: str, is_gpu: bool, is_device: bool) -> None:
    found = asking(resource)
    assert (drain.uses_gpus(found), drain.uses_devices(found)) == (is_gpu, is_device)
    assert bool(drain.busy([found])) is is_device
    assert not drain.uses_devices(asking(resource, "0"))


@pytest.mark.parametrize(
    ("one", "ends"),
    [
        (asking("nvidia.com/gpu"), True),
        (asking("nvidia.com/gpu", "0"), True),
        (asking("nvidia.com/gpu", 0), True),
        (asking("nvidia.com/gpu.shared", "0"), True),
        (asking("nvidia.com/mig-1g.10gb", "0"), True),
        (asking("nvidia.com/gpu", owner="DaemonSet"), True),
        (asking("rdma/shared"), False),
        (asking("rdma/shared", "0"), False),
        (asking("openshift.io/vf"), False),
        (asking("cpu"), False),
    ],
)
def test_the_upgrade_controller_goes_by_the_name_of_the_resource(one: Data, ends: bool) -> None:
    assert drain.ends_with_driver(one) is ends


def test_work_is_what_has_devices_and_does_not_end_by_itself() -> None:
    domain = pod("domain", owner="DaemonSet", labels={"resource.nvidia.com/computeDomain": "19bc1698"})
    domain["spec"]["resourceClaims"] = [{"name": "compute-domain-daemon"}]
    pods = [
        pod("gpu", gpus=1),
        pod("serves", owner="DaemonSet", gpus=1),
        pod("plugin", owner="DaemonSet"),
        domain,
        pod("ends", gpus=1, **GOING),
        pod("done", gpus=1, phase="Failed"),
    ]
    assert [one["metadata"]["name"] for one in drain.busy(pods)] == ["gpu", "serves"]


# The playbooks refuse the bare names of the module's options.
VARIABLES: t.Final = {
    "NODE-BUSY": "set gpu_on_busy: drain",
    "NODE-EMPTYDIR": "set gpu_delete_emptydir: true",
    "NODE-UNMANAGED": "set gpu_evict_unmanaged: true",
}


@pytest.mark.parametrize(
    ("pods", "rules", "code"),
    [
        ([pod("app")], Rules(), ""),
        ([pod("job", gpus=1)], Rules(), "NODE-BUSY"),
        ([pod("job", gpus=1)], Rules("drain"), ""),
        ([pod("ds", owner="DaemonSet", gpus=1)], Rules(), "NODE-BUSY"),
        ([pod("ds", owner="DaemonSet", gpus=1, data=True)], Rules("drain"), ""),
        ([pod("job", owner="", gpus=1, data=True)], Rules("wait"), ""),
        ([pod("job", owner="", gpus=1)], Rules("drain"), "NODE-UNMANAGED"),
        ([pod("job", owner="", gpus=1)], Rules("drain", evict_unmanaged=True), ""),
        ([pod("web", data=True)], Rules(), "NODE-EMPTYDIR"),
        ([pod("web", data=True)], Rules(delete_emptydir=True), ""),
        ([pod("web", data=True, **GOING), pod("ds", owner="DaemonSet", data=True)], Rules(), ""),
        ([pod("bare", owner="", phase="Succeeded")], Rules(), ""),
    ],
)
def test_what_may_not_go_unasked(pods: list[Data], rules: Rules, code: str) -> None:
    problem = drain_judge.refusal(pods, rules, "Pool t is to lose 1 machines")
    assert (problem.code if problem else "") == code
    if problem:
        assert f"team/{pods[0]['metadata']['name']}" in problem.message
        assert "n1" in problem.message
        assert VARIABLES[code] in problem.remedy


def test_every_reason_is_evidence() -> None:
    problem = drain_judge.refusal(
        [pod("job", gpus=1), pod("web", data=True), pod("bare", owner="")], Rules(), "x"
    )
    assert problem is not None
    assert problem.evidence == [
        "NODE-BUSY: team/job on n1",
        "NODE-EMPTYDIR: team/web on n1",
        "NODE-UNMANAGED: team/bare on n1",
    ]


def machine(
    name: str, node: str = "", phase: str = "Running", hooks: list[Data] | None = None, **annotations: t.Any
) -> Data:
    spec: Data = {"lifecycleHooks": {"preDrain": hooks}} if hooks else {}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": spec,
        "status": {"phase": phase, "nodeRef": {"name": node}},
    }


def test_who_goes_first() -> None:
    machines = [
        machine("a-busy", "n1"),
        machine("b-busier", "n2"),
        machine("c-idle", "n3"),
        machine("d-new", phase="Provisioning"),
        machine("e-marked", "n4", **MARKED),
    ]
    pods = [
        pod("1", gpus=1, node="n1"),
        pod("2", gpus=1, node="n2"),
        pod("3", gpus=1, node="n2"),
        pod("4", node="n3"),
        pod("5", node="n3"),
    ]
    order = [one["metadata"]["name"] for one in removal.victims(machines, 0, pods)]
    assert order == ["e-marked", "d-new", "c-idle", "a-busy", "b-busier"]
    assert [one["metadata"]["name"] for one in removal.victims(machines, 4, pods)] == ["e-marked"]
    assert removal.victims(machines, 7, pods) == []


def test_what_is_written_on_a_machine_that_may_go() -> None:
    other = {"name": "backup", "owner": "somebody"}
    assert removal.released(machine("m")) == {
        "metadata": {"annotations": {"machine.openshift.io/delete-machine": "true"}}
    }
    marked = machine("m", hooks=[removal.HOOK, other], **{"machine.openshift.io/delete-machine": "true"})
    assert removal.released(marked) == {"spec": {"lifecycleHooks": {"preDrain": [other]}}}
    assert removal.without_hook(machine("m", hooks=[other])) == {}


def test_our_hook_is_on_a_machine_as_the_template_has_it() -> None:
    other = {"name": "backup", "owner": "somebody"}
    assert removal.with_hook(machine("m", hooks=[other]), [removal.HOOK]) == {
        "spec": {"lifecycleHooks": {"preDrain": [other, removal.HOOK]}}
    }
    assert removal.with_hook(machine("m", hooks=[removal.HOOK]), [removal.HOOK]) == {}
    assert removal.with_hook(machine("m", hooks=[removal.HOOK]), []) == {
        "spec": {"lifecycleHooks": {"preDrain": []}}
    }
    assert removal.with_hook(machine("m"), []) == {}
