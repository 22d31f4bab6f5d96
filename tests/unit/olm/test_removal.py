"""Removal of an operator: its CSVs, its CRDs, and what keeps them."""

from __future__ import annotations

import pytest
from unit.olm.builders import OURS, V1, V2, at, csv, subscription

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import removal


def test_csvs_go_only_with_our_subscription() -> None:
    found = [
        csv(V2, "Succeeded"),
        csv("other.v1", "Succeeded") | {"metadata": {"name": "other.v1", "uid": "o"}},
        csv(V1, "Succeeded", "Copied"),
    ]
    home = {"metadata": {"labels": OURS}}
    assert [one["metadata"]["name"] for one in removal.csvs(at(V2, V2), None, found, "nfd")] == [V2]
    assert removal.csvs(None, {"metadata": {}}, found, "nfd") == []
    assert [one["metadata"]["name"] for one in removal.csvs(None, home, found, "nfd")] == [V2]
    going = {**found[0], "metadata": {**found[0]["metadata"], "deletionTimestamp": "2026-11-22T00:00:00Z"}}
    assert removal.csvs(None, {"metadata": {}}, [going], "nfd") == [going], (
        "somebody's namespace, but there is something to wait for"
    )
    assert removal.others([subscription()], found, [subscription(), found[0]]) == [
        "ClusterServiceVersion other.v1"
    ]


def test_custom_resources_keep_an_operator() -> None:
    policy = {"kind": "ClusterPolicy", "metadata": {"name": "gpu-cluster-policy"}}
    with pytest.raises(AcceleratorError, match="ClusterPolicy gpu-cluster-policy"):
        removal.check_unused([policy], "gpu-operator-certified")
    removal.check_unused([{"kind": "NodeFeature", "metadata": {"name": "n", "ownerReferences": [{}]}}], "nfd")


def test_a_csv_that_is_held_names_what_holds_it() -> None:
    held = csv(
        V2,
        "Deleting",
        cleanup={
            "pendingDeletion": [
                {
                    "group": "nvidia.com",
                    "kind": "ClusterPolicy",
                    "instances": [{"name": "gpu-cluster-policy"}],
                }
            ]
        },
    )
    held["metadata"]["finalizers"] = ["operators.coreos.com/csv-cleanup"]
    judge = removal.judge_leaving(held)
    assert judge({"csvs": [held]}).code == "OLM-CSV-HELD"
    assert "csv-cleanup" in judge({"csvs": [held]}).message
    assert "OLM waits for ClusterPolicy gpu-cluster-policy" in judge({"csvs": [held]}).message
    assert "that OLM runs" in judge({"csvs": [held]}).remedy
    theirs = {**held, "metadata": {**held["metadata"], "finalizers": ["example.com/audit"]}}
    assert "the owner of example.com/audit has to remove it" in judge({"csvs": [theirs]}).remedy
    assert judge({"csvs": []}).is_ready
    assert judge({"csvs": [{**held, "metadata": {**held["metadata"], "uid": "another"}}]}).is_ready


def test_crds_of_an_operator() -> None:
    spec = {
        "customresourcedefinitions": {
            "owned": [{"name": "things.example.com", "version": "v1", "kind": "Thing"}]
        }
    }
    labelled = [{"metadata": {"name": "others.example.com"}}, {"metadata": {"name": "things.example.com"}}]
    assert removal.crd_names([{"spec": spec}], labelled) == ["others.example.com", "things.example.com"]
    assert removal.label("nfd", "openshift-nfd") == "operators.coreos.com/nfd.openshift-nfd"
    assert removal.label("n" * 40, "s" * 40) is None
    marks = {
        "operators.coreos.com/nfd.openshift-nfd": "",
        "operators.coreos.com/other.elsewhere": "",
        "olm.managed": "true",
    }
    assert removal.shared_with({"metadata": {"labels": marks}}, "nfd") == ["other.elsewhere"]


def test_crds_stay_while_somebodys_objects_are_left() -> None:
    theirs = {"kind": "Thing", "metadata": {"name": "one", "namespace": "n"}}
    owned = {"kind": "Thing", "metadata": {"name": "two", "namespace": "n", "ownerReferences": [{}]}}
    leaving = {"kind": "Thing", "metadata": {"name": "three", "deletionTimestamp": "2026-11-21T10:00:00Z"}}
    assert removal.judge_empty({"things": []}).is_ready
    assert removal.judge_empty({"things": [owned, leaving]}).verdict == "pending"
    verdict = removal.judge_empty({"things": [owned, theirs]})
    assert (verdict.verdict, verdict.code, verdict.details) == ("failed", "OLM-CRDS", ("Thing n/one",))
    with pytest.raises(NotReadyError, match="n/one"):
        removal.check_empty({"things": [theirs]})


def test_a_namespace_with_somebodys_things_stays() -> None:
    theirs = {"kind": "ConfigMap", "metadata": {"name": "theirs"}}
    contents = [
        theirs,
        {"kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}},
        {"kind": "Pod", "metadata": {"name": "p", "ownerReferences": [{}]}},
        {
            "kind": "Secret",
            "metadata": {"name": "s", "annotations": {"kubernetes.io/service-account.name": "default"}},
        },
        {"kind": "Service", "metadata": {"name": "s", "labels": {"olm.managed": "true"}}},
        {"kind": "ConfigMap", "metadata": {"name": "ours", "labels": OURS}},
    ]
    assert removal.foreign_objects(contents) == ["ConfigMap theirs"]
