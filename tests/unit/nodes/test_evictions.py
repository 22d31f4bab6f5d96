"""Evictions: of exactly the pod that was looked at, each asked once."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.evictions import evict


@pytest.mark.parametrize(
    "gone",
    [
        status(404, "NotFound", 'pods "p" not found', "p"),
        status(409, "Conflict", "Precondition failed: UID in precondition"),
    ],
)
@pytest.mark.parametrize("lost", [True, False])
def test_an_eviction_whose_answer_was_lost_is_a_change(gone: Answer, lost: bool) -> None:
    server = FakeServer()
    server.faults = [
        *([ConnectionResetError(104, "Connection reset by peer")] if lost else []),
        gone.copy(),
    ]
    api = api_on(server)
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "x", "uid": "1"},
        "spec": {"nodeName": "n"},
    }
    assert evict(api, pod) == ""
    assert bool(api.changes) is lost


@pytest.mark.parametrize(
    "text",
    [
        'admission webhook "virt-launcher-eviction-interceptor.kubevirt.io" denied the request: Eviction '
        'triggered evacuation of VMI "x/vm"',
        "Too many requests, please try again later.",
    ],
)
def test_a_refused_eviction_is_asked_once_and_returned_in_its_own_words(text: str) -> None:
    server, clock = FakeServer(), FakeClock()
    server.faults = [status(429, "TooManyRequests", text)]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "x", "uid": "1"},
        "spec": {"nodeName": "n"},
    }
    api = api_on(server, clock)
    assert evict(api, pod) == text
    assert (clock.slept, api.changes) == ([], [])
