# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Result of backend sro: what a SpecialResource runs, and what its successor needs."""

from __future__ import annotations

from unit.stack.sro.builders import special

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import result as sro_result


def test_what_it_runs_is_found_by_its_owner_even_after_it_is_gone() -> None:
    spec = {"template": {"spec": {"containers": [{"image": "i:1"}]}}}
    owned = {
        "metadata": {
            "name": "d",
            "namespace": "kmod",
            "ownerReferences": [{"kind": "SpecialResource", "name": "kmod"}],
        },
        "spec": spec,
    }
    other = {"metadata": {"name": "e", "namespace": "kmod"}, "spec": spec}
    assert sro_result.runs(None, "kmod", [owned, other]) == {
        "chart": "",
        "namespace": "",
        "daemonsets": [{"name": "kmod/d", "images": ["i:1"], "pods": 0}],
    }
    assert sro_result.runs(special(), "kmod", [other])["chart"] == "simple-kmod 0.0.1"


def test_what_the_successor_needs() -> None:
    assert sro_result.needs("kmm", lambda kind: kind == "Module") == [
        {"what": "Module is served (olm_operator with name=kernel-module-management)", "met": True}
    ]
