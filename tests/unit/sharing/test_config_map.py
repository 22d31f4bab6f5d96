# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of others stay in the ConfigMap, and what pods have to read again is noted there."""

from __future__ import annotations

import pytest
from unit.managed import entry
from unit.sharing.builders import FOUR, MPS, foreign

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGER
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import config_map, profile
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.options import Shared

A, B = Shared("a", {}, FOUR), Shared("b", {}, MPS)


def live(own: dict[str, str], **others: str) -> KubeObject:
    """Return a ConfigMap with our profiles and those of others."""
    found = foreign(**others)
    found["data"] = {**found["data"], **own}
    fields = {"manager": MANAGER, "operation": "Apply", "time": "t1"}
    found["metadata"]["managedFields"] = [
        {**fields, "fieldsV1": {"f:data": {f"f:{key}": {} for key in own}}},
    ]
    return found


def test_profiles_of_other_pools_stay_and_those_of_whole_pools_go() -> None:
    there = live({"gpu-a": "old", "gpu-c": "theirs of another file", "whole-gpus": "version: v1\n"})
    assert config_map.wanted(there, [A, B]) == {
        "gpu-a": profile.text(FOUR),
        "gpu-b": profile.text(MPS),
        "gpu-c": "theirs of another file",
    }
    assert config_map.wanted(there, [Shared("a", {})]) == {"gpu-c": "theirs of another file"}
    assert config_map.wanted(None, [Shared("a", {})]) == {}


def test_nodes_without_the_label_have_a_profile_unless_others_have_one() -> None:
    profiles = {"gpu-a": "x"}
    alone = config_map.build("gpu-sharing", "n", profiles, None, ())
    assert alone["data"] == {"gpu-a": "x", "whole-gpus": "version: v1\n"}
    beside = config_map.build("theirs", "n", profiles, live({}, any="y"), ())
    assert beside["data"] == profiles


def test_only_a_changed_profile_has_to_be_read_again() -> None:
    there = live({"gpu-a": "old", "gpu-b": "same"})
    manifest = config_map.build("x", "n", {"gpu-a": "new", "gpu-b": "same", "gpu-c": "first"}, there, ())
    assert config_map.changed(there, manifest) == ["gpu-a"]
    noted = config_map.build("x", "n", {"gpu-a": "new"}, there, ["gpu-a", "gpu-gone"])
    assert config_map.restarts(noted) == ["gpu-a"]
    assert config_map.restarts(None) == []


def test_a_profile_of_others_under_the_name_of_ours_is_refused() -> None:
    with pytest.raises(AcceleratorError) as raised:
        config_map.refuse_foreign(live({}, **{"gpu-a": "version: v1"}), [A])
    assert raised.value.code == "GPU-SHARING-FOREIGN"
    assert "/data/gpu-a" in raised.value.remedy
    config_map.refuse_foreign(live({}, **{"gpu-a": profile.text(FOUR)}), [A])
    config_map.refuse_foreign(live({"gpu-a": "of a former run"}), [A])


def test_the_time_of_the_last_write_is_the_servers() -> None:
    there = live({"gpu-a": "x"})
    there["metadata"]["managedFields"].append(entry("kubectl", {"replicas": 1}, time="t9"))
    assert config_map.written(there) == "t1"
