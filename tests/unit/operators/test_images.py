# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operands that still run images of the release before."""

from __future__ import annotations

import typing as t

from unit.operators.builders import csv

from ansible_collections.accelerators.openshift.plugins.module_utils._operators import images

OLD, NEW = "nvcr.io/nvidia/plugin@sha256:1", "nvcr.io/nvidia/plugin@sha256:2"
BEFORE = csv("1.0.0", PLUGIN_IMAGE=OLD, SAME_IMAGE="same", OPERATOR_NAMESPACE="n")
AFTER = csv("1.1.0", PLUGIN_IMAGE=NEW, SAME_IMAGE="same", OPERATOR_NAMESPACE="m")


def workload(name: str, *of: str) -> dict[str, t.Any]:
    containers = [{"name": "c", "image": image} for image in of]
    spec = {"initContainers": containers[1:], "containers": containers[:1]}
    return {"metadata": {"name": name}, "spec": {"template": {"spec": spec}}}


def test_images_that_only_the_older_release_names_are_left_behind() -> None:
    assert images.left_behind(BEFORE, AFTER) == {OLD}
    assert images.left_behind(None, AFTER) == frozenset()


def test_a_workload_with_an_old_image_is_late() -> None:
    workloads = [workload("new", NEW), workload("b", "same", OLD), workload("a", OLD)]
    assert images.late({OLD}, workloads, []) == ["a", "b"]


def test_an_image_that_a_custom_resource_names_may_stay() -> None:
    plugin = {"repository": "nvcr.io/nvidia", "image": "plugin", "version": "sha256:1"}
    owner = {"spec": {"devicePlugin": plugin, "list": [{"image": "x", "version": "1"}]}}
    assert images.late({OLD, "x:1"}, [workload("a", OLD), workload("b", "x:1")], [owner]) == []
