# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals that name a missing role: an API server that is starting, and a role that somebody deleted."""

from __future__ import annotations

import pytest
from unit.engine import CONFIG_MAP, FakeClock, api_on, config_map
from unit.fake_server import FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ForbiddenError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import retry


def test_a_server_that_has_not_read_its_roles_is_asked_again() -> None:
    """The words are those of kube-apiserver 1.36 after a restart."""
    missing = 'clusterrole.rbac.authorization.k8s.io "system:{}" not found'
    unread = status(
        403,
        "Forbidden",
        'namespaces "a" is forbidden: User "joe" cannot list resource "namespaces" at the cluster scope: '
        f"RBAC: [{missing.format('public-info-viewer')}, {missing.format('basic-user')}]",
    )
    server, clock = FakeServer(), FakeClock()
    server.put(config_map(x="1"))
    api = api_on(server, clock)
    assert api.get(CONFIG_MAP, "a", "x")
    server.faults = [unread.copy() for _time in range(20)]
    assert api.get(CONFIG_MAP, "a", "x")
    assert not server.faults
    assert clock() - 1000 > retry.USUAL.settling


def test_a_role_that_somebody_deleted_is_no_trouble_of_the_server() -> None:
    server = FakeServer()
    server.put(config_map(x="1"))
    api = api_on(server, FakeClock())
    assert api.get(CONFIG_MAP, "a", "x")
    gone = 'clusterrole.rbac.authorization.k8s.io "team-reader" not found'
    server.faults = [
        status(403, "Forbidden", f'configmaps "a" is forbidden: User "joe" cannot get: RBAC: {gone}')
    ]
    with pytest.raises(ForbiddenError):
        api.get(CONFIG_MAP, "a", "x")
