# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which differences between two CSVs of the GPU operator reach the driver's pods."""

from __future__ import annotations

import json

from unit.impact.test_driver import MANAGER, SAME, policy

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject as Object
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import busy


def csv(manager: str, image: str = SAME, example: Object | None = None, **env: str) -> Object:
    given = {"DRIVER_IMAGE": image, "DRIVER_MANAGER_IMAGE": manager, **env}
    container = {"name": "c", "env": [{"name": key, "value": value} for key, value in given.items()]}
    deployment = {"spec": {"template": {"spec": {"containers": [container]}}}}
    examples = [{"kind": "ClusterPolicy", "spec": example}] if example else []
    return {
        "metadata": {"name": "c", "annotations": {"alm-examples": json.dumps(examples)}},
        "spec": {"install": {"spec": {"deployments": [deployment]}}},
    }


def test_the_same_driver_with_another_manager_is_a_change() -> None:
    """26.3.0 and 26.3.3 name the same DRIVER_IMAGE; their k8s-driver-manager differs."""
    found = busy.csv_changes(csv(f"{MANAGER}66774"), csv(f"{MANAGER}8aec2"))
    assert found == ("DRIVER_MANAGER_IMAGE",)
    assert busy.reaching(found, policy()) == ["DRIVER_MANAGER_IMAGE"]
    pinned = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "sha256:f8e3dc91"}
    assert busy.reaching(found, policy(driver=pinned)) == ["DRIVER_MANAGER_IMAGE"], "a pin is not enough"
    of_own: Object = {"spec": {"driverType": "gpu", **pinned}}
    assert busy.reaching(found, of_own) == ["DRIVER_MANAGER_IMAGE"], "nor is an NVIDIADriver"
    assert busy.csv_changes(csv("m"), csv("m")) == ()


def test_only_images_that_the_policy_leaves_to_the_operator_reach_its_pods() -> None:
    found = busy.csv_changes(
        csv("a", "x", GDS_IMAGE="1", TOOLKIT_IMAGE="1"), csv("b", "y", GDS_IMAGE="2", TOOLKIT_IMAGE="2")
    )
    assert found == ("DRIVER_IMAGE", "DRIVER_MANAGER_IMAGE", "GDS_IMAGE")
    named = {"repository": "r", "image": "i", "version": "v"}
    own = policy(driver={**named, "manager": named}, gds={"enabled": True})
    assert busy.reaching(found, own) == ["GDS_IMAGE"]
    assert busy.reaching(found, policy(driver={**named, "manager": named}, gds={"enabled": False})) == []


def test_examples_that_would_change_driver_pods_are_named() -> None:
    newer = {"driver": {"kernelModuleType": "open"}, "mig": {"strategy": "none"}}
    found = busy.csv_changes(csv("m"), csv("m", example=newer))
    assert "alm-examples spec.driver.kernelModuleType" in found
    assert not any("mig" in one for one in found)


def test_a_csv_that_is_not_shown_counts_as_another_one() -> None:
    assert busy.csv_changes(csv("m"), None)[:2] == ("DRIVER_IMAGE", "DRIVER_MANAGER_IMAGE")
    broken = csv("m")
    broken["metadata"]["annotations"]["alm-examples"] = "{"
    assert busy.csv_changes(broken, broken) == ()
