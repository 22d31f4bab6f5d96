# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a run as files for Git, one for each object, in the order in which Argo CD applies them."""

from __future__ import annotations

import re
import typing as t

from .._core.diff import object_name
from .._core.objects import KubeObject
from .._core.ownership import rendered_mark

#: The first line of each file. Files without it are never touched.
HEADER: t.Final = "# Rendered by accelerators.openshift from gpu_pools. A new render replaces this file."
#: The first line of the README.
TITLE: t.Final = "# GPUs from gpu_pools\n"
_WAVE: t.Final = "argocd.argoproj.io/sync-wave"
_OPTIONS: t.Final = "argocd.argoproj.io/sync-options"
# Kind -> sync wave; Argo CD applies a lower wave first and waits until it is healthy. Other kinds: 40.
_WAVES: t.Final = {
    "Namespace": 0,
    "PriorityClass": 5,
    "OperatorGroup": 10,
    "Subscription": 15,
    "ResourceQuota": 20,
    "LimitRange": 20,
    "ClusterResourceQuota": 20,
    "MachineConfigPool": 25,
    "MachineConfig": 26,
    "KubeletConfig": 26,
    "Tuned": 26,
    "MachineSet": 30,
    "MachineAutoscaler": 31,
    "ClusterAutoscaler": 31,
    "MachineHealthCheck": 32,
    "NodeFeatureDiscovery": 35,
    "NodeFeatureRule": 36,
    "NodeFeature": 36,
    "SriovOperatorConfig": 41,
    "NicClusterPolicy": 45,
    "IPPool": 46,
    "CIDRPool": 46,
    "SriovNetworkPoolConfig": 47,
    "SriovNetworkNodePolicy": 48,
    **dict.fromkeys(("MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork"), 49),
    **dict.fromkeys(("SriovNetwork", "SriovIBNetwork", "NetworkAttachmentDefinition"), 49),
    "ConfigMap": 50,
    "ClusterPolicy": 60,
    "GPUCluster": 60,
    "NVIDIADriver": 61,
}
_LAST: t.Final = 40
# Kinds of an OpenShift that has no operator yet, and of Kubernetes itself.
_BUILT_IN: t.Final = re.compile(
    r"(v1|([a-z.]+\.)?(k8s\.io|openshift\.io)/.*|apps/.*|batch/.*|operators\.coreos\.com/.*)"
)
# What belongs to one cluster and one moment, or must not lie in Git.
_LEFT: t.Final = {
    "Secret": "is secret: let your secret manager write it.",
    "Node": "exists already: a run labels and taints it.",
    "Machine": "exists already: a run labels it.",
    "InstallPlan": "is approved by a run.",
    "Lease": "is the lock of a run.",
    "HyperConverged": "has entries of others: a run adds ours.",
    "Network": "has entries of others: a run adds ours.",
}


class Rendered(t.NamedTuple):
    """One object of a render. name: kind and name. manifest: empty if only a run can write the object.

    wave: Argo CD's sync wave. keeper: who keeps the live object if it is not ours, or empty. why: why it has
    no file, or empty.
    """

    name: str
    file: str
    wave: int
    manifest: KubeObject
    keeper: str
    why: str


def rendered(manifest: KubeObject, keeper: str) -> Rendered:
    """Return the object of an apply as a file. keeper: who keeps the live object if it is not ours."""
    kind, metadata = manifest["kind"], manifest["metadata"]
    title, wave = object_name(manifest), _WAVES.get(kind, _LAST)
    if why := _LEFT.get(kind, ""):
        return Rendered(title, "", wave, {}, keeper, why)
    annotations = {**metadata.get("annotations", {}), **rendered_mark(metadata), _WAVE: str(wave)}
    if not _BUILT_IN.fullmatch(manifest["apiVersion"]):
        annotations[_OPTIONS] = "SkipDryRunOnMissingResource=true"
    keys = {key: manifest[key] for key in ("apiVersion", "kind")}
    rest = {key: value for key, value in manifest.items() if key not in {*keys, "metadata", "status"}}
    whole = {**keys, "metadata": {**metadata, "annotations": annotations}, **rest}
    words = [f"{wave:02}", _dashed(kind), metadata.get("namespace", ""), metadata["name"]]
    file = re.sub(r"[^a-z0-9.-]+", "-", "-".join(filter(None, words)).lower()) + ".yaml"
    return Rendered(title, file, wave, whole, keeper, "")


def _dashed(kind: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind)


def readme(objects: t.Sequence[Rendered], changes: t.Sequence[str]) -> str:
    """Return the README of the folder.

    changes: what the run would do and no file can say, such as `change Node gpu-0`.
    """
    rows = sorted((one for one in objects if one.file), key=lambda one: (one.wave, one.file))
    left = [f"- {one.name} {one.why}" for one in objects if one.why] + [f"- {line}" for line in changes]
    kept = [f"- {one.name}: {one.keeper}" for one in objects if one.keeper and one.file]
    parts = [
        TITLE,
        "`playbooks/render.yml` of `accelerators.openshift` wrote these files. Change `gpu_pools` and render "
        "again; do not edit them.\n",
        "| wave | object | file |\n|---|---|---|",
        *(f"| {one.wave} | {one.name} | [{one.file}]({one.file}) |" for one in rows),
        *(["\n## Objects on the cluster that somebody else keeps\n", *kept] if kept else []),
        "\n## What only a run can do\n",
        "Argo CD applies objects; it asks nobody before something ends. Run `enable_gpus.yml` with the same "
        "`gpu_pools` after it for these:\n",
        *dict.fromkeys(left),
        *_ALWAYS,
    ]
    return "\n".join(parts) + "\n"


_ALWAYS: t.Final = (
    "- Approve the install plans of the operators: a Subscription here has `installPlanApproval: Manual`.",
    "- Ask before pods with GPUs end, drain nodes, and reboot them one after another for tuning.",
    "- Try the next instance type or zone if a cloud has no GPUs, and say why a machine does not come.",
    "- Wait until drivers, devices and quotas work, say what is wrong, and validate the GPUs.",
    "- Upgrade drivers and operators: `upgrade_driver.yml`, `upgrade_operators.yml`.",
)
