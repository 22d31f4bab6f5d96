# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster that the GPU operator expects to find."""

from __future__ import annotations

from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import NAMESPACE, Object, deployment

from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import OSTREE

FEATURES = {
    "feature.node.kubernetes.io/kernel-version.full": "5.14",
    "feature.node.kubernetes.io/system-os_release.ID": "rhcos",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "4.22",
}
GPU = FEATURES | {"feature.node.kubernetes.io/pci-10de.present": "true", OSTREE: "9.8.1"}
STREAM = (
    "image.openshift.io/v1",
    "ImageStream",
    "driver-toolkit",
    "openshift",
    {"spec": {"tags": [{"name": "9.8.1", "from": {"name": "dtk:1"}}]}},
)
CLUSTER: tuple[tuple[str, str, str, str | None, Object], ...] = (
    (
        "config.openshift.io/v1",
        "ClusterVersion",
        "version",
        None,
        {"status": {"history": [{"state": "Completed", "version": "4.22.5"}]}},
    ),
    ("config.openshift.io/v1", "Proxy", "cluster", None, {}),
    ("config.openshift.io/v1", "Infrastructure", "cluster", None, {}),
    ("v1", "Namespace", NAMESPACE, None, {}),
    (
        "apps/v1",
        "Deployment",
        "gpu-operator",
        NAMESPACE,
        {key: value for key, value in deployment().items() if key in ("spec", "status")},
    ),
    STREAM,
)


def put(world: World, api_version: str, kind: str, name: str, namespace: str | None, body: Object) -> None:
    where = {"namespace": namespace} if namespace else {}
    world.api.create({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **where}} | body)
