"""Steps of nfd_labels on an API server in memory: fields of the instance that another manager set."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.managed import live, patched
from unit.nfd.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ConflictError
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import instance, steps

THEIRS: t.Final = {"operand": {"workerTolerations": [{"key": "theirs", "operator": "Exists"}]}}
OURS: t.Final = [{"key": "ours", "operator": "Exists", "value": None, "effect": None}]


def cluster() -> FakeServer:
    """Return a cluster where kubectl changed the tolerations of our instance."""
    server = FakeServer("NodeFeatureDiscovery", "Node")
    server.put(patched(live(instance.build(params(), None)), THEIRS))
    return server


def test_tolerations_that_another_manager_set_are_not_overwritten_without_a_word() -> None:
    server = cluster()
    with pytest.raises(ConflictError, match=r"operand\.workerTolerations is .* kubectl-patch") as caught:
        steps.present(api_on(server, check_mode=True), params(worker_tolerations=OURS, wait=False))
    assert caught.value.code == "API-CONFLICT"
    assert server.writes() == []


def test_adopt_take_sets_them() -> None:
    server = cluster()
    steps.present(api_on(server, check_mode=True), params(worker_tolerations=OURS, wait=False, adopt="take"))


def test_tolerations_that_the_task_does_not_ask_for_are_no_conflict() -> None:
    steps.present(api_on(cluster(), check_mode=True), params(wait=False))
