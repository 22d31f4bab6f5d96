"""API groups of NFD's rules: the one that the cluster serves, and the move to the newer one."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.groups import (
    keep_rule,
    kind_of_rules,
)

NEWER = Kind("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", "nodefeaturerules")
OLDER = Kind("nfd.openshift.io/v1alpha1", "NodeFeatureRule", "nodefeaturerules")
UPSTREAM = NEWER._replace(namespaced=False)


@pytest.mark.parametrize(
    ("served", "found"),
    [
        ([NEWER, OLDER], NEWER),  # OpenShift 4.19 and later
        ([OLDER], OLDER),  # 4.18 and earlier
        ([UPSTREAM], UPSTREAM),  # upstream's chart
        ([], None),
    ],
)
def test_group_and_scope(served: list[Kind], found: Kind | None) -> None:
    server = FakeServer()
    server.served |= {(kind.api_version, kind.plural): kind for kind in served}
    api = api_on(server)
    assert kind_of_rules(api) == found
    asked = len(server.requests)
    assert asked <= 3
    if found:
        assert kind_of_rules(api) == found
        assert (
            len(server.requests) <= asked + 1
        )  # a group that is not served is asked again, what was found is not


PLACE = ("openshift-nfd", "mine")
WANTED: dict[str, t.Any] = {
    "apiVersion": NEWER.api_version,
    "kind": "NodeFeatureRule",
    "metadata": {"name": "mine", "namespace": "openshift-nfd"},
    "spec": {"rules": [{"name": "new"}]},
}


def with_older(labels: dict[str, str], is_copied: bool) -> FakeServer:
    """A rule of the older group, and perhaps the operator's copy of it."""
    server = FakeServer()
    server.served |= {(kind.api_version, kind.plural): kind for kind in (NEWER, OLDER)}
    old = {**WANTED, "apiVersion": OLDER.api_version, "spec": {"rules": [{"name": "old"}]}}
    source = server.put({**old, "metadata": {**WANTED["metadata"], "labels": labels}})
    if is_copied:
        owner = {
            "apiVersion": OLDER.api_version,
            "kind": "NodeFeatureRule",
            "name": "mine",
            "uid": source["metadata"]["uid"],
            "controller": True,
        }
        server.put(
            {
                **old,
                "apiVersion": NEWER.api_version,
                "metadata": {**WANTED["metadata"], "ownerReferences": [owner]},
            }
        )
    return server


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_rule_of_ours_is_moved_and_stands_for_itself_before_the_older_one_goes(is_copied: bool) -> None:
    server = with_older(MANAGED_BY, is_copied)
    api = api_on(server)
    keep_rule(api, NEWER, WANTED, take=False)
    (moved,) = (
        one
        for (version, plural, *_place), one in server.objects.items()
        if plural == NEWER.plural and version in (NEWER.api_version, OLDER.api_version)
    )
    assert (moved["apiVersion"], moved["spec"], moved["metadata"]["labels"]) == (
        NEWER.api_version,
        WANTED["spec"],
        MANAGED_BY,
    )
    assert not moved["metadata"].get("ownerReferences")
    assert server.writes()[-1] == ("DELETE", OLDER.path(*PLACE))
    assert [text.partition(":")[0] for text in api.warnings] == ["NodeFeatureRule mine"]
    asked = len(server.requests)
    keep_rule(api, NEWER, WANTED, take=False)
    # Afterwards the older group is not asked any more.
    assert [path for _method, path, _query in server.requests[asked:]] == [NEWER.path(*PLACE)]


def test_the_copy_of_somebody_else_s_rule_is_told_of_and_its_source_left_alone() -> None:
    server = with_older({}, is_copied=True)
    api = api_on(server)
    keep_rule(api, NEWER, WANTED, take=True)
    assert not [path for method, path in server.writes() if method == "DELETE"]
    assert "whenever that one changes" in api.warnings[0]
