# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_hardware_profile on a server in memory: what is written, refused, kept and deleted."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer, status
from unit.hardware_profiles.test_profiles import OURS, P4D, T4
from unit.queue.builders import pools

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ConflictError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._hardware_profiles import profiles, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

Data = dict[str, t.Any]
# The kinds of profiles, the newest first.
KINDS: t.Final = [Kind(*known) for known in profiles.KINDS]
NAMES: t.Final = {kind.kind for kind in KINDS}
NOTEBOOK, MODEL = (Kind(*known) for known in profiles.USERS)
OPERATOR: t.Final = Kind(steps._OPERATOR, "DSCInitialization", "dscinitializations", False)
RESEARCH: t.Final = {"name": "research", "pools": [{"name": "training"}], "namespaces": ["team-a"]}


class World:
    """A cluster with OpenShift AI. kinds: numbers of the kinds of profiles that it serves."""

    def __init__(self, *kinds: int, place: str = steps.USUAL, has_operator: bool = True) -> None:
        self.server = FakeServer("Namespace")
        self.serve(*(KINDS[number] for number in kinds or (0, 1)))
        self.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
        if has_operator:
            self.serve(OPERATOR)
            metadata = {"name": "default-dsci"}
            spec = {"applicationsNamespace": place}
            version = {"apiVersion": OPERATOR.api_version, "kind": OPERATOR.kind}
            self.server.put({**version, "metadata": metadata, "spec": spec})

    def serve(self, *kinds: Kind) -> None:
        for kind in kinds:
            self.server.served[kind.api_version, kind.plural] = kind

    def present(self, *described: Data, **given: t.Any) -> list[str]:
        """Return the warnings of a task."""
        self.server.requests.clear()
        check = given.pop("check_mode", False)
        api = api_on(self.server, check_mode=check)
        steps.present(api, params(pools(*described), **given))
        return [str(text) for text in api.warnings]

    def absent(self, *names: str, **given: t.Any) -> list[str]:
        api = api_on(self.server)
        found = steps.absent(api, params([{"name": name} for name in names], state="absent", **given))
        return [profile["name"] for profile in found["profiles"]]

    def refused(self, *described: Data, **given: t.Any) -> AcceleratorError:
        with pytest.raises(AcceleratorError) as caught:
            self.present(*described, **given)
        assert not self.server.writes()
        return caught.value

    def all(self) -> dict[str, Data]:
        """Return the profiles by namespace and name, those of all kinds."""
        return {
            f"{obj['metadata']['namespace']}/{obj['metadata']['name']}": obj
            for obj in self.server.objects.values()
            if obj["kind"] in NAMES
        }

    def one(self, name: str, place: str = steps.USUAL) -> Data:
        return self.all()[f"{place}/{name}"]


def params(given: list[Data], **more: t.Any) -> steps.GpuHardwareProfileParams:
    plain: Data = {
        "state": "present",
        "wait": True,
        "wait_timeout": 60,
        "lock_timeout": 0,
        "pools": given,
        "queues": [],
        "claims": False,
        "hardware_profiles": True,
        "namespace": None,
        "adopt": "report",
    }
    return t.cast(steps.GpuHardwareProfileParams, plain | more)


def test_each_pool_gets_a_profile_and_a_second_run_writes_nothing() -> None:
    world = World()
    world.present(P4D, T4)
    assert list(world.all()) == [f"{steps.USUAL}/training", f"{steps.USUAL}/inference"]
    assert world.one("training")["metadata"]["labels"] == OURS
    world.present(P4D, T4)
    assert world.server.writes() == []


def test_a_pool_that_leaves_the_list_loses_its_profile() -> None:
    world = World()
    world.present(P4D, T4)
    world.present(P4D, check_mode=True)
    assert (len(world.all()), world.server.writes()) == (2, [])
    world.present(P4D)
    assert list(world.all()) == [f"{steps.USUAL}/training"]


def test_another_file_of_pools_keeps_its_profiles() -> None:
    world = World()
    world.present(P4D)
    world.present(T4)
    assert len(world.all()) == 2


