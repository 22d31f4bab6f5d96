# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An NFD that somebody installed with upstream's Helm chart: its CRDs and its objects.

Its NodeFeatureRules are cluster-wide.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import Object

CONFIG: t.Final = (
    "sources:\n  pci:\n    deviceClassWhitelist: ['0200', '03', '12']\n    deviceLabelFields: [vendor]\n"
)
IMAGE: t.Final = "registry.k8s.io/nfd/node-feature-discovery:v0.19.0"


def objects(cluster: Object) -> list[Object]:
    """Return its objects; none where the scenario has no `upstream_nfd: {namespace, release}`."""
    chart = cluster.get("upstream_nfd")
    if not chart:
        return []
    namespace, stem = chart["namespace"], f"{chart['release']}-node-feature-discovery"
    labels = {
        "app.kubernetes.io/name": "node-feature-discovery",
        "app.kubernetes.io/instance": chart["release"],
        "app.kubernetes.io/managed-by": "Helm",
    }
    notes = {"meta.helm.sh/release-name": chart["release"], "meta.helm.sh/release-namespace": namespace}

    def made(kind: str, name: str, **body: t.Any) -> Object:
        metadata = {"name": name, "namespace": namespace, "labels": labels, "annotations": notes}
        return {
            "apiVersion": "v1" if kind == "ConfigMap" else "apps/v1",
            "kind": kind,
            "metadata": metadata,
            **body,
        }

    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        made("ConfigMap", f"{stem}-worker-conf", data={"nfd-worker.conf": CONFIG}),
        made("Deployment", f"{stem}-master", spec={"replicas": 1} | _workload("nfd-master")),
        made("Deployment", f"{stem}-gc", spec={"replicas": 1} | _workload("nfd-gc")),
        made(
            "DaemonSet",
            f"{stem}-worker",
            spec=_workload("nfd-worker", [{"operator": "Exists", "effect": "NoSchedule"}]),
        ),
    ]


def _workload(program: str, tolerations: t.Sequence[Object] = ()) -> Object:
    labels = {"app.kubernetes.io/name": "node-feature-discovery", "role": program}
    spec = {
        "containers": [{"name": program, "image": IMAGE, "command": [program]}],
        "tolerations": list(tolerations),
    }
    return {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
