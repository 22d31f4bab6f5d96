"""DaemonSets of an object: which they are, and whether they and their pods are gone."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import daemon_sets


def obj(name: str, uid: str, *owners: str) -> dict[str, t.Any]:
    references = [{"uid": owner} for owner in owners]
    return {"metadata": {"name": name, "uid": uid, "ownerReferences": references}}


def test_those_of_an_owner() -> None:
    ours, theirs, lone = obj("a", "1", "policy"), obj("b", "2", "other"), {"metadata": {"name": "c"}}
    assert daemon_sets.of_owner([ours, theirs, lone], "policy") == [ours]


def test_they_are_gone_only_with_their_pods() -> None:
    ours = obj("driver", "1", "policy")
    gone = daemon_sets.Gone("ClusterPolicy x", [ours])
    pods = [obj(f"driver-{number}", f"p{number}", "1") for number in range(6)]
    other = obj("driver", "9", "policy")

    found = gone({"daemonsets": [ours, other], "pods": pods})
    assert (found.verdict, found.code) == ("pending", "GPU-LEFT")
    assert found.details == (
        "7 left: daemonset/driver, pod/driver-0, pod/driver-1, pod/driver-2, pod/driver-3, …",
    )
    assert "ClusterPolicy x" in found.message
    assert gone({"daemonsets": [other], "pods": pods[:1]}).details == ("1 left: pod/driver-0",)
    assert gone({"daemonsets": [other], "pods": [obj("else", "p9", "9")]}).is_ready