def test_a_pool_that_gets_a_queue_is_offered_by_the_queue() -> None:
    world = World()
    world.present(P4D, T4)
    world.present(P4D, T4, queues=[RESEARCH])
    assert {name.partition("/")[2] for name in world.all()} == {"inference", "research"}
    assert world.one("research")["spec"]["scheduling"]["kueue"] == {"localQueueName": "research"}
    world.present(P4D, T4, queues=[RESEARCH])
    assert world.server.writes() == []


def user(kind: Kind, **notes: str) -> Data:
    metadata = {"name": "wb", "namespace": "team-a", "annotations": notes}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}


@pytest.mark.parametrize("kinds", [(0, 1), (2,), (3,)])
def test_what_is_no_longer_offered_is_taken_back(kinds: tuple[int, ...]) -> None:
    world = World(*kinds)
    world.present({**T4, "name": "others"})
    world.present(P4D, T4)
    world.present(P4D, hardware_profiles=False, claims=True, check_mode=True)
    assert (len(world.all()), world.server.writes()) == (3, [])
    world.one("inference")["metadata"]["labels"] = {}
    only_names = params([{"name": "training"}], hardware_profiles=False, claims=True)
    assert steps.present(api_on(world.server), only_names) == {"profiles": []}
    assert {name.partition("/")[2] for name in world.all()} == {"others", "inference"}
    world.present(P4D, hardware_profiles=False)
    assert world.server.writes() == []


@pytest.mark.parametrize(
    ("kind", "key"),
    [(NOTEBOOK, "hardware-profile-name"), (NOTEBOOK, "accelerator-name"), (MODEL, "hardware-profile-name")],
)
def test_a_profile_with_which_something_runs_is_not_taken_back(kind: Kind, key: str) -> None:
    world = World()
    world.serve(NOTEBOOK, MODEL)
    world.present(P4D, T4)
    named = {f"opendatahub.io/{key}": "training"}
    world.server.put(user(kind, **named))
    (warning,) = world.present(P4D, T4, hardware_profiles=False)
    assert f"HardwareProfile {steps.USUAL}/training stays: {kind.kind} team-a/wb" in warning
    assert list(world.all()) == [f"{steps.USUAL}/training"]
    world.server.put(user(kind, **named, **{"kubeflow-resource-stopped": "2026-11-01T00:00:00Z"}))
    assert world.present(P4D, T4, hardware_profiles=False) == []
    assert world.all() == {}


def test_a_run_without_profiles_asks_little_and_needs_no_right() -> None:
    world = World(has_operator=False)
    world.server.served = {key: kind for key, kind in world.server.served.items() if kind.kind not in NAMES}
    world.present(P4D, hardware_profiles=False)
    assert len(world.server.requests) == len(KINDS)
    world.server.faults = [status(403, "Forbidden", "no")] * len(KINDS)
    assert world.present(P4D, hardware_profiles=False) == []
    world.server.faults = [status(403, "Forbidden", "no")] * len(KINDS)
    assert world.absent("training", hardware_profiles=False) == []


def test_a_removal_finds_what_an_earlier_run_offered() -> None:
    world = World()
    world.present(P4D, T4)
    assert set(world.absent("training", "inference", hardware_profiles=False)) == {"training", "inference"}
    assert world.all() == {}


@pytest.mark.parametrize(
    ("served", "version"),
    [
        pytest.param((0, 1, 2, 3), "infrastructure.opendatahub.io/v1", id="newest"),
        pytest.param((1, 2), "infrastructure.opendatahub.io/v1alpha1", id="first of the new group"),
        pytest.param((2, 3), "dashboard.opendatahub.io/v1alpha1", id="older group"),
        pytest.param((3,), "dashboard.opendatahub.io/v1", id="accelerator profiles"),
    ],
)
def test_the_newest_kind_that_is_served(served: tuple[int, ...], version: str) -> None:
    world = World(*served)
    world.present(P4D)
    assert {obj["apiVersion"] for obj in world.all().values()} == {version}


