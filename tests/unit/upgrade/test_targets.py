# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects bring drivers, and how they change."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.stack.builders import FIXTURE

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import targets
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Triple
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.targets import Target

NEW: t.Final = Triple("r", "i", "2")


def seen(**driver: t.Any) -> dict[str, list[KubeObject]]:
    found = copy.deepcopy(FIXTURE)
    found["policies"][0]["spec"]["driver"] |= driver
    return {**found, "drivers": []}


def nvidia_driver(**spec: t.Any) -> KubeObject:
    return {"metadata": {"name": "a", "labels": {}}, "spec": {"driverType": "gpu", **spec}}


def test_a_cluster_policy_brings_the_driver_to_every_node() -> None:
    (found,) = targets.find(seen(version="1", repository="r", image="i"))
    assert (found.object_name, found.nodes) == ("ClusterPolicy gpu-cluster-policy", ("gpu-0",))
    assert found.triple == Triple("r", "i", "1")
    assert "NVIDIADriver" in targets.remark([found])


def test_each_nvidiadriver_has_the_nodes_that_it_owns() -> None:
    snapshot = seen(useNvidiaDriverCRD=True)
    snapshot["drivers"] = [nvidia_driver()]
    assert targets.find(snapshot) == []
    snapshot["nodes"][0]["metadata"]["labels"]["nvidia.com/gpu-operator.driver.owner"] = "a"
    (found,) = targets.find(snapshot)
    assert (found.object_name, found.nodes) == ("NVIDIADriver a", ("gpu-0",))
    assert found.is_automatic
    assert targets.remark([found]) == ""


@pytest.mark.parametrize(
    "policies", [[], [{"metadata": {"name": "p"}, "spec": {"driver": {"enabled": False}}}]]
)
def test_without_a_driver_there_is_nothing_to_upgrade(policies: list[KubeObject]) -> None:
    with pytest.raises(NotReadyError) as caught:
        targets.find({**seen(), "policies": policies})
    assert caught.value.code == "UPGRADE-NO-DRIVER"


def test_an_upgrade_needs_the_controller_and_an_object_of_ours() -> None:
    (manual,) = targets.find(seen())
    with pytest.raises(NotReadyError) as caught:
        targets.refuse(manual, "report")
    assert caught.value.code == "UPGRADE-MANUAL"
    with pytest.raises(NotReadyError) as caught:
        targets.refuse(Target("NVIDIADriver", nvidia_driver(), ("n",)), "report")
    assert caught.value.code == "UPGRADE-FOREIGN"
    targets.refuse(Target("NVIDIADriver", nvidia_driver(), ("n",)), "take")


def test_a_patch_has_only_what_differs() -> None:
    one = Target("NVIDIADriver", nvidia_driver(repository="r", image="i", version="1"), ("n",))
    assert one.patch_to(one.triple, {}) is None
    changes = {"repository": "r", "image": "i", "version": "2"}
    assert one.patch_to(NEW, {}) == {"spec": changes}
    assert one.patch_to(one.triple, {"maxParallelUpgrades": 2}) == {
        "spec": {"upgradePolicy": {"maxParallelUpgrades": 2}},
        "metadata": {"annotations": {"accelerators.openshift/upgrade-policy-before": "{}"}},
    }
    assert one.patch_to(Triple("", "", ""), {}) == {"spec": dict.fromkeys(changes)}


def test_the_upgrade_policy_is_restored_with_its_absent_keys() -> None:
    before = {"autoUpgrade": True, "podDeletion": {"force": False}}
    now = {**before, "maxParallelUpgrades": 3, "podDeletion": {"force": True, "deleteEmptyDir": True}}
    assert targets.restoring(before, now) == {
        "autoUpgrade": True,
        "maxParallelUpgrades": None,
        "podDeletion": {"force": False, "deleteEmptyDir": None},
    }
