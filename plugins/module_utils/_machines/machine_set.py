# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine sets of a pool: their manifests, copied from a worker set, and the facts that a live set holds."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import MIG_CONFIG
from .._core.errors import text_of
from .._core.objects import KubeObject
from .._core.ownership import CANDIDATE, pool_label
from .._core.readiness import Readiness, failed, ready
from .._nodes.taints import STARTUP_TAINT
from .._pools.model import ACCELERATOR, Candidate, Pool
from .._sharing import profile
from .._virtualization.schema import node_labels as labels_of_workload
from .machine import SET
from .propagation import NOTE, of_template
from .removal import HOOK

API_VERSION: t.Final = "machine.openshift.io/v1beta1"
CLUSTER: t.Final = "machine.openshift.io/cluster-api-cluster"
_ROLE: t.Final = "machine.openshift.io/cluster-api-machine-role"
# `oc get nodes` shows this label as a role. A kubelet may not set it on its own node; the Machine API may.
NODE_ROLE: t.Final = "node-role.kubernetes.io/gpu"
# Annotation on every set of a complete pool: machines obtained and machines asked for, in all zones. A pool
# with this annotation moves to another candidate only on request.
OBTAINED: t.Final = "accelerators.openshift/obtained"
# Annotation with the names of the Machines that are being replaced. Until they are deleted, the set has one
# replica more for each of them.
REPLACING: t.Final = "accelerators.openshift/replacing"
# Where a machine set's controller says why it makes or deletes no Machine.
LOG: t.Final = (
    "Run `oc logs -n openshift-machine-api deployment/machine-api-controllers -c machineset-controller`."
)
_NOT_IN_NAMES: t.Final = re.compile("[^a-z0-9-]+")
_TYPE: t.Final = "machine.openshift.io/cluster-api-machine-type"


def set_name(infrastructure: str, pool: str, zone: str) -> str:
    """Return a set's name. zone: the platform's name of it, or ""."""
    return "-".join(
        part for part in (infrastructure, pool, _NOT_IN_NAMES.sub("-", zone.lower()).strip("-")) if part
    )


def node_labels(pool: Pool, candidate: Candidate) -> dict[str, str]:
    """Return the labels of the pool's nodes.

    The autoscaler counts GPU nodes by the accelerator label: the pool's own, else that of the candidate's
    GPUs.
    """
    usual = pool.candidates[0].accelerator
    accelerator = candidate.accelerator if pool.accelerator == usual else pool.accelerator
    role = {NODE_ROLE: ""} if pool.node_role else {}
    shares = {
        **profile.labels(pool.name, pool.sharing),
        **({MIG_CONFIG: candidate.mig_config} if candidate.mig_config else {}),
        **labels_of_workload(pool.workload, pool.virtual_machines),
    }
    return {**pool.labels, **pool_label(pool.name), ACCELERATOR: accelerator, **role, **shares}


def build(
    name: str,
    infrastructure: str,
    pool: Pool,
    candidate: Candidate,
    replicas: int,
    namespace: str,
    provider: KubeObject,
) -> KubeObject:
    """Return the manifest of a machine set."""
    selector = {CLUSTER: infrastructure, SET: name}
    manifest: KubeObject = {
        "apiVersion": API_VERSION,
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {CLUSTER: infrastructure, **pool_label(pool.name)},
            "annotations": {CANDIDATE: candidate.key},
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {
                    "labels": {**selector, _ROLE: "worker", _TYPE: "worker", **pool_label(pool.name)}
                },
                "spec": _machine_spec(pool, candidate, provider),
            },
        },
    }
    manifest["spec"]["template"]["metadata"]["annotations"] = {NOTE: of_template(manifest).note}
    return manifest


def _machine_spec(pool: Pool, candidate: Candidate, provider: KubeObject) -> KubeObject:
    """Return the spec of the Machines that the set makes."""
    spec: KubeObject = {
        "metadata": {"labels": node_labels(pool, candidate)},
        "providerSpec": {"value": provider},
    }
    if taints := [*(one.as_result() for one in pool.taints), *([STARTUP_TAINT] if pool.is_gated else [])]:
        spec["taints"] = [dict(taint) for taint in taints]
    if pool.pre_drain_hook:
        spec["lifecycleHooks"] = {"preDrain": [HOOK]}
    return spec


def name_of(machine_set: t.Mapping[str, t.Any]) -> str:
    return str(machine_set["metadata"]["name"])


def provider_of(machine_set: t.Mapping[str, t.Any]) -> KubeObject:
    """Return a copy of the providerSpec value in the set's template."""
    return dict((machine_set["spec"]["template"]["spec"].get("providerSpec") or {}).get("value") or {})


