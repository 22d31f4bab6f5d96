# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DaemonSets of a deleted object: the wait ends when they and their pods are gone."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._core.daemon_sets import Gone


def test_daemon_sets_and_their_pods_are_waited_for() -> None:
    one = {"metadata": {"name": "plugin", "uid": "u1"}}
    pod = {"metadata": {"name": "plugin-x", "ownerReferences": [{"uid": "u1"}]}}
    gone = Gone("FpgaStack fpga", [one])
    assert gone({"daemonsets": [one], "pods": []}).code == "GPU-LEFTOVER"
    assert "pod/plugin-x" in gone({"daemonsets": [], "pods": [pod]}).message
    assert gone({"daemonsets": [], "pods": []}).is_ready
