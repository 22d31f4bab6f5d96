# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which version of Kueue's kinds a task uses."""

from __future__ import annotations

import pytest
from unit.queue.builders import World

from ansible_collections.accelerators.openshift.plugins.module_utils._queue.served import expected, kinds


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_the_version_that_the_cluster_serves(version: str) -> None:
    found = kinds(World(version=version).api())
    assert found is not None
    assert found.version == version
    assert found.flavor.path() == f"/apis/kueue.x-k8s.io/{version}/resourceflavors"


def test_without_kueue_there_are_none() -> None:
    assert kinds(World(has_kueue=False).api()) is None


def test_a_kueue_that_comes_has_the_kinds_of_the_newest_one() -> None:
    assert expected() == kinds(World(version="v1beta2").api())
