"""Foreign objects: who manages them, where they differ, and which failure that explains."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import adoption
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError

Data = dict[str, t.Any]
TITLE = "ClusterPolicy theirs"


def policy(spec: Data, **metadata: t.Any) -> Data:
    return {"metadata": {"name": "theirs", **metadata}, "spec": spec}


def wrote(manager: str, time: str, **more: str) -> Data:
    return {"manager": manager, "operation": "Update", "time": time, **more}


def test_each_leaf_that_differs_is_named() -> None:
    live = policy({"driver": {"version": "1"}, "daemonsets": {"tolerations": []}, "mig": None})
    wanted = {
        "driver": {"version": "2", "rdma": {"enabled": True}},
        "daemonsets": {"tolerations": []},
        "mig": {"strategy": "single"},
        "gds": {},
    }
    found = adoption.foreign(live, wanted, TITLE)
    assert found.differs == [
        {"field": "spec.driver.version", "live": "1", "wanted": "2"},
        {"field": "spec.driver.rdma.enabled", "live": None, "wanted": True},
        {"field": "spec.mig.strategy", "live": None, "wanted": "single"},
    ]
    assert "spec.driver.version, spec.driver.rdma.enabled, spec.mig.strategy" in found.warning
    assert adoption.difference(wanted, live["spec"]) == {
        "driver": {"version": "2", "rdma": {"enabled": True}},
        "mig": {"strategy": "single"},
    }


def test_what_is_as_asked_is_no_warning() -> None:
    found = adoption.foreign(
        policy({"mig": {"strategy": "single", "more": 1}}), {"mig": {"strategy": "single"}}, TITLE
    )
    assert (found.differs, found.warning) == ([], "")


@pytest.mark.parametrize(
    ("metadata", "keeper"),
    [
        (
            {"annotations": {"argocd.argoproj.io/tracking-id": "gpu:nvidia.com/ClusterPolicy:/theirs"}},
            "Argo CD (gpu)",
        ),
        (
            {
                "annotations": {
                    "argocd.argoproj.io/sync-wave": "30",
                    "argocd.argoproj.io/tracking-id": "gpu:nvidia.com/ClusterPolicy:/theirs",
                }
            },
            "Argo CD (gpu)",
        ),
        ({"annotations": {"argocd.argoproj.io/sync-wave": "30"}}, "Argo CD"),
        ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "Helm"),
        (
            {
                "managedFields": [
                    wrote("kubectl-edit", "2026-11-02T00:00:00Z"),
                    wrote("oc", "2026-11-01T00:00:00Z"),
                ]
            },
            "another client (field manager kubectl-edit)",
        ),
        (
            {"managedFields": [wrote("gpu-operator", "2026-11-02T00:00:00Z", subresource="status")]},
            "another client",
        ),
        ({}, "another client"),
    ],
)
def test_who_keeps_it(metadata: Data, keeper: str) -> None:
    assert adoption.keeper(policy({}, **metadata)) == keeper


@pytest.mark.parametrize(
    ("code", "blamed"), [("GPU-TAINT", True), ("GPU-NODES", False), ("GPU-ALLOC", False)]
)
def test_a_failure_that_a_difference_explains_says_so(code: str, blamed: bool) -> None:
    error = NotReadyError(code, "A taint.", "Take it away.")
    found = adoption.foreign(policy({}), {"daemonsets": {"tolerations": [{"key": "a"}]}}, TITLE)
    found.blame(error, {"GPU-TAINT": ("spec.daemonsets.tolerations",), "GPU-ALLOC": ("spec.mig.",)})
    assert ("adopt: take" in error.remedy) is blamed
    assert error.evidence == ["spec.daemonsets.tolerations: None (asked: [{'key': 'a'}])"]
