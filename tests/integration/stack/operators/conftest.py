# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: the GPU stack on the cluster of a test file."""

from __future__ import annotations

import pytest
from integration.playbook import Playbook, Run
from integration.stack.operators.updates import DRIVER, GPU, POOL


@pytest.fixture(scope="module")
def stack(playbook: Playbook) -> Run:
    run = playbook.tasks(
        {
            "accelerators.openshift.olm_operator": {
                "name": "nfd",
                "namespace": "openshift-nfd",
                "source": "redhat-operators",
            }
        },
        {"accelerators.openshift.nfd_labels": {"namespace": "openshift-nfd"}},
        {
            "accelerators.openshift.olm_operator": {
                "name": "gpu-operator-certified",
                "namespace": GPU,
                "source": "certified-operators",
            }
        },
        {
            "accelerators.openshift.special_resource": {
                "pools": [POOL],
                "driver": DRIVER,
                "grace": 60,
                "wait_timeout": 180,
            }
        },
    )
    assert run.rc == 0, run.output[-3000:]
    return run
