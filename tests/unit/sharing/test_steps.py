# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_sharing on a server in memory: profiles, labels, restarts, and what is asked before."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.sharing.builders import (
    FOUR,
    MPS,
    SPACE,
    Server,
    foreign,
    gpu_pod,
    node,
    params,
    plugin,
    policy,
    with_label,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import profile
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.steps import absent, present

EIGHT: t.Final = {"time_slicing": {"replicas": 8}}
NAMED: t.Final = {"name": "gpu-sharing", "default": "whole-gpus"}
PLUGIN: t.Final = f"/api/v1/namespaces/{SPACE}/pods/plugin-n"


def again(server: Server, **more: t.Any) -> list[tuple[str, str]]:
    """Return what a second run writes."""
    server.requests.clear()
    present(api_on(server), params(("inference", FOUR), **more))
    return server.writes()


def test_profiles_come_before_the_labels_and_a_second_run_writes_nothing() -> None:
    server = Server(node("n"), node("m", pool="other"))
    found = present(api_on(server), params(("inference", FOUR)))
    assert [path.rpartition("/")[2] for _verb, path in server.writes()] == ["gpu-sharing", "n"]
    assert server.data() == {"gpu-inference": profile.text(FOUR), "whole-gpus": "version: v1\n"}
    assert (server.label("n"), server.label("m")) == ("gpu-inference", None)
    assert found["config"] == NAMED
    assert found["is_named"] is False
    assert again(server) == []


def test_nothing_to_share_costs_one_request() -> None:
    server = Server(node("n"))
    found = present(api_on(server), params(("inference", {})))
    assert len(server.requests) == 1
    assert found["config"] == {}


def test_check_mode_writes_nothing() -> None:
    server = Server(node("n"))
    api = api_on(server, check_mode=True)
    assert present(api, params(("inference", FOUR)))["config"] == NAMED
    assert server.writes() == []
    assert len(api.changes) == 2


def test_another_content_restarts_the_readers_of_that_profile_alone() -> None:
    server = Server(policy(**NAMED), node("n"), node("m", pool="other"))
    both = (("inference", FOUR), ("other", FOUR))
    present(api_on(server), params(*both))
    for one in ("n", "m"):
        server.put(plugin(one))
    server.requests.clear()
    present(api_on(server, wait_wanted=False), params(("inference", EIGHT), ("other", FOUR)))
    assert [one for one in server.writes() if one[0] == "DELETE"] == [("DELETE", PLUGIN)]
    assert server.named("Pod", "plugin-m") is not None
    assert "annotations" not in (server.named("ConfigMap", "gpu-sharing") or {})["metadata"]
    server.requests.clear()
    present(api_on(server, wait_wanted=False), params(("inference", EIGHT), ("other", FOUR)))
    assert server.writes() == []


def test_an_interrupted_restart_is_resumed() -> None:
    server = Server(policy(**NAMED), node("n"))
    present(api_on(server), params(("inference", FOUR)))
    live = server.named("ConfigMap", "gpu-sharing") or {}
    live["metadata"]["annotations"] = {"accelerators.openshift/restart": "gpu-inference"}
    live["metadata"]["managedFields"][0]["fieldsV1"].setdefault("f:metadata", {})["f:annotations"] = {
        "f:accelerators.openshift/restart": {}
    }
    server.put(plugin("n"))
    server.requests.clear()
    present(api_on(server, wait_wanted=False), params(("inference", FOUR)))
    assert ("DELETE", PLUGIN) in server.writes()


def test_the_config_map_that_the_policy_names_keeps_the_profiles_of_others() -> None:
    server = Server(policy(name="theirs", default="any"), foreign(any="version: v1"), node("n"))
    found = present(api_on(server), params(("inference", FOUR)))
    assert server.data("theirs") == {"any": "version: v1", "gpu-inference": profile.text(FOUR)}
    assert found["config"] == {"name": "theirs", "default": "any"}
    assert server.named("ConfigMap", "gpu-sharing") is None
    absent(api_on(server), params(("inference", FOUR), state="absent"))
    assert server.data("theirs") == {"any": "version: v1"}


