# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for CRI-O in the pods of the gate for new nodes, which run the script that the product made.

The script gets the files of its ConfigMap and a token of the pod's own ServiceAccount, so it may do only what
its roles allow. The real one runs any container, on its node, and has oc; here the script runs on this
machine, with kubectl.
"""

from __future__ import annotations

import subprocess
import typing as t
from pathlib import Path

import yaml

from openshift_sandbox.client import resource_path
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.pod_logs import PodLogs
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

LABEL: t.Final = "accelerators.openshift/gate"
EXIT_CODE: t.Final = "sandbox.openshift/exit-code"
FOLDER: t.Final = "gate"


class Gate(Reconciler):
    kinds = ("ConfigMap", "Pod")

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._logs = PodLogs()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        pods = [one for one in cluster.objects("Pod") if LABEL in (one["metadata"].get("labels") or {})]
        for pod in pods:
            if pod["status"].get("phase") == "Running":
                self._run(cluster, pod)
        there = {pod["metadata"]["uid"] for pod in pods}
        self._logs.keep_only(there)
        for uid in set(self._running) - there:
            self._running.pop(uid).kill()

    def stop(self) -> None:
        for one in self._running.values():
            one.kill()

    def _run(self, cluster: Cluster, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        if EXIT_CODE in (pod["metadata"].get("annotations") or {}):
            return
        if cluster.trouble("gate_fails"):
            _end(cluster, pod, 1)
            return
        if uid not in self._running:
            self._running[uid] = _start(cluster, pod)
        process = self._running[uid]
        if process.poll() is None:
            cluster.wake_at = min(cluster.wake_at, cluster.clock() + 0.2)
            return
        self._logs.write(cluster, pod, (process.communicate()[0] or "").splitlines())
        _end(cluster, pod, process.returncode)


def _start(cluster: Cluster, pod: Object) -> subprocess.Popen[str]:
    folder = cluster.directory / FOLDER / pod["metadata"]["uid"]
    folder.mkdir(parents=True, exist_ok=True)
    (volume,) = (one["configMap"]["name"] for one in pod["spec"]["volumes"] if "configMap" in one)
    data = cluster.find("ConfigMap", volume, pod["metadata"]["namespace"]) or {}
    for name, text in (data.get("data") or {}).items():
        (folder / name).write_text(text.replace("/gate/", f"{folder}/"))
    container = pod["spec"]["containers"][0]
    command = [one.replace("/gate/", f"{folder}/") for one in container["command"]]
    kubectl = Sandbox(cluster.directory).binary("control-plane", "kubectl")
    kubeconfig = _kubeconfig(cluster, pod, folder.with_suffix(".kubeconfig"))
    return subprocess.Popen(
        command,
        env={"PATH": f"{kubectl.parent}:/usr/bin:/bin", "KUBECONFIG": str(kubeconfig), "HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _kubeconfig(cluster: Cluster, pod: Object, path: Path) -> Path:
    """Write a kubeconfig with a token of the pod's ServiceAccount."""
    place, account = pod["metadata"]["namespace"], pod["spec"]["serviceAccountName"]
    url = resource_path("v1", "serviceaccounts", account, place) + "/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.client.checked("POST", url, asked)["status"]["token"]
    config = yaml.safe_load(Sandbox(cluster.directory).component_kubeconfig("stand-ins").read_text())
    for user in config["users"]:
        user["user"] = {"token": token}
    path.write_text(yaml.safe_dump(config))
    path.chmod(0o600)
    return path


def _end(cluster: Cluster, pod: Object, code: int) -> None:
    metadata = pod["metadata"]
    body = {"metadata": {"annotations": {EXIT_CODE: str(code)}}}
    cluster.patch("Pod", metadata["name"], metadata["namespace"], body)