def candidate_of(machine_set: t.Mapping[str, t.Any]) -> str:
    """Return the key of the candidate that the set is made for; empty on a set without the annotation."""
    return str((machine_set["metadata"].get("annotations") or {}).get(CANDIDATE, ""))


def obtained_of(machine_set: t.Mapping[str, t.Any]) -> str:
    """Return C(obtained/asked) as of the pool's last completion; empty before it."""
    return str((machine_set["metadata"].get("annotations") or {}).get(OBTAINED, ""))


def made(machine_set: t.Mapping[str, t.Any]) -> str:
    """Return the creation time (RFC 3339); as strings, later times sort last."""
    return str(machine_set["metadata"].get("creationTimestamp") or "")


def template_accelerator(machine_set: t.Mapping[str, t.Any]) -> str:
    """Return the label by which the autoscaler counts the set's GPUs, or ""."""
    return str(
        ((machine_set["spec"]["template"]["spec"].get("metadata") or {}).get("labels") or {}).get(
            ACCELERATOR, ""
        )
    )


def replicas_of(machine_set: t.Mapping[str, t.Any]) -> int:
    return int(machine_set["spec"].get("replicas", 1))


def replacing_of(machine_set: t.Mapping[str, t.Any]) -> list[str]:
    """Return the names of the set's Machines that are being replaced."""
    return [
        name
        for name in str((machine_set["metadata"].get("annotations") or {}).get(REPLACING, "")).split(",")
        if name
    ]


def share_of(machine_set: t.Mapping[str, t.Any]) -> int:
    """Return the set's replicas without those that a replacement adds."""
    return max(0, replicas_of(machine_set) - len(replacing_of(machine_set)))


def surged(manifest: KubeObject, names: t.Sequence[str]) -> KubeObject:
    """Return the manifest with a replica more for each of these Machines."""
    if not names:
        return manifest
    metadata = {
        **manifest["metadata"],
        "annotations": {**manifest["metadata"]["annotations"], REPLACING: ",".join(sorted(names))},
    }
    return {
        **manifest,
        "metadata": metadata,
        "spec": {**manifest["spec"], "replicas": share_of(manifest) + len(names)},
    }


def without_surge(manifest: KubeObject) -> KubeObject:
    """Return the manifest without the replicas and the annotation of a replacement."""
    annotations = {
        key: value for key, value in manifest["metadata"]["annotations"].items() if key != REPLACING
    }
    return {
        **manifest,
        "metadata": {**manifest["metadata"], "annotations": annotations},
        "spec": {**manifest["spec"], "replicas": share_of(manifest)},
    }


def arch_of(machine_set: t.Mapping[str, t.Any]) -> str:
    """Return the machines' architecture from the provider's annotation, or ""."""
    text = str(
        (machine_set["metadata"].get("annotations") or {}).get(
            "capacity.cluster-autoscaler.kubernetes.io/labels", ""
        )
    )
    return next(
        (part.partition("=")[2] for part in text.split(",") if part.startswith("kubernetes.io/arch=")), ""
    )


def held_by(machine_set: t.Mapping[str, t.Any]) -> str:
    """Return which finalizers hold a set that is being deleted, such as `, held by a`; or ""."""
    finalizers = machine_set["metadata"].get("finalizers") or []
    return f", held by {', '.join(finalizers)}" if finalizers else ""


def judge(machine_set: t.Mapping[str, t.Any]) -> Readiness:
    """Return failed if the set is being deleted or has an error; else Machines and Nodes decide."""
    name, namespace = name_of(machine_set), machine_set["metadata"].get("namespace", "")
    if since := machine_set["metadata"].get("deletionTimestamp"):
        held = held_by(machine_set)
        found = text_of("MACH-SET-DELETED", name=name, namespace=namespace, since=since, also=held)
        return failed("Deleting", **found._asdict(), details=(found.message,))
    status = machine_set.get("status") or {}
    if status.get("errorReason"):
        error = f"{status['errorReason']}: {status.get('errorMessage', '')}"
        found = text_of("MACH-SET-ERROR", name=name, namespace=namespace, error=error)
        return failed(str(status["errorReason"]), **found._asdict(), details=(found.message,))
    return ready()


def summarize(
    live: t.Mapping[str, t.Any], wanted: t.Mapping[str, t.Any], zone: str, instance_type: str, ready: int
) -> KubeObject:
    """Return the set as modules return it, with the wanted replicas, since check mode writes none.

    ready: how many of its Machines are Ready Nodes. The set's own status.readyReplicas comes later.
    """
    return {
        "name": name_of(wanted),
        "zone": zone,
        "instance_type": instance_type,
        "replicas": replicas_of(wanted if "replicas" in wanted["spec"] else live or wanted),
        "ready_replicas": ready,
    }
