# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the proofs of sharing say of a pool that they cannot prove."""

from __future__ import annotations

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.workload.proofs.test_sharing_proof import POOL

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import proof_steps


@pytest.mark.parametrize(("check_mode", "proven", "warnings"), [(False, False, 1), (True, None, 0)])
def test_only_a_run_that_would_have_proven_warns(
    check_mode: bool, proven: bool | None, warnings: int
) -> None:
    api = api_on(FakeServer(), check_mode=check_mode)
    found = proof_steps.not_proven(api, POOL, "no node is free")
    assert (found["proven"], found["why"], found["devices"]) == (proven, "no node is free", [])
    assert len(api.warnings) == warnings
