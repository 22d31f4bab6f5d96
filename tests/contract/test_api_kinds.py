"""The contract of Api for kinds, schemas and field managers."""

from __future__ import annotations

import pytest
from cluster import Cluster
from contract.objects import CONFIG_MAP, manifest
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ConflictError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds as kube_kinds
from openshift_sandbox import audit


def test_what_a_server_serves_is_read_from_either_document(cluster: Cluster) -> None:
    """Run on the real server only: a kind is the same in its group's document and in that of all groups."""
    api = connect({"kubeconfig": str(cluster.kubeconfig)}, "contract")
    answer = api.http.request("GET", kube_kinds.ALL_GROUPS, accept=kube_kinds.ACCEPT_ALL_GROUPS)
    assert answer.body["kind"] == "APIGroupDiscoveryList"
    together = {(kind.api_version, kind.kind): kind for kind in kube_kinds.in_all_groups(answer.body)}
    assert {"apps/v1", "machine.openshift.io/v1beta1"} <= {version for version, _kind in together}
    for version in {version for version, _kind in together}:
        for kind in kube_kinds.in_group(version, api.http.request("GET", f"/apis/{version}").body):
            assert together[(version, kind.kind)] == kind


def test_kinds_outside_the_table_cost_two_requests(cluster: Cluster) -> None:
    """Run on the real server only: its audit log counts the requests."""
    sandbox = cluster.needs_sandbox()
    log = sandbox.directory / "audit.log"
    start = audit.position(log)
    kinds = {
        "StorageClass": ("storage.k8s.io/v1", "storageclasses", False),
        "CSIDriver": ("storage.k8s.io/v1", "csidrivers", False),
        "FlowSchema": ("flowcontrol.apiserver.k8s.io/v1", "flowschemas", False),
        "EndpointSlice": ("discovery.k8s.io/v1", "endpointslices", True),
        "RuntimeClass": ("node.k8s.io/v1", "runtimeclasses", False),
    }
    api = connect({"kubeconfig": str(cluster.kubeconfig)}, "contract-kinds")
    for name, (version, plural, namespaced) in kinds.items():
        assert kube_kinds.find(version, name) is None
        assert api.resolve(version, name) == kube_kinds.Kind(version, name, plural, namespaced)
    Audit(log, cluster.client).flush()
    asked = [one.uri for one in audit.read(log, start, "accelerators.openshift/contract-kinds")]
    assert asked == ["/apis/storage.k8s.io/v1", "/apis"]


def test_a_conflict_names_manager_and_field_and_force_is_a_choice(cluster: Cluster) -> None:
    """Run on the real server only: the in-memory server has no field manager except the collection's."""
    api = connect({"kubeconfig": str(cluster.kubeconfig)}, "contract")
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "contract-conflict"}})
    theirs = {**manifest(x="1", y="1"), "metadata": {"name": "a", "namespace": "contract-conflict"}}
    cluster.client.apply(theirs)
    ours = {**theirs, "data": {"x": "2"}}
    with pytest.raises(ConflictError) as caught:
        api.apply(ours)
    assert caught.value.code == "API-CONFLICT"
    assert ".data.x" in caught.value.message
    assert cluster.client.user_agent in caught.value.message
    assert cluster.client.user_agent in caught.value.remedy
    assert "force_conflicts" in caught.value.remedy
    live = api.get(CONFIG_MAP, "a", "contract-conflict")
    assert live is not None
    assert live["data"] == theirs["data"]
    assert api.apply(ours, force_conflicts=True)["data"] == {"x": "2", "y": "1"}
    again = connect({"kubeconfig": str(cluster.kubeconfig)}, "contract")
    again.apply(ours)
    assert again.changes == []


def test_an_unknown_field_is_refused_and_named(cluster: Cluster) -> None:
    """Run on the real server only: the in-memory server has no schemas."""
    api = connect({"kubeconfig": str(cluster.kubeconfig)}, "contract")
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "contract-strict"}})
    before = len(api.changes)
    wrong = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "wrong", "namespace": "contract-strict"},
        "dta": {"x": "1"},
    }
    for act in (api.apply, api.create, api.dry_run_create):
        with pytest.raises(ApiError, match="dta") as caught:
            act(wrong)
        assert caught.value.code == "API-INVALID"
    assert len(api.changes) == before
    assert api.get(CONFIG_MAP, "wrong", "contract-strict") is None
