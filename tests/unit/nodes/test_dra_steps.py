# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that does not serve claims is refused with its release."""

from __future__ import annotations

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.dra_steps import (
    refuse_old_cluster,
)


def test_a_cluster_with_claims_is_not_refused() -> None:
    server = FakeServer("ResourceSlice")
    refuse_old_cluster(api_on(server))
    assert server.writes() == []


def test_the_remedy_names_the_alternative() -> None:
    with pytest.raises(NotReadyError, match=r"^This cluster does not serve resource.k8s.io/v1") as raised:
        refuse_old_cluster(api_on(FakeServer("Node")))
    assert raised.value.remedy.endswith("or use kmm.device_plugin.")
