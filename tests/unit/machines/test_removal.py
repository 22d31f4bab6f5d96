# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain stops if somebody scales the machine sets meanwhile."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import removal


def test_other_replicas_stop_a_drain() -> None:
    seen = {
        "machine_sets": [
            {"metadata": {"name": "a"}, "spec": {"replicas": 4}},
            {"metadata": {"name": "b"}, "spec": {"replicas": 1}},
            {"metadata": {"name": "other"}, "spec": {"replicas": 9}},
        ]
    }
    assert removal.scaled_meanwhile(seen, {"a": 4, "b": 1, "deleted": 1}) is None
    verdict = removal.scaled_meanwhile(seen, {"a": 3, "b": 1})
    assert verdict is not None
    assert (verdict.is_failed, verdict.code) == (True, "MACH-SCALED")
    assert "machine set a from 3 to 4" in verdict.message
