"""Rules of NFD: whichever group and scope the cluster serves, found out once a task."""

from __future__ import annotations

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._procedures._node_features import kind_of_rules

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
        assert len(server.requests) <= asked + 1  # a group that is not served is asked again, what was found is not
