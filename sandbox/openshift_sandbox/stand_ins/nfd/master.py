# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the kubelet that runs nfd-master: start the real program as a local process.

The real pods run it in a container; here it runs while a pod of its Deployment would. Where the cluster
serves only the older API group, it reads that one.
"""

from __future__ import annotations

from pathlib import Path

from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.nfd.instances import instances
from openshift_sandbox.stand_ins.nfd.older_group import Renaming
from openshift_sandbox.stand_ins.nfd.operands import MASTER
from openshift_sandbox.stand_ins.nfd.worker import OLDER_FEATURES, kind_of_features


class NfdMaster(Reconciler):
    kinds = ("NodeFeatureDiscovery", "NodeFeature", OLDER_FEATURES, "Deployment", "Node", "ConfigMap")

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None
        self._older_group: Renaming | None = None
        self._argv: list[str] = []
        self._launched = False

    def reconcile(self, cluster: Cluster, now: float) -> None:
        self._sandbox = self._sandbox or Sandbox(cluster.directory)
        instance = next(
            (one for one in instances(cluster) if cluster.available(one.master, one.namespace)), None
        )
        nodes = cluster.objects("Node")
        if instance is None or not nodes:
            self.stop()
            return
        argv = command(
            self._sandbox, instance.spec, self._kubeconfig(self._sandbox, kind_of_features(cluster))
        )
        if argv != self._argv:
            self.stop()
        self._argv = argv
        if self._sandbox.processes.alive(MASTER):
            cluster.restart(self, "nfd_master_restart")
        elif not self._launched or cluster.due(self, "nfd_master_restart", 1.0):
            self._launched = True
            cluster.restart(self, "nfd_master_restart")
            environment = {
                "NODE_NAME": nodes[0]["metadata"]["name"],
                "KUBERNETES_NAMESPACE": instance.namespace,
            }
            self._sandbox.processes.start(MASTER, argv, environment)

    def stop(self) -> None:
        if self._sandbox and self._argv:
            self._sandbox.processes.stop(MASTER, grace=1.0)
        self._argv, self._launched = [], False

    def _kubeconfig(self, sandbox: Sandbox, features: str) -> Path:
        kubeconfig = sandbox.component_kubeconfig(MASTER)
        if features != OLDER_FEATURES:
            return kubeconfig
        path = sandbox.component_kubeconfig("nfd-older-group")
        if self._older_group is None:
            self._older_group = Renaming(sandbox.port("nfd-older-group"), kubeconfig)
            self._older_group.write_kubeconfig(path)
            self._older_group.start()
        return path


def command(sandbox: Sandbox, spec: Object, kubeconfig: Path) -> list[str]:
    """Return the command line of nfd-master."""
    argv = [str(sandbox.binary("control-plane", MASTER)), "-kubeconfig", str(kubeconfig)]
    argv += ["-port", str(sandbox.port(MASTER)), "-config", "/dev/null"]
    if spec.get("instance"):
        argv += ["-instance", spec["instance"]]
    if spec.get("enableTaints"):
        argv.append("-enable-taints")
    if spec.get("labelWhiteList"):
        argv += ["-label-whitelist", spec["labelWhiteList"]]
    if spec.get("extraLabelNs"):
        argv += ["-extra-label-ns", ",".join(spec["extraLabelNs"])]
    return argv