@pytest.mark.parametrize("act", [present, absent])
def test_the_last_profile_beside_those_of_others_goes(act: t.Callable[..., t.Any]) -> None:
    server = Server(policy(name="theirs"), foreign(any="version: v1"), node("n"))
    present(api_on(server), params(("inference", FOUR)))
    state = "absent" if act is absent else "present"
    found = act(api_on(server), params(("inference", {}), state=state))
    assert found["config"] == {"name": "theirs"}, "their nodes read it"
    assert (server.data("theirs"), server.label("n")) == ({"any": "version: v1"}, None)
    server.requests.clear()
    act(api_on(server), params(("inference", {}), state=state))
    assert len(server.requests) == 1


def test_a_profile_of_others_on_a_node_is_refused_before_the_first_write() -> None:
    server = Server(with_label(node("n"), device_plugin__config="theirs"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(("inference", FOUR)))
    assert raised.value.code == "GPU-SHARING-LABEL"
    assert server.writes() == []


def test_a_change_to_mps_under_a_pod_is_asked_for() -> None:
    server = Server(node("n"), gpu_pod("n"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(("inference", MPS)))
    assert raised.value.code == "GPU-SHARING-BUSY"
    assert "team/work-n" in raised.value.message
    assert server.writes() == []
    found = present(api_on(server), params(("inference", MPS), on_busy="drain"))
    assert found["ends"][0]["nodes"] == ["n"]
    assert server.label("n") == "gpu-inference"
    assert present(api_on(server), params(("inference", MPS)))["ends"] == []


def test_time_slicing_asks_nobody() -> None:
    server = Server(node("n"), gpu_pod("n"))
    assert present(api_on(server), params(("inference", FOUR)))["ends"] == []


def test_whole_gpus_come_back_in_two_steps() -> None:
    server = Server(node("n"))
    present(api_on(server), params(("inference", FOUR)))
    present(api_on(server), params(("inference", {}), only_add=True))
    assert server.label("n") == "gpu-inference"
    assert "gpu-inference" in server.data()
    found = present(api_on(server), params(("inference", {})))
    assert server.label("n") is None
    assert server.data() == {"whole-gpus": "version: v1\n"}
    assert found["config"] == {}
    server.requests.clear()
    present(api_on(server), params(("inference", {})))
    assert server.writes() == []


def test_absent_takes_the_labels_of_nodes_when_the_operator_is_gone() -> None:
    server = Server(node("n1"))
    present(api_on(server), params(("inference", FOUR)))
    assert server.label("n1") == "gpu-inference"
    server.objects = {key: one for key, one in server.objects.items() if one["kind"] != "ConfigMap"}
    absent(api_on(server), params(("inference", FOUR), state="absent"))
    assert server.label("n1") is None


def test_absent_leaves_nothing_but_what_a_policy_names() -> None:
    server = Server(policy(**NAMED), node("n"))
    present(api_on(server), params(("inference", FOUR)))
    absent(api_on(server), params(("inference", {}), state="absent"))
    assert server.label("n") is None
    assert server.data() == {"whole-gpus": "version: v1\n"}
    server.put(policy())
    absent(api_on(server), params(("inference", {}), state="absent"))
    assert server.named("ConfigMap", "gpu-sharing") is None
    server.requests.clear()
    absent(api_on(server), params(("inference", {}), state="absent"))
    assert server.writes() == []


def test_the_profile_of_another_pool_stays() -> None:
    server = Server(node("n"), node("m", pool="other"))
    present(api_on(server), params(("inference", FOUR), ("other", MPS)))
    absent(api_on(server), params(("inference", {}), state="absent"))
    assert server.data()["gpu-other"] == profile.text(MPS)
    assert server.label("m") == "gpu-other"


def test_it_waits_until_every_node_offers_its_shares() -> None:
    server = Server(policy(**NAMED), node("n"), plugin("n"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server, seconds=0.0), params(("inference", FOUR)))
    assert raised.value.code == "GPU-SHARING-SHARES"
    told = {"gpu__replicas": "4", "gpu__sharing_strategy": "time-slicing"}
    marks = {**told, "device_plugin__config": "gpu-inference"}
    server.put(with_label(node("n", gpus=4), **marks))
    found = present(api_on(server), params(("inference", FOUR)))
    assert found["pools"][0]["nodes"] == [{"name": "n", "ready": True}]
