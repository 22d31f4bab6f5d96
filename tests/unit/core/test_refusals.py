# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of an API server that refuses a request, as real servers write them."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import refusals
from ansible_collections.accelerators.openshift.plugins.module_utils._core.refusals import Lack, Silent


@pytest.mark.parametrize(
    ("text", "lack"),
    [
        (
            'nodes is forbidden: User "system:serviceaccount:a:b" cannot list resource "nodes" '
            'in API group "" at the cluster scope',
            Lack("system:serviceaccount:a:b", "list", "nodes", ""),
        ),
        (
            'pods "p" is forbidden: User "joe" cannot get resource "pods/log" in API group "" '
            'in the namespace "x"',
            Lack("joe", "get", "pods/log", "x"),
        ),
        (
            'installplans.operators.coreos.com "i" is forbidden: User "joe" cannot patch resource '
            '"installplans" in API group "operators.coreos.com" in the namespace "x"',
            Lack("joe", "patch", "installplans.operators.coreos.com", "x"),
        ),
        ('forbidden: User "joe" cannot get path "/metrics"', Lack("joe", "get", "/metrics", "")),
        ('pods "p" is forbidden: violates PodSecurity "restricted:latest"', None),
    ],
)
def test_the_lacking_permission(text: str, lack: Lack | None) -> None:
    assert refusals.lack(text) == lack


def test_the_command_that_checks_a_permission() -> None:
    one = Lack("joe", "get", "pods/log", "x")
    assert one.words == "get pods/log in namespace x"
    assert one.question == "get pods/log -n x --as joe"
    assert Lack("joe", "list", "nodes", "").question == "list nodes --as joe"


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ('failed calling webhook "a.b": Post "https://s.n.svc:443/x": EOF', Silent("a.b", "s", "n")),
        ('failed calling webhook "a.b": service "s" not found', Silent("a.b", "s", "")),
        ('failed calling webhook "a.b": Post "https://1.2.3.4/x": EOF', Silent("a.b", "", "")),
        ('admission webhook "a.b" denied the request: no', None),
    ],
)
def test_the_webhook_that_cannot_be_called(text: str, silent: Silent | None) -> None:
    assert refusals.silent_webhook(text) == silent


def test_the_webhook_that_refuses() -> None:
    assert refusals.denied_by('admission webhook "a.b" denied the request: no') == "a.b"
    assert refusals.denied_by("exceeded quota") == ""
