# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend kmm: a Module with a device plugin, its upgrade and its failures."""

from __future__ import annotations

import pytest
from cluster import Cluster, must_get
from integration.backends.kmm_cards import ABSENT, SPACE, VERSION, Data, labels, options, trouble, versions
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

pytestmark = pytest.mark.long("few clusters have KMM alone; unit tests hold each judgement")


def test_an_upgrade_goes_from_node_to_node(
    cluster: Cluster, playbook: Playbook, audit: Audit, cards: list[str]
) -> None:
    first = playbook.module("special_resource", **options(kmm={"version": "1"}))
    assert (first.failed, first["special_resource"]["rolled"]) == (False, []), first.result
    assert versions(cluster, cards) == {"1"}
    assert [one["version"] for one in first["special_resource"]["nodes"]] == ["1", "1"]

    container = {
        "name": "c",
        "image": "example.com/none",
        "resources": {"requests": {"example.com/card": "1"}, "limits": {"example.com/card": "1"}},
    }
    spec = {"nodeName": cards[1], "containers": [container], "tolerations": [{"operator": "Exists"}]}
    cluster.client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "it-card-user", "namespace": "default"},
            "spec": spec,
        }
    )
    held = playbook.module("special_resource", **options(kmm={"version": "2"}))
    assert (held["code"], "default/it-card-user" in held["msg"]) == ("GPU-KMM-IN-USE", True)
    assert [labels(cluster, name)[VERSION] for name in cards] == ["2", "1"]

    cluster.client.delete("v1", "pods", "it-card-user", "default")
    until(lambda: not cluster.client.get("v1", "pods", "it-card-user", "default"), "the pod is gone")
    rest = playbook.module("special_resource", **options(kmm={"version": "2"}))
    assert (rest.failed, rest["special_resource"]["rolled"]) == (False, [cards[1]]), rest.result
    assert {one["version"] for one in rest["special_resource"]["nodes"]} == {"2"}
    again = playbook.module("special_resource", **options(kmm={"version": "2"}))
    assert (again.changed, audit.writes(again)) == (False, [])

    gone = playbook.module("special_resource", **ABSENT)
    assert gone.changed
    assert versions(cluster, cards) == {None}
    assert not any("kmm.node.kubernetes.io" in key for name in cards for key in labels(cluster, name))
    accounts = [one["metadata"]["name"] for one in cluster.client.list("v1", "serviceaccounts", SPACE)]
    assert "card-loader" not in accounts


def signing(key: str = "it-key") -> Data:
    return {"key_secret": key, "cert_secret": "it-cert", "files_to_sign": ["/opt/lib/modules/*/card.ko"]}


def test_what_cannot_work_is_found_before_anything_is_written(
    playbook: Playbook, audit: Audit, cards: list[str]
) -> None:
    other = [{"regexp": r"^6\.", "container_image": "quay.io/acme/card:6"}]
    unfit = playbook.module("special_resource", **options(kmm={"kernel_mappings": other}))
    assert unfit["code"] == "GPU-KMM-KERNEL"
    assert all(name in unfit["msg"] for name in cards)
    unsigned = playbook.module(
        "special_resource", **options(kmm={"sign": signing("it-none"), "build": {"dockerfile": "FROM dtk"}})
    )
    assert unsigned["code"] == "GPU-KMM-ABSENT"
    assert "kmm.sign.key_secret: there is no Secret it-none" in unsigned["msg"]
    lonely = playbook.module("special_resource", **options(kmm={"create_service_accounts": False}))
    assert "kmm.service_account: there is no ServiceAccount card-loader" in lonely["msg"]
    assert audit.writes(unfit, unsigned, lonely) == []
    wrong = playbook.module(
        "special_resource", **options(kmm={"kernel_mappings": [{"regexp": "(", "container_image": "i"}]})
    )
    assert (wrong["code"], audit.of(wrong)) == ("INPUT-VALUE", [])
    nothing = playbook.module("special_resource", **options(kmm={"sign": signing() | {"files_to_sign": []}}))
    assert "kmm.sign.files_to_sign is missing" in nothing["msg"]
    source = playbook.module("special_resource", **options(kmm={"sign": signing()}))
    assert "kmm.kernel_mappings[0] has sign, and neither build nor sign.unsigned_image" in source["msg"]


def test_each_step_that_fails_is_named_with_its_log(
    cluster: Cluster, playbook: Playbook, cards: list[str]
) -> None:
    """Let pull, build and load fail: only the pods on the nodes say why, not the Module's status."""
    kernel = must_get(cluster.client, "v1", "nodes", cards[0])["status"]["nodeInfo"]["kernelVersion"]
    with trouble(cluster, "kmm_image_missing", image="quay.io/acme/none:1"):
        mapping = {"literal": kernel, "container_image": "quay.io/acme/none:1"}
        pulled = playbook.module("special_resource", **options(kmm={"kernel_mappings": [mapping]}))
    assert pulled["code"] == "GPU-IMAGE"
    assert "manifest unknown" in pulled["msg"]
    with trouble(
        cluster, "kmm_build_fails", text="card.c:12: error: implicit declaration of function 'get_user_pages'"
    ):
        built = {
            "literal": kernel,
            "container_image": "quay.io/acme/built:1",
            "build": {"dockerfile": "FROM dtk"},
        }
        broken = playbook.module("special_resource", **options(kmm={"kernel_mappings": [built]}))
    assert broken["code"] == "GPU-KMM-BUILD"
    assert any("implicit declaration" in line for line in broken["evidence"])
    with trouble(cluster, "kmm_worker_fails", node=cards[0]):
        unsigned = playbook.module("special_resource", **options())
    assert unsigned["code"] == "GPU-DRV-SIGN"
    assert (cards[0] in unsigned["msg"], "kmm.sign" in unsigned["remedy"]) == (True, True)
    healed = playbook.module("special_resource", **options())
    assert not healed.failed, healed.result
