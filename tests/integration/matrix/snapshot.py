# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a sandbox at one moment, which the sandbox gets back: exact, and faster than a start."""

from __future__ import annotations

from openshift_sandbox import handover, lifecycle
from openshift_sandbox.sandbox import Sandbox, SandboxError


class Snapshot:
    """What etcd holds now."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.content = handover.etcd(sandbox).read()

    def restore(self) -> None:
        """Give the sandbox this state, and wait until it is ready."""
        sandbox = self.sandbox
        handover.restore(sandbox, self.content)
        try:
            lifecycle.up(sandbox, sandbox.state.get("scenario"))
        except SandboxError:  # on a busy machine something was not ready in time
            lifecycle.up(sandbox, sandbox.state.get("scenario"))
