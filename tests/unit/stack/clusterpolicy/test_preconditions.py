# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets and ConfigMaps that options name."""

from __future__ import annotations

from unit.stack.clusterpolicy.test_manifest import params

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import preconditions


def test_secrets_and_maps_that_options_name() -> None:
    driver = {"licensing_config": {"secret_name": "licence", "nls_enabled": None}, "cert_config": None}
    given = params(
        driver=driver,
        mig_manager={"config": {"name": "default-mig-parted-config"}},
        nvidia_drivers=[{"repo_config": {"name": "repos"}}],
    )
    assert [tuple(one) for one in preconditions.references(given)] == [
        ("driver.licensing_config.secret_name", "Secret", "licence"),
        ("nvidia_drivers[0].repo_config.name", "ConfigMap", "repos"),
    ]
