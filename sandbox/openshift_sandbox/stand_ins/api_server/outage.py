# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for an API server that is rolled out in the middle of the work (api_outage); a real one refuses connections, this one is only silent."""

from __future__ import annotations

import signal
import threading
import time
import typing as t

from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.loop import Cluster, Reconciler

SERVER: t.Final = "kube-apiserver"


class ApiOutage(Reconciler):
    """Once a sandbox: when the first Subscription is there, the API server is stopped and goes on later."""

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
    sandbox.processes.signal(SERVER, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        sandbox.processes.signal(SERVER, signal.SIGCONT)
