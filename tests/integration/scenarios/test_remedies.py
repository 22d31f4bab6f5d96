# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user sets the variable that each remedy names, and that failure is gone."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from integration.playbook import Run
from integration.scenarios.place import Data, Place, existing, setting
from integration.stack.operators.subscribed import V1ALPHA1, trouble
from integration.troubles.demo import GPU, verdict

from openshift_sandbox import faults
from openshift_sandbox.programs import foreign_webhooks

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.long("one more stack; unit tests hold that the variable of each remedy reaches its module"),
    pytest.mark.story("a user follows the remedies until the GPUs work"),
]
POOLS: t.Final = existing(inference=1)
THEIRS: t.Final = "platform-nfd"
NFD: t.Final = "node_feature_discovery"
ELSEWHERE: t.Final = {f"{NFD}_namespace": THEIRS}
TOLERANT: t.Final[Data] = {f"{NFD}_worker_tolerations": [{"operator": "Exists"}]}
OLDER: t.Final = {"gpu_operator_channel": "v26.3"}
MIRRORED: t.Final = {"gpu_validation_image": "registry.example.com/vectoradd:1"}
TAINT: t.Final = {"key": "example.com/maintenance", "effect": "NoExecute"}


def only(place: Place, tag: str, **variables: t.Any) -> Run:
    """Run enable_gpus.yml with one tag."""
    patience = {f"{tag}_wait_timeout": 300, "gpu_operator_grace": 30}
    return place.run("enable_gpus", "--tags", tag, gpu_pools=POOLS, **patience, **variables)


@pytest.fixture(scope="module")
def theirs(place: Place) -> Place:
    """Subscribe to NFD in a namespace of another team, as its members do by hand."""
    client, where = place.client, {"namespace": THEIRS}
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": THEIRS}})
    group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup"}
    client.apply({**group, "metadata": {"name": "theirs", **where}, "spec": {"targetNamespaces": [THEIRS]}})
    spec = {
        "name": "nfd",
        "channel": "stable",
        "source": "redhat-operators",
        "sourceNamespace": "openshift-marketplace",
    }
    metadata = {"name": "nfd", **where}
    client.apply({"apiVersion": V1ALPHA1, "kind": "Subscription", "metadata": metadata, "spec": spec})
    client.patch("v1", "nodes", "t4-0", None, {"spec": {"taints": [TAINT]}})
    return place


def test_the_namespace_of_the_other_subscription(theirs: Place) -> None:
    run = only(theirs, NFD)
    found = verdict(run, "OLM-TWICE", "olm")
    assert setting(found["remedy"]) == ELSEWHERE
    assert theirs.writes(run) == []


def test_tolerations_of_the_workers(theirs: Place) -> None:
    found = verdict(only(theirs, NFD, **ELSEWHERE), "NFD-TAINT", "nfd")
    assert "example.com/maintenance:NoExecute" in found["message"]
    assert f"{NFD}_worker_tolerations" in found["remedy"]
    done = only(theirs, NFD, **ELSEWHERE, **TOLERANT)
    assert done.rc == 0, done.output[-4000:]
    theirs.client.patch("v1", "nodes", "t4-0", None, {"spec": {"taints": []}})


def test_a_channel_that_olm_can_resolve(theirs: Place) -> None:
    with contextlib.ExitStack() as troubles:
        for version in ("26.7.0", "26.7.1"):
            never = trouble(
                theirs.cluster, "resolution_failed", package="gpu-operator-certified", version=version
            )
            troubles.enter_context(never)
        found = verdict(only(theirs, "gpu_operator"), "OLM-RESOLVE", "olm")
        assert "gpu_operator_channel (module option channel)" in found["remedy"]
        done = only(theirs, "gpu_operator", **OLDER)
        assert done.rc == 0, done.output[-4000:]
    (made,) = theirs.client.list(V1ALPHA1, "subscriptions", GPU)
    assert made["status"]["installedCSV"] == "gpu-operator-certified.v26.3.3"


def test_an_image_that_can_be_pulled(theirs: Place) -> None:
    sandbox = theirs.cluster.needs_sandbox()
    faults.add(sandbox, "registry_unreachable", {"host": "nvcr.io"})
    foreign_webhooks.wait_ready(sandbox)
    found = verdict(only(theirs, "gpu_validation"), "WORK-IMAGE", "workload")
    assert "gpu_validation_image" in found["remedy"]
    assert "nvcr.io" in found["message"]
    done = only(theirs, "gpu_validation", **MIRRORED)
    assert done.rc == 0, done.output[-4000:]


def test_with_all_of_them_the_whole_playbook_succeeds(theirs: Place) -> None:
    again = theirs.done("enable_gpus", gpu_pools=POOLS, **ELSEWHERE, **TOLERANT, **OLDER, **MIRRORED)
    assert (again.changed, theirs.writes(again)) == (0, [])
