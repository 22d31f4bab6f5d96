# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Machine sets: the GPU copy of a worker set, and what differs from a live one."""

from __future__ import annotations

import re
import typing as t

from .._core.objects import KubeObject
from .._core.ownership import owned, pool_label
from .._core.readiness import Readiness, failed, ready
from .._pools.model import ACCELERATOR, Candidate, Pool
from .machine import SET
from .propagation import NOTE, of_template
from .removal import HOOK

API_VERSION: t.Final = "machine.openshift.io/v1beta1"
CLUSTER: t.Final = "machine.openshift.io/cluster-api-cluster"
_ROLE: t.Final = "machine.openshift.io/cluster-api-machine-role"
# `oc get nodes` shows it as a role; a kubelet may not give it to itself, the Machine API may.
NODE_ROLE: t.Final = "node-role.kubernetes.io/gpu"
# On each of a pool's sets: which candidate it is made for, so that a later run stays with it, also where
# the provider's value does not say the type.
CANDIDATE: t.Final = "accelerators.openshift/candidate"
# On each of them once the pool is complete: machines obtained of machines asked for, in all zones. A pool
# that has it is never moved unasked.
OBTAINED: t.Final = "accelerators.openshift/obtained"
# While Machines of a set are replaced: their names. The set has so many replicas more than its share, and
# loses them with these Machines.
REPLACING: t.Final = "accelerators.openshift/replacing"
_NOT_IN_NAMES: t.Final = re.compile("[^a-z0-9-]+")
_TYPE: t.Final = "machine.openshift.io/cluster-api-machine-type"


def set_name(infrastructure: str, pool: str, zone: str) -> str:
    """zone: as the platform writes it; empty where it has none."""
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
    return {**pool.labels, **pool_label(pool.name), ACCELERATOR: accelerator, NODE_ROLE: ""}


def build(
    name: str,
    infrastructure: str,
    pool: Pool,
    candidate: Candidate,
    replicas: int,
    namespace: str,
    provider: KubeObject,
) -> KubeObject:
    """The manifest; name, selector and template labels say the same."""
    selector = {CLUSTER: infrastructure, SET: name}
    template: KubeObject = {
        "metadata": {"labels": node_labels(pool, candidate)},
        "providerSpec": {"value": provider},
    }
    if pool.taints:
        template["taints"] = [taint.as_result() for taint in pool.taints]
    if pool.pre_drain_hook:
        template["lifecycleHooks"] = {"preDrain": [HOOK]}
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
                "spec": template,
            },
        },
    }
    manifest["spec"]["template"]["metadata"]["annotations"] = {NOTE: of_template(manifest).note}
    return manifest


def name_of(machine_set: t.Mapping[str, t.Any]) -> str:
    return str(machine_set["metadata"]["name"])


def provider_of(machine_set: t.Mapping[str, t.Any]) -> KubeObject:
    """The provider's value of the set's template."""
    return dict((machine_set["spec"]["template"]["spec"].get("providerSpec") or {}).get("value") or {})


def candidate_of(machine_set: t.Mapping[str, t.Any]) -> str:
    """The key of the pool's candidate that the set is made for; empty on a set that we did not make."""
    return str((machine_set["metadata"].get("annotations") or {}).get(CANDIDATE, ""))


def obtained_of(machine_set: t.Mapping[str, t.Any]) -> str:
    """C(obtained/asked) of the pool when it was last complete; empty before that."""
    return str((machine_set["metadata"].get("annotations") or {}).get(OBTAINED, ""))


def made(machine_set: t.Mapping[str, t.Any]) -> str:
    """When, as the API writes times: the later one sorts behind."""
    return str(machine_set["metadata"].get("creationTimestamp") or "")


def template_accelerator(machine_set: t.Mapping[str, t.Any]) -> str:
    """By which name the autoscaler counts the GPUs of the set's nodes."""
    return str(
        ((machine_set["spec"]["template"]["spec"].get("metadata") or {}).get("labels") or {}).get(
            ACCELERATOR, ""
        )
    )


def replicas_of(machine_set: t.Mapping[str, t.Any]) -> int:
    return int(machine_set["spec"].get("replicas", 1))


def replacing_of(machine_set: t.Mapping[str, t.Any]) -> list[str]:
    """Names of the Machines that are being replaced; empty at other times."""
    return [
        name
        for name in str((machine_set["metadata"].get("annotations") or {}).get(REPLACING, "")).split(",")
        if name
    ]


def share_of(machine_set: t.Mapping[str, t.Any]) -> int:
    """The replicas that the set is to have, without those that a replacement adds."""
    return max(0, replicas_of(machine_set) - len(replacing_of(machine_set)))


def surged(manifest: KubeObject, names: t.Sequence[str]) -> KubeObject:
    """The manifest of the set while these Machines are replaced."""
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


def settled(manifest: KubeObject) -> KubeObject:
    """The manifest of the set when nothing is replaced."""
    annotations = {
        key: value for key, value in manifest["metadata"]["annotations"].items() if key != REPLACING
    }
    return {
        **manifest,
        "metadata": {**manifest["metadata"], "annotations": annotations},
        "spec": {**manifest["spec"], "replicas": share_of(manifest)},
    }


def arch_of(machine_set: t.Mapping[str, t.Any]) -> str:
    """What the provider says that the set's machines are; empty where it says nothing."""
    text = str(
        (machine_set["metadata"].get("annotations") or {}).get(
            "capacity.cluster-autoscaler.kubernetes.io/labels", ""
        )
    )
    return next(
        (part.partition("=")[2] for part in text.split(",") if part.startswith("kubernetes.io/arch=")), ""
    )


def is_worker(machine_set: t.Mapping[str, t.Any]) -> bool:
    """A set to copy from: plain workers, neither a GPU pool nor infrastructure nodes behind a taint."""
    template = machine_set["spec"]["template"]
    labels = (template.get("metadata") or {}).get("labels") or {}
    given = (template["spec"].get("metadata") or {}).get("labels") or {}
    return (
        labels.get(_ROLE, "worker") == "worker"
        and ACCELERATOR not in given
        and not template["spec"].get("taints")
        and not owned(machine_set)
    )


def judge(machine_set: t.Mapping[str, t.Any]) -> Readiness:
    """Only what the set itself says is wrong; whether the pool is ready is read from Machines and Nodes."""
    status = machine_set.get("status") or {}
    if status.get("errorReason"):
        text = (
            f"machine set {name_of(machine_set)}: {status['errorReason']}: {status.get('errorMessage', '')}"
        )
        return failed(
            str(status["errorReason"]),
            text,
            code="MACH-CONFIG",
            remedy="Correct the pool's options that the text names.",
            details=(text,),
        )
    return ready()


def summarize(
    live: t.Mapping[str, t.Any], wanted: t.Mapping[str, t.Any], zone: str, instance_type: str
) -> KubeObject:
    """replicas: those that are asked for; in check mode the live set does not say them yet."""
    status = live.get("status") or {}
    return {
        "name": name_of(wanted),
        "zone": zone,
        "instance_type": instance_type,
        "replicas": replicas_of(wanted if "replicas" in wanted["spec"] else live or wanted),
        # The API leaves zeros out.
        "ready_replicas": status.get("readyReplicas", 0),
    }
