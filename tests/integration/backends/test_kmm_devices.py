# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend kmm: devices through DRA, the nodes' next kernel, another owner's Module."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.backends.kmm_cards import ABSENT, MODULES, SELECTOR, SPACE, Data, options, trouble
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

pytestmark = pytest.mark.long(
    "claimed devices and kernels to come through KMM: test_kmm.py has the backend itself"
)

CLAIMS: t.Final = ("resource.k8s.io/v1", "resourceclaims")
CLASS: t.Final = {
    "name": "cards.example.com",
    "selectors": [{"cel": {"expression": "device.driver == 'card.example.com'"}}],
}


def claimed(devices: int = 2, expected: Data | None = None, **more: t.Any) -> Data:
    """Return the options for a Module with a DRA driver."""
    driver = {
        "image": "quay.io/acme/dra:1",
        "args": [f"--devices={devices}"],
        "driver_name": "card.example.com",
        "device_classes": [CLASS],
    }
    pools = [
        {
            "name": "cards",
            "node_selector": SELECTOR,
            "replicas": 2,
            **({"expected": expected} if expected else {}),
        }
    ]
    return options(kmm={"device_plugin": None, "dra": driver} | more, pools=pools)


def test_a_dra_driver_is_ready_when_its_devices_can_be_claimed(
    cluster: Cluster, playbook: Playbook, audit: Audit, cards: list[str]
) -> None:
    playbook.module("special_resource", **ABSENT)
    offer_devices(playbook, audit, cards)
    lose_a_device(cluster, playbook, cards[0])
    claim_a_card(cluster)
    keep_the_driver_of_a_claimed_card(playbook, audit)
    give_the_card_back(cluster)
    assert playbook.module("special_resource", **ABSENT).changed
    assert not cluster.client.get("resource.k8s.io/v1", "deviceclasses", "cards.example.com")


def offer_devices(playbook: Playbook, audit: Audit, cards: list[str]) -> None:
    """Install the driver: each node offers two devices, and a second run writes nothing."""
    made = playbook.module("special_resource", **claimed(expected={"card.example.com": 2}))
    assert not made.failed, made.result
    nodes = made["special_resource"]["nodes"]
    assert [(one["name"], one["offered"], len(one["devices"])) for one in nodes] == [
        (name, {"card.example.com": 2}, 2) for name in cards
    ]
    again = playbook.module("special_resource", **claimed())
    assert (again.failed, again.changed, audit.writes(again)) == (False, False, [])


def lose_a_device(cluster: Cluster, playbook: Playbook, node: str) -> None:
    """Lose one of a node's devices for one run, which names the node."""
    with trouble(cluster, "devices_lost", node=node):
        until(lambda: len(slices(cluster, node)) == 1, "a device is lost")
        short = playbook.module("special_resource", **claimed(expected={"card.example.com": 2}))
    assert (
        short["code"],
        f"Node {node}: driver card.example.com offers 1 of 2 devices" in short["msg"],
    ) == ("GPU-DRA-SLICES", True)


def claim_a_card(cluster: Cluster) -> None:
    """Create a claim and a pod that uses it; return once the claim is allocated."""
    device = {"name": "card", "exactly": {"deviceClassName": "cards.example.com"}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "it-card", "namespace": "default"},
    }
    cluster.client.create({**claim, "spec": {"devices": {"requests": [device]}}})
    container = {"name": "c", "image": "example.com/none", "resources": {"claims": [{"name": "card"}]}}
    spec = {"containers": [container], "resourceClaims": [{"name": "card", "resourceClaimName": "it-card"}]}
    cluster.client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "it-claims", "namespace": "default"},
            "spec": spec,
        }
    )
    until(
        lambda: (must_get(cluster.client, *CLAIMS, "it-card", "default").get("status") or {}).get(
            "reservedFor"
        ),
        "the claim is allocated",
    )


def keep_the_driver_of_a_claimed_card(playbook: Playbook, audit: Audit) -> None:
    refused = playbook.module("special_resource", **ABSENT)
    assert (refused["code"], "default/it-card" in refused["msg"], audit.writes(refused)) == (
        "GPU-DRA-BUSY",
        True,
        [],
    )


def give_the_card_back(cluster: Cluster) -> None:
    cluster.client.delete("v1", "pods", "it-claims", "default")
    cluster.client.delete(*CLAIMS, "it-card", "default")
    until(lambda: not cluster.client.get(*CLAIMS, "it-card", "default"), "the claim is gone")


def slices(cluster: Cluster, node: str) -> list[Data]:
    found = cluster.client.list("resource.k8s.io/v1", "resourceslices")
    return [
        device
        for one in found
        if one["spec"].get("nodeName") == node
        for device in one["spec"].get("devices") or []
    ]


def test_a_kernel_to_come_is_verified(playbook: Playbook, audit: Audit, cards: list[str]) -> None:
    assert not playbook.module("special_resource", **options()).failed
    asked: dict[str, t.Any] = {
        "backend": "kmm",
        "kmm": {
            "preflight": {"kernel_version": "5.14.0-611.el9.x86_64", "dtk_image": "quay.io/openshift/dtk:1"}
        },
    }
    good = playbook.module("special_resource", **asked)
    assert [(one["name"], one["status"]) for one in good["special_resource"]["preflight"]["modules"]] == [
        ("card", "Success")
    ]
    again = playbook.module("special_resource", **asked)
    assert (again.changed, audit.writes(again)) == (False, [])
    bad = playbook.module(
        "special_resource", backend="kmm", kmm={"preflight": {"kernel_version": "6.12.0-1.el10.x86_64"}}
    )
    assert bad["code"] == "GPU-KMM-PREFLIGHT"
    assert (
        f"1 of 1 Modules would not load on kernel 6.12.0-1.el10.x86_64: {SPACE}/card: mapping not found"
        in bad["msg"]
    )
    for one in (asked, {"backend": "kmm", "kmm": {"preflight": {"kernel_version": "6.12.0-1.el10.x86_64"}}}):
        assert playbook.module("special_resource", **one | {"state": "absent"}).changed


def test_somebody_elses_module_is_only_reported(
    cluster: Cluster, playbook: Playbook, audit: Audit, cards: list[str]
) -> None:
    playbook.module("special_resource", **ABSENT)
    mapping = {"regexp": "^.+$", "containerImage": "quay.io/acme/theirs:1"}
    container = {"modprobe": {"moduleName": "card"}, "kernelMappings": [mapping]}
    spec = {"selector": SELECTOR, "moduleLoader": {"container": container}}
    cluster.client.create(
        {
            "apiVersion": MODULES[0],
            "kind": "Module",
            "metadata": {"name": "card", "namespace": SPACE},
            "spec": spec,
        }
    )
    seen = playbook.module("special_resource", **options())
    assert (seen["code"], seen.changed, audit.writes(seen)) == ("GPU-ALLOC", False, [])
    assert "spec.devicePlugin.container.image" in [one["path"] for one in seen["special_resource"]["differs"]]
    kept = playbook.module("special_resource", **ABSENT)
    assert kept.changed is False
    assert cluster.client.get(*MODULES, "card", SPACE)
    cluster.client.delete(*MODULES, "card", SPACE)
    until(lambda: not cluster.client.get(*MODULES, "card", SPACE), "the Module is gone")
