"""The namespace of validations: whose objects keep it."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import (
    MANAGED_BY,
    validation_namespace,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import namespace


def named(name: str, **metadata: t.Any) -> KubeObject:
    return {"metadata": {"name": name, **metadata}}


def test_only_a_namespace_that_was_made_for_validations_is_one() -> None:
    made = validation_namespace("v")
    assert not namespace.is_made_for_validation(made), "the API adds the label of ownership"
    made["metadata"]["labels"] |= MANAGED_BY
    assert namespace.is_made_for_validation(made)
    assert not namespace.is_made_for_validation(named("team-a", labels=MANAGED_BY))
    assert not namespace.is_made_for_validation(named("team-a"))


def test_what_openshift_creates_in_every_namespace_is_of_nobody() -> None:
    token = {"kubernetes.io/service-account.name": "default"}
    assert namespace.of_others("Secret", [named("default-token-x", annotations=token)]) == []
    assert namespace.of_others("ConfigMap", [named("kube-root-ca.crt"), named("a", labels=MANAGED_BY)]) == []
    assert namespace.of_others("ServiceAccount", [named("builder"), named("bot")]) == ["ServiceAccount bot"]
    assert namespace.of_others("Pod", [named("trainer")]) == ["Pod trainer"]


def test_the_warning_names_some_objects_and_counts_all() -> None:
    text = namespace.stays("v", [f"Pod p{number}" for number in range(7)])
    assert "holds 7 objects" in text
    assert "Pod p4 and 2 more" in text
    assert "oc delete namespace v" in text
    assert "holds 1 object that" in namespace.stays("v", ["Pod p"])


def test_what_a_controller_made_for_a_listed_object_counts_with_that() -> None:
    owner = {"kind": "CronJob", "name": "gpu-gate", "controller": True}
    assert namespace.of_others("Job", [named("gpu-gate-1", ownerReferences=[owner])]) == []
    foreign = {"kind": "Workflow", "name": "w", "controller": True}
    assert namespace.of_others("Job", [named("step", ownerReferences=[foreign])]) == ["Job step"]


def test_a_level_that_an_administrator_changed_stays() -> None:
    enforce = "pod-security.kubernetes.io/enforce"
    assert validation_namespace("v")["metadata"]["labels"][enforce] == "restricted"
    live = named("v", labels={enforce: "privileged", "pod-security.kubernetes.io/warn": "restricted"})
    labels = validation_namespace("v", live)["metadata"]["labels"]
    assert enforce not in labels
    assert (
        labels["pod-security.kubernetes.io/warn"]
        == labels["pod-security.kubernetes.io/audit"]
        == "restricted"
    )
