# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel mappings: which fit a node, and which image a kernel gets."""

from __future__ import annotations

from unit.stack.kmm.builders import KERNEL, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    kernels,
    manifest as kmm_manifest,
)


def test_kernels_without_a_mapping_and_with_two_are_found() -> None:
    mappings = [{"literal": KERNEL}, {"regexp": "^5"}, {"regexp": "el9"}]
    nodes = [node(), node(kernel="6.1.0-1.fc40"), node(kernel=f"{KERNEL}+")]
    assert [one.mappings for one in kernels.survey(nodes, mappings)] == [(0, 1, 2), (0, 1, 2), ()]
    assert kernels.image_for(kmm_manifest.build(params()), KERNEL) == f"quay.io/acme/card:{KERNEL}"
    assert kernels.image_for(kmm_manifest.build(params()), "6.1") == ""
