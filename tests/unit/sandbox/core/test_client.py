# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API client that the sandbox and the tests share."""

from __future__ import annotations

from pathlib import Path

import yaml
from unit.client_hello import check_protocols_stay

from openshift_sandbox.client import connection


def test_no_thread_sets_protocols_that_another_connection_reads(tmp_path: Path) -> None:
    kubeconfig = {
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example:6443"}}],
        "users": [{"name": "u", "user": {"token": "token-of-test"}}],
        "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "lab",
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(kubeconfig))
    _server, context, _token = connection(path)
    check_protocols_stay(context)
