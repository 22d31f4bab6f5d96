# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared claims on a server in memory: made, replaced, removed, and what is asked before."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer, status
from unit.sharing.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.steps import absent, present

Data = dict[str, t.Any]
KINDS: t.Final = ("Namespace", "ConfigMap", "Node", "Pod", "ClusterPolicy", "ResourceClaim", "ResourceSlice")
ONE: t.Final = {"name": "shared-gpu", "namespace": "team-a"}


class ClaimServer(FakeServer):
    """A server with namespace team-a. An eviction ends a pod; a claim stays while pods use it."""

    def __init__(self) -> None:
        super().__init__(*KINDS)
        self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
        self.request = self._asked

    def _asked(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if url.partition("?")[0].endswith("/eviction"):
            self.requests.append((method, url, {}))
            self.free()
            return Answer(201, {})
        return self.answer(method, url, body, **more)

    def claims(self) -> list[KubeObject]:
        """Return all claims."""
        return [one for one in self.objects.values() if one["kind"] == "ResourceClaim"]

    def claim(self, name: str = "shared-gpu") -> KubeObject:
        """Return the claim of this name."""
        (found,) = [one for one in self.claims() if one["metadata"]["name"] == name]
        return found

    def free(self) -> None:
        """End all pods, so that no claim has a user."""
        for key in [key for key, one in self.objects.items() if one["kind"] == "Pod"]:
            del self.objects[key]
        for one in self.claims():
            one.pop("status", None)
            self.put(one)


def claim_server() -> ClaimServer:
    """Return a server on which pool inference has its shared claim."""
    server = ClaimServer()
    share(server, [ONE])
    server.requests.clear()
    return server


def used(server: ClaimServer, pod: str) -> KubeObject:
    """Let the claim have a user, and return the pod."""
    server.claim()["status"] = {"reservedFor": [{"resource": "pods", "name": pod, "uid": pod}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": pod, "namespace": "team-a", "uid": pod, "labels": {}},
        "spec": {
            "nodeName": "gpu-0",
            "containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "shared-gpu"}],
        },
        "status": {"phase": "Running"},
    }


def share(server: FakeServer, entries: t.Sequence[Data], api: Api | None = None, **more: t.Any) -> Data:
    """Bring the claims of pool inference about."""
    sharing = {"claims": list(entries)} if entries else {}
    return present(api or api_on(server), params(("inference", sharing), claims=True, **more))


def test_a_claim_is_made_once() -> None:
    server = ClaimServer()
    found = share(server, [ONE])
    assert [path for _method, path in server.writes()] == [
        "/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaims/shared-gpu"
    ]
    assert server.claim()["metadata"]["labels"] == {
        "accelerators.openshift/pool": "inference",
        "app.kubernetes.io/managed-by": "accelerators.openshift",
    }
    (told,) = found["claims"]
    assert (told["pool"], told["count"], told["is_allocated"], told["users"]) == ("inference", 1, False, [])
    assert (found["found"], found["config"], found["mig"]) == (False, {}, {})
    server.requests.clear()
    assert share(server, [ONE])["found"] is True
    assert server.writes() == []


def test_only_claims_are_looked_at_and_profiles_come_without_them() -> None:
    server = ClaimServer()
    share(server, [ONE], only_add=True)
    assert server.requests == []
    share(server, [])
    kinds = {path.rpartition("/")[2] for _method, path, _query in server.requests}
    assert kinds - {"apis", "v1"} == {"resourceclaims"}


def test_check_mode_writes_nothing_and_foresees_it() -> None:
    server = ClaimServer()
    api = api_on(server, check_mode=True)
    share(server, [ONE, {**ONE, "name": "other", "namespace": "team-b"}], api)
    assert server.writes() == []
    assert [one.object_name for one in api.changes] == [
        "ResourceClaim team-a/shared-gpu",
        "ResourceClaim team-b/other",
    ]


def test_a_claim_that_nobody_uses_is_replaced() -> None:
    server = claim_server()
    api = api_on(server, check_mode=True)
    share(server, [{**ONE, "count": 2}], api)
    assert server.writes() == []
    assert [(bool(one.before), bool(one.after)) for one in api.changes] == [(True, False), (False, True)]
    share(server, [{**ONE, "count": 2}])
    assert [method for method, _path in server.writes()] == ["DELETE", "PATCH"]
    assert server.claim()["spec"]["devices"]["requests"][0]["exactly"]["count"] == 2


def test_a_claim_of_a_pod_is_asked_for() -> None:
    server = claim_server()
    server.put(used(server, "server-0"))
    for entries in ([{**ONE, "count": 2}], []):
        with pytest.raises(AcceleratorError) as raised:
            share(server, entries)
        assert raised.value.code == "GPU-CLAIM-BUSY"
        assert "1 shared claim must go (team-a/shared-gpu)" in raised.value.message
        assert "team-a/server-0 on gpu-0" in raised.value.message
    assert server.writes() == []
    (ends,) = share(server, [], api_on(server, check_mode=True), on_busy="drain")["ends"]
    assert (ends["nodes"], [pod["name"] for pod in ends["pods"]]) == (["gpu-0"], ["server-0"])
    assert server.writes() == []


def test_drain_deletes_the_claim_before_it_evicts() -> None:
    server = claim_server()
    server.put(used(server, "server-0"))
    assert share(server, [], on_busy="drain")["ends"]
    paths = [path.partition("?")[0].rpartition("/")[2] for _method, path in server.writes()]
    assert paths == ["shared-gpu", "eviction"]
    assert server.claims() == []


def test_a_claim_of_others_is_refused() -> None:
    server = claim_server()
    live = server.claim()
    live["metadata"].pop("labels")
    with pytest.raises(AcceleratorError) as raised:
        share(server, [ONE])
    assert raised.value.code == "GPU-CLAIM-FOREIGN"
    assert "oc delete resourceclaim shared-gpu -n team-a" in raised.value.remedy
    assert server.writes() == []
    assert absent(api_on(server), params(("inference", {}), claims=True, state="absent"))["claims"] == []
    assert len(server.claims()) == 1


def test_a_missing_namespace_is_refused_before_the_first_write() -> None:
    server = ClaimServer()
    with pytest.raises(AcceleratorError) as raised:
        share(server, [ONE, {**ONE, "namespace": "team-b"}])
    assert (raised.value.code, server.writes()) == ("GPU-CLAIM-NO-NAMESPACE", [])


def test_a_quota_that_is_too_small_is_named() -> None:
    server = ClaimServer()
    inner = server.request
    text = 'resourceclaims "shared-gpu" is forbidden: exceeded quota: gpu-quota'

    def request(method: str, url: str, *args: t.Any, **more: t.Any) -> Answer:
        answer: Answer = (
            status(403, "Forbidden", text) if method == "PATCH" else inner(method, url, *args, **more)
        )
        return answer

    server.request = request
    with pytest.raises(AcceleratorError) as raised:
        share(server, [ONE])
    assert raised.value.code == "GPU-CLAIM-QUOTA"


def test_absent_takes_the_claims_of_the_pool_alone() -> None:
    server = claim_server()
    present(api_on(server), params(("other", {"claims": [{**ONE, "name": "b"}]}), claims=True))
    absent(api_on(server), params(("inference", {}), claims=True, state="absent"))
    assert [one["metadata"]["name"] for one in server.claims()] == ["b"]


def test_a_cluster_without_claims() -> None:
    server = FakeServer("Namespace", "ConfigMap", "Node", "Pod")
    gone = absent(api_on(server), params(("inference", {}), claims=True, state="absent"))
    assert gone["found"] is False
    assert share(server, [])["claims"] == []
    with pytest.raises(AcceleratorError) as raised:
        share(server, [ONE], api_on(server, check_mode=True))
    assert raised.value.code == "GPU-DRA-RELEASE"
