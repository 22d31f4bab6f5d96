"""Other managers of an object are named by what they leave on it."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.adoption import other_manager


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({}, ""),
        ({"labels": {"app.kubernetes.io/managed-by": "accelerators.openshift"}}, ""),
        ({"labels": {"app.kubernetes.io/managed-by": "ops-tool"}}, "ops-tool"),
        (
            {
                "annotations": {
                    "argocd.argoproj.io/tracking-id": "gitops:nfd.openshift.io/NodeFeatureDiscovery:ns/x"
                }
            },
            "Argo CD (gitops)",
        ),
        (
            {
                "annotations": {"meta.helm.sh/release-name": "nfd"},
                "labels": {"app.kubernetes.io/managed-by": "Helm"},
            },
            "Helm (nfd)",
        ),
        ({"ownerReferences": [{"kind": "ClusterExtension", "name": "nfd"}]}, "OLM v1 (nfd)"),
        ({"ownerReferences": [{"kind": "Deployment", "name": "nfd"}]}, ""),
        ({"managedFields": [{"manager": "kubectl"}, {"manager": "argocd-controller"}]}, "Argo CD"),
        ({"managedFields": [{"manager": "oc"}]}, ""),
    ],
)
def test_the_other_manager(metadata: dict[str, t.Any], name: str) -> None:
    assert other_manager({"metadata": metadata}) == name