def test_profiles_of_an_older_kind_go_when_a_newer_one_is_served() -> None:
    world = World(3)
    world.present(P4D)
    assert world.one("training")["kind"] == "AcceleratorProfile"
    world.serve(KINDS[0])
    world.present(P4D)
    assert [obj["apiVersion"] for obj in world.all().values()] == ["infrastructure.opendatahub.io/v1"]


def test_an_older_kind_offers_pools_of_queues_and_says_so() -> None:
    world = World(2)
    (warning,) = world.present(P4D, queues=[RESEARCH])
    assert "knows no queues" in warning
    assert list(world.all()) == [f"{steps.USUAL}/training"]


def test_a_profile_that_somebody_disabled_stays_disabled() -> None:
    world = World(3)
    world.present(P4D)
    world.one("training")["spec"]["enabled"] = False
    world.present(P4D)
    assert world.server.writes() == []


def test_without_openshift_ai_nothing_is_written() -> None:
    world = World()
    world.server.served = {key: kind for key, kind in world.server.served.items() if kind.kind not in NAMES}
    error = world.refused(P4D)
    assert error.code == "POLICY-NO-PROFILES"
    assert "gpu_hardware_profiles: false" in error.remedy


def test_claims_are_refused() -> None:
    assert World().refused(P4D, claims=True).code == "POLICY-PROFILE-CLAIMS"


def test_the_namespace_is_that_of_the_installation() -> None:
    world = World(place="opendatahub")
    world.present(P4D)
    assert list(world.all()) == ["opendatahub/training"]
    error = World(has_operator=False, place="ai").refused(P4D)
    assert (error.code, steps.USUAL in error.message) == ("POLICY-PROFILE-NAMESPACE", True)
    world = World(has_operator=False, place="ai")
    world.present(P4D, namespace="ai")
    assert list(world.all()) == ["ai/training"]


def test_profiles_in_an_earlier_namespace_go() -> None:
    world = World()
    world.present(P4D)
    world.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ai"}})
    world.present(P4D, namespace="ai")
    assert list(world.all()) == ["ai/training"]


@pytest.mark.parametrize("adopt", ["report", "take"])
def test_a_profile_of_others_is_never_changed(adopt: str) -> None:
    world = World()
    world.present(T4)
    world.one("inference")["metadata"]["labels"] = {}
    error = world.refused(P4D, T4, adopt=adopt)
    assert (error.code, "inference" in error.message) == ("POLICY-PROFILE-FOREIGN", True)
    assert world.absent("inference") == []


def test_values_that_somebody_set_are_refused_unless_they_are_taken() -> None:
    world = World()
    world.present(P4D)
    profile = world.one("training")
    theirs: Data = {"f:spec": {"f:identifiers": {}}}
    profile["metadata"]["managedFields"].append(
        {"manager": "dashboard", "operation": "Update", "fieldsV1": theirs, "time": "2026-11-01T00:00:00Z"}
    )
    profile["spec"]["identifiers"][2]["maxCount"] = 2
    error = world.refused(P4D)
    assert isinstance(error, ConflictError)
    assert "gpu_policy_adopt: take" in error.remedy
    world.present(P4D, adopt="take")
    assert world.one("training")["spec"]["identifiers"][2]["maxCount"] == 8


def test_a_removal_takes_the_profiles_of_these_pools_alone() -> None:
    world = World(0, 3)
    queue = {**RESEARCH, "pools": [{"name": "training"}, {"name": "inference"}]}
    world.present(P4D, T4, {**T4, "name": "batch"}, queues=[queue])
    assert world.absent("training") == []
    assert world.absent("batch") == ["batch"]
    assert world.absent("training", "inference") == ["research"]
    assert world.absent("training", "inference") == []
    assert world.absent() == []


def test_a_removal_without_openshift_ai_has_nothing_to_do() -> None:
    world = World(has_operator=False)
    world.server.served = {key: kind for key, kind in world.server.served.items() if kind.kind not in NAMES}
    assert world.absent("training") == []
