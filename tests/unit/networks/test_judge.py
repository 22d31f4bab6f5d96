"""When networks are ready, and what they lack."""

from __future__ import annotations

import typing as t

import pytest
from unit.networks.builders import Given, card, macvlan, node, read, sriov, state

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._networks import judge

ATTACHED: t.Final = {
    "kind": "NetworkAttachmentDefinition",
    "metadata": {"name": "rail-0", "namespace": "team-a"},
}
GROUP: t.Final = {"policyName": "rail-0-training", "resourceName": "rail_0", "vfRange": "0-7"}


def done(name: str = "n1", **more: t.Any) -> Given:
    """Return the state of a node that has the network. more: of `state`."""
    found = state(name, card(numVfs=8), **more)
    found["spec"] = {"interfaces": [{**card(), "numVfs": 8, "vfGroups": [GROUP]}]}
    return found


def verdict(
    network: Given, *, grace: float = 30, nodes: list[Given] | None = None, **snapshot: t.Any
) -> Readiness:
    seen = {
        "attachments": [ATTACHED],
        "nodes of training": nodes or [node("n1", offers={"openshift.io/rail_0": 8})],
        **snapshot,
    }
    return judge.Judge(read(network), grace, lambda: 0.0)(seen)


def test_a_node_that_has_everything_is_ready() -> None:
    assert verdict(sriov(), states=[done()]).is_ready


def spec_only() -> Given:
    found = done()
    found["status"]["interfaces"][0]["numVfs"] = 0
    return found


@pytest.mark.parametrize(
    ("live", "code", "says"),
    [
        ([], "NET-NO-STATE", "has not read its network cards"),
        ([state("n1")], "NET-NO-CARD", "ens1f0np0 (15b3:101d, ETH)"),
        ([done(sync="InProgress")], "NET-STATE", "syncStatus InProgress"),
        ([done(doing="Draining")], "NET-STATE", "desired Draining, current Draining"),
        ([state("n1", doing="Reboot_Required")], "NET-STATE", "Reboot_Required"),
        ([spec_only()], "NET-STATE", "syncStatus Succeeded"),
        ([done(sync="Failed", lastSyncError="no  firmware")], "NET-SYNC", "no firmware"),
    ],
)
def test_a_state_alone_is_not_enough(live: list[Given], code: str, says: str) -> None:
    found = verdict(sriov(), states=live)
    assert (found.verdict, found.code) == ("pending", code)
    assert says in found.message
    assert found.message.startswith("Node n1: ")


def test_trouble_that_lasts_fails() -> None:
    assert verdict(sriov(), grace=0, states=[state("n1")]).is_failed
    assert not verdict(sriov(), grace=0, states=[done(sync="InProgress")]).is_failed


def test_fewer_devices_than_functions_are_not_enough() -> None:
    found = verdict(sriov(), states=[done()], nodes=[node("n1", offers={"openshift.io/rail_0": 7})])
    assert found.code == "NET-ALLOC"
    assert found.message == "Node n1: it offers 7 of 8 openshift.io/rail_0."


def test_each_namespace_needs_its_attachment() -> None:
    found = verdict(sriov(namespaces=["team-a", "team-b"]), states=[done()])
    assert found.code == "NET-ATTACHMENT"
    assert "namespace team-b" in found.message


def test_each_node_needs_addresses() -> None:
    network = macvlan("rail-0", ipam={"type": "nv-ipam", "range": "10.9.0.0/16"})
    pool = {"kind": "IPPool", "metadata": {"name": "rail-0"}, "status": {"allocations": [{"nodeName": "n2"}]}}
    found = verdict(network, IPPool=[pool])
    assert found.code == "NET-ADDRESSES"
    assert "10.9.0.0/16" in found.message
    pool["status"] = {"allocations": [{"nodeName": "n1"}]}
    assert verdict(network, IPPool=[pool]).is_ready


def test_the_operators_error_is_quoted() -> None:
    live = {
        "kind": "MacvlanNetwork",
        "metadata": {"name": "rail-0"},
        "status": {"state": "error", "reason": "invalid character"},
    }
    found = verdict(macvlan("rail-0"), MacvlanNetwork=[live])
    assert found.code == "NET-ERROR"
    assert "MacvlanNetwork rail-0" in found.message
    assert "invalid character" in found.message


def test_a_shared_device_is_enough_with_one() -> None:
    offers = [node("n1", offers={"rdma/a": 63}), node("n2")]
    found = verdict(macvlan("rail-0", resource="rdma/a"), nodes=offers)
    assert found.message == "Node n2: it offers 0 of 1 rdma/a."


def test_a_removal_is_done_when_the_nodes_are() -> None:
    judged = judge.gone({"rail-0-training"}, {"n1"}, judge.cards_of({"rail-0-training"}, [done()]))
    assert judged({"states": [done()]}).code == "NET-LEFT"
    assert not judged({"states": [state("n1", doing="Draining")]}).is_ready
    assert judged({"states": [state("n1"), done("n2")]}).is_ready
    # The daemon has not seen yet that the policy is gone.
    assert judged({"states": [{**done(), "spec": {}}]}).code == "NET-LEFT"


def test_the_cards_of_every_node_are_known() -> None:
    judged = judge.known_to([node("n1"), node("n2")])
    assert judged({"states": [state("n1")]}).code == "NET-NO-STATE"
    assert judged({"states": [state("n1"), state("n2")]}).is_ready


def test_what_a_wait_looks_at() -> None:
    queries = judge.queries(read(sriov(), macvlan()), "nic", {"SriovNetwork", "MacvlanNetwork"})
    assert sorted(queries) == ["MacvlanNetwork", "SriovNetwork", "attachments", "nodes of training", "states"]
    assert queries["nodes of training"].labels == "accelerators.openshift/pool=training"
