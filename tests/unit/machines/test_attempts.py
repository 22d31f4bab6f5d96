# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a search that failed says about the machines that the pool has."""

from __future__ import annotations

from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import attempts, candidates


def test_three_of_four_machines_stay_and_the_way_to_give_them_back_is_named() -> None:
    one = [{"instance_type": "p5", "zones": ["a"]}]
    pool = pool_builders.of_result("training", one, replicas=4, min_replicas=4)
    search = candidates.start(pool, [])
    assert search.lose({"a": ("MACH-CAPACITY", "none left")}, {"a": 3}) == candidates.GIVE_UP
    assert search.state(candidates.GIVE_UP) == "short"
    error = attempts.nothing_left(pool, search, NotReadyError("MACH-CAPACITY", "none left.", "Wait."), {})
    attempts.keep_short(error, search)
    assert "keeps the 3 of 4 machines" in error.message
    assert "`ansible-playbook playbooks/remove_pool.yml -e gpu_pool=training`" in error.remedy
    assert "min_replicas: 3" in error.remedy
