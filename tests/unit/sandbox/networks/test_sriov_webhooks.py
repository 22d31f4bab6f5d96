"""The words in which the webhooks of the SR-IOV operator refuse, and what they add."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.networks.builders import Object, definition, node, pod, policy, sriov

from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.hardware.ports import ports
from openshift_sandbox.stand_ins.core.webhooks import Denial, Patch
from openshift_sandbox.stand_ins.sriov import webhooks
from openshift_sandbox.stand_ins.sriov.policies import discovered

A = node("a", rdma="ethernet")


class Answers:
    """A client that knows one node, its state, one policy and one definition."""

    def __init__(self, *policies: Object) -> None:
        state = sriov("SriovNetworkNodeState", "a")
        state["status"] = {"interfaces": [discovered(port) for port in ports("a", of_node(A))]}
        self._known = {
            "nodes": [A],
            "sriovnetworknodestates": [state],
            "sriovnetworknodepolicies": list(policies),
        }

    def list(self, _version: str, plural: str, _namespace: str | None = None) -> list[Object]:
        return self._known[plural]

    def get(self, _version: str, _plural: str, name: str, _namespace: str | None = None) -> Object | None:
        return definition(name, "{}", "openshift.io/rail") if name == "rail" else None


def judged(obj: Object, *policies: Object) -> str:
    """Return the text of a refusal, which the real webhook writes into the reason."""
    request = {"operation": "CREATE", "object": obj}
    answer = webhooks.review(request, t.cast(t.Any, Answers(*policies)))
    return answer.reason if answer else ""


REFUSED = {
    "numVfs(129) in CR rail exceed the maximum allowed value(128) interface(ens1f0np0)": {"numVfs": 129},
    "no matched node is selected by the nodeSelector in CR rail": {"nodeSelector": {"rdma": "infiniband"}},
    "no supported NIC is selected by the nicSelector in CR rail": {"nicSelector": {"pfNames": ["ens9"]}},
    "vendor/device 15b3/1025 is not supported": {"nicSelector": {"vendor": "15b3", "deviceID": "1025"}},
    "vendor 1234 is not supported": {"nicSelector": {"vendor": "1234"}},
    (
        "at least one of these parameters (vendor, deviceID, pfNames, rootDevices or netFilter) has to be "
        "defined in nicSelector in CR rail"
    ): {"nicSelector": {}},
    (
        "'deviceType: vfio-pci' conflicts with 'isRdma: true'; Set 'deviceType' to (string)'netdevice' Or "
        "Set 'isRdma' to (bool)'false'"
    ): {"deviceType": "vfio-pci", "isRdma": True},
    "'eSwitchMode: switchdev' can be used only with ethernet links": {
        "linkType": "ib",
        "eSwitchMode": "switchdev",
    },
    (
        'resource name "rail-1" contains invalid characters, the accepted syntax of the regular expressions '
        'is: "^[a-zA-Z0-9_]+$"'
    ): {"resourceName": "rail-1"},
    "failed to parse ens1f0np0#0-8 PF name nicSelector, end range exceeds the maximum VF index ": {
        "nicSelector": {"pfNames": ["ens1f0np0#0-8"]}
    },
}


@pytest.mark.parametrize(("text", "spec"), REFUSED.items(), ids=lambda value: str(value)[:30])
def test_a_policy_is_refused(text: str, spec: Object) -> None:
    assert judged(policy(**spec)) == text


def test_a_good_policy_is_accepted() -> None:
    assert judged(policy(nicSelector={"pfNames": ["ens1f0np0#0-3"]})) == ""


@pytest.mark.parametrize(
    ("mine", "theirs", "text"),
    [
        (
            "ens1f0np0#0-3",
            "ens1f0np0#3-7",
            "VF index range in ens1f0np0#0-3 is overlapped with existing policy other",
        ),
        ("ens1f0np0", "ens1f0np0", "VF index range in ens1f0np0 is overlapped with existing policy other"),
        ("ens1f0np0#0-3", "ens1f0np0#4-7", ""),
        ("ens1f0np0#0-3", "ens2f0np0#0-3", ""),
        # The operator compares a range with -1 here, and so it misses this one.
        ("ens1f0np0", "ens1f0np0#0-3", ""),
    ],
)
def test_ranges_of_two_policies(mine: str, theirs: str, text: str) -> None:
    other = policy("other", nicSelector={"pfNames": [theirs]})
    assert judged(policy(nicSelector={"pfNames": [mine]}), other) == text


def test_only_the_default_configuration_counts() -> None:
    text = "only default SriovOperatorConfig in openshift-sriov-network-operator namespace is used"
    assert judged(sriov("SriovOperatorConfig", "mine")) == text
    assert judged(sriov("SriovOperatorConfig", "default")) == ""


def test_a_pool_is_parallel_or_offloads() -> None:
    pool = sriov("SriovNetworkPoolConfig", "p", maxUnavailable=1, ovsHardwareOffloadConfig={"name": "worker"})
    assert judged(pool) == (
        "SriovOperatorConfig can't have both parallel configuration and OvsHardwareOffloadConfig"
    )


def test_infiniband_has_rdma() -> None:
    patch = webhooks.default({"object": policy(linkType="ib", isRdma=False, priority=5)})
    assert patch == Patch([{"op": "add", "path": "/spec/isRdma", "value": True}])
    assert webhooks.default({"object": policy(isRdma=True, priority=99)}) is None


def test_a_pod_requests_the_devices_of_its_networks() -> None:
    made = pod("job", "", networks="rail,rail@fast0")
    del made["metadata"]["namespace"]
    request = {"object": made, "namespace": "work"}
    patch = webhooks.inject(request, t.cast(t.Any, Answers()))
    wanted = {"openshift.io/rail": "2"}
    assert isinstance(patch, Patch)
    assert patch.operations[0]["value"] == {"requests": wanted, "limits": wanted}


def test_a_pod_with_requests_of_its_own_is_left_alone() -> None:
    made = pod("job", "", networks="rail", requests={"openshift.io/rail": "1"})
    assert webhooks.inject({"object": made, "namespace": "work"}, t.cast(t.Any, Answers())) is None


def test_a_pod_whose_network_is_not_there_is_refused() -> None:
    request = {"object": pod("job", "", networks="other"), "namespace": "work"}
    answer = webhooks.inject(request, t.cast(t.Any, Answers()))
    assert isinstance(answer, Denial)
    assert answer.message.startswith("could not find network attachment definition 'work/other'")
