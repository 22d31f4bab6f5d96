# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""Load, before Ansible forks its workers, what each of them would load again."""

from __future__ import annotations

import ssl


def preload() -> str:
    """Return which package is missing, or ""."""
    # The first context of a process takes OpenSSL some milliseconds.
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials_package

    return credentials_package.MISSING
