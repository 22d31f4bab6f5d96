# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest driver of a branch, as a user writes it."""

from __future__ import annotations

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import driver_branches
from ansible_collections.accelerators.openshift.plugins.module_utils._core import references


@pytest.mark.parametrize("branch", [int(branch) for branch in driver_branches.NEWEST])
def test_the_newest_driver_of_a_branch_is_an_option_to_paste(branch: int) -> None:
    option = yaml.safe_load(driver_branches.as_option(branch))
    assert option["version"].startswith(f"{branch}.")
    assert references.faults(option, is_driver=True) == {}
