# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stays of a sandbox's cluster when another scenario gets its control plane."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest

from openshift_sandbox import handover
from openshift_sandbox.etcd import Content
from openshift_sandbox.handover import AWAITED, CRDS, Blank
from openshift_sandbox.processes import identity
from openshift_sandbox.sandbox import Sandbox, SandboxError

Data = dict[str, t.Any]

BASE: t.Final = dict.fromkeys(AWAITED, b"base")
ACCOUNT: t.Final = b"/registry/serviceaccounts/kube-system/job-controller"


class Memory:
    """Stands in for Etcd: a dictionary."""

    def __init__(self) -> None:
        self.content: Content = dict(BASE)

    def read(self) -> Content:
        return dict(self.content)

    def replace(self, wanted: Content) -> None:
        self.content = dict(wanted)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    made = Memory()
    monkeypatch.setattr(handover, "etcd", lambda _sandbox: made)
    return made


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path / "sandbox")
    made.create()
    return made


def crd(name: str, **spec: t.Any) -> Data:
    return {"metadata": {"name": name}, "spec": spec}


def key(name: str) -> bytes:
    return CRDS + name.encode()


def live(name: str, spec: Data, **more: t.Any) -> bytes:
    return json.dumps({"metadata": {"name": name, **more}, "spec": spec}).encode()


def loaded(sandbox: Sandbox, memory: Memory, *crds: Data) -> Blank:
    """Return the blank of a sandbox that has loaded these CRDs."""
    blank = Blank(sandbox)
    blank.remember()
    memory.content |= {
        key(one["metadata"]["name"]): live(one["metadata"]["name"], one["spec"]) for one in crds
    }
    blank.remember_crds(crds)
    return blank


def test_objects_of_the_cluster_go(sandbox: Sandbox, memory: Memory) -> None:
    blank = loaded(sandbox, memory, crd("a", one=1))
    memory.content |= {b"/registry/pods/team/x": b"pod", b"/registry/namespaces/default": b"labelled"}
    assert blank.content() == BASE | {key("a"): live("a", {"one": 1})}


def test_what_the_control_plane_made_for_itself_stays(sandbox: Sandbox, memory: Memory) -> None:
    blank = loaded(sandbox, memory)
    memory.content[ACCOUNT] = b"made a moment later"
    assert blank.content()[ACCOUNT] == b"made a moment later"


def test_a_crd_that_somebody_changed_goes(sandbox: Sandbox, memory: Memory) -> None:
    blank = loaded(sandbox, memory, crd("a", one=1), crd("b", one=1), crd("c", one=1))
    memory.content[key("a")] = live("a", {"one": 2})
    memory.content[key("b")] = live("b", {"one": 1}, labels={"by": "somebody"})
    del memory.content[key("c")]
    assert blank.content() == BASE | {key("b"): live("b", {"one": 1})}


def test_a_crd_of_an_operator_goes(sandbox: Sandbox, memory: Memory) -> None:
    blank = loaded(sandbox, memory)
    memory.content[key("installed")] = live("installed", {})
    assert blank.content() == BASE


def test_only_the_same_crds_serve_the_next_scenario(sandbox: Sandbox, memory: Memory) -> None:
    blank = loaded(sandbox, memory, crd("same", one=1), crd("other", one=1), crd("not wanted", one=1))
    missing = blank.drop_crds([crd("same", one=1), crd("other", one=2)])
    assert memory.content == BASE | {key("same"): live("same", {"one": 1})}
    assert missing == [crd("other", one=2)]


def test_a_control_plane_that_is_not_complete_is_told(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "BLANK_SECONDS", 0.0)
    del memory.content[b"/registry/namespaces/default"]
    with pytest.raises(SandboxError, match="has not made /registry/namespaces/default after 0 s"):
        Blank(sandbox).remember()


def test_a_control_plane_that_was_replaced_is_not_used_again(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    me: Data = {"pid": 1, "started": identity(1), "log": "", "argv": [], "nested": False}
    assert not handover.can_clear(sandbox), "nothing runs yet"
    sandbox.state.set(processes=dict.fromkeys(handover.STORE, me))
    loaded(sandbox, memory)
    assert handover.can_clear(sandbox)
    sandbox.state.set(processes=dict.fromkeys(handover.STORE, me | {"started": "earlier"}))
    assert not handover.can_clear(sandbox), "it ended"
    sandbox.state.set(processes=dict.fromkeys(handover.STORE, me), made_with=dict.fromkeys(handover.STORE, 2))
    assert not handover.can_clear(sandbox), "it is another one"
