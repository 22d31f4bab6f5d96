# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the tests of special_resource's generic backends."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.backends.kmm_cards import ABSENT, KMM, KMM_ABSENT, LABEL, SELECTOR, options
from integration.playbook import Playbook


@pytest.fixture(scope="module")
def cards(cluster: Cluster, playbook: Playbook) -> t.Iterator[list[str]]:
    """Install KMM, label two workers as nodes with cards, and yield their names."""
    cluster.needs_sandbox()
    planned = playbook.module("special_resource", check=True, **options())
    assert (planned.failed, planned.changed) == (False, True), planned.result
    run = playbook.tasks(KMM)
    assert run.rc == 0, run.output[-3000:]
    nodes = sorted(
        node["metadata"]["name"]
        for node in cluster.client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")
    )[:2]
    for name in nodes:
        cluster.client.patch("v1", "nodes", name, None, {"metadata": {"labels": SELECTOR}})
    yield nodes
    gone = playbook.module("special_resource", **ABSENT)
    for name in nodes:
        cluster.client.patch("v1", "nodes", name, None, {"metadata": {"labels": {LABEL: None}}})
    assert not gone.failed, gone.result
    assert playbook.tasks(KMM_ABSENT).rc == 0
