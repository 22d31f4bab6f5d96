# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages that the sandbox adds to KWOK's own."""

from __future__ import annotations

import pytest
import yaml

from openshift_sandbox.programs import kwok

STAGES = {one["metadata"]["name"]: one["spec"] for one in yaml.safe_load(kwok.OWN.read_text())}


@pytest.mark.parametrize("name", ["pod-init-crash", "pod-image-pull"])
def test_no_container_fails_before_upstream_has_created_it(name: str) -> None:
    """KWOK's pod-create, which comes while a pod has no address, writes that nothing has restarted yet."""
    wanted = {".status.podIP", '.status.conditions.[] | select( .type == "Initialized" ) | .status'}
    assert wanted & {one["key"] for one in STAGES[name]["selector"]["matchExpressions"]}
