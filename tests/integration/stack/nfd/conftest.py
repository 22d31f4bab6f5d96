# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: the NFD operator and one GPU node on the cluster of a test file."""

from __future__ import annotations

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.stack.nfd.labelled import NAMESPACE

from openshift_sandbox.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox(cluster: Cluster, playbook: Playbook) -> Sandbox:
    """Install the operator and create one GPU node; return the sandbox."""
    found = cluster.needs_sandbox()
    run = playbook.tasks(
        {"accelerators.openshift.olm_operator": {"name": "nfd", "namespace": NAMESPACE}},
        {
            "accelerators.openshift.gpu_machineset": {
                "name": "it-nfd",
                "instance_type": "g4dn.xlarge",
                "zones": ["us-east-2b"],
                "replicas": 1,
            }
        },
    )
    assert run.rc == 0, run.output[-3000:]
    return found
