# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Job nfd-prune of a NodeFeatureDiscovery with prunerOnDelete.

The real `nfd-master -prune` runs next to a simulated pod.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.nfd.operands import IMAGE, MASTER

NAME: t.Final = "nfd-prune"
TRACES: t.Final = ("feature.node.kubernetes.io/", "nfd.node.kubernetes.io/")


def pruned(cluster: Cluster, cr: Object) -> bool:
    """Return whether no Node has labels of NFD any more; run the program until there are none.

    The program gives up at its first write conflict.
    """
    processes, namespace = Sandbox(cluster.directory).processes, cr["metadata"]["namespace"]
    nodes = cluster.objects("Node")
    if not any(_traces(node) for node in nodes):
        processes.stop(NAME)
        if cluster.find("Job", NAME, namespace):
            cluster.client.request(
                "DELETE",
                f"/apis/batch/v1/namespaces/{namespace}/jobs/{NAME}",
                {"propagationPolicy": "Background"},
            )
        return True
    if cluster.find("Job", NAME, namespace) is None:
        cluster.apply(_job(namespace))
    if not processes.alive(NAME):
        processes.start(
            NAME,
            _command(cluster),
            {"NODE_NAME": nodes[0]["metadata"]["name"], "KUBERNETES_NAMESPACE": namespace},
        )
    return False


def _traces(node: Object) -> bool:
    metadata = node["metadata"]
    return any(
        key.startswith(TRACES)
        for key in [*(metadata.get("labels") or {}), *(metadata.get("annotations") or {})]
    )


def _command(cluster: Cluster) -> list[str]:
    sandbox = Sandbox(cluster.directory)
    program, kubeconfig = sandbox.binary("control-plane", MASTER), sandbox.component_kubeconfig(MASTER)
    return [
        str(program),
        "-prune",
        "-kubeconfig",
        str(kubeconfig),
        "-config",
        "/dev/null",
        "-port",
        str(sandbox.port(NAME)),
    ]


def _job(namespace: str) -> Object:
    container = {"name": NAME, "image": IMAGE, "command": [MASTER], "args": ["-prune"]}
    spec = {
        "template": {
            "metadata": {"labels": {"app": NAME}},
            "spec": {"restartPolicy": "Never", "containers": [container]},
        }
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": NAME, "namespace": namespace, "labels": {"app": "nfd"}},
        "spec": spec,
    }
