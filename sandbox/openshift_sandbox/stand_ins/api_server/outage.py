# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for an API server that restarts in the middle of the work (api_outage).

The real one refuses connections; this one only stops answering.
"""

from __future__ import annotations

import signal
import threading
import time
import typing as t

from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler

SERVER: t.Final = "kube-apiserver"


class ApiOutage(Reconciler):
    """Stop the API server once per sandbox, when the first Subscription exists; continue it later."""

    kinds = ("Subscription",)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        trouble = cluster.trouble("api_outage")
        mark = cluster.directory / "run" / "api-outage"
        if trouble is None or mark.exists() or not cluster.objects("Subscription"):
            return
        mark.touch()
        threading.Thread(
            target=stop, args=(Sandbox(cluster.directory), float(trouble["seconds"])), daemon=False
        ).start()


def stop(sandbox: Sandbox, seconds: float) -> None:
    """Stop the API server, and continue it after these seconds."""
    sandbox.processes.signal(SERVER, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        sandbox.processes.signal(SERVER, signal.SIGCONT)
