# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of access_review: ask for the rights of a playbook, and look who holds the cluster's lease."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, ApiError
from .._core.objects import KubeObject
from .._frame.argspec import LockParams, WaitParams
from .._frame.lease import Lease
from .._kube.client import Api
from . import needs, review
from .needs import Need

# Playbooks that make or remove the machines of all pools; existing nodes need no rights for machines.
_WITH_POOLS: t.Final = ("enable_gpus", "remove_gpus", "drift")


class AccessReviewParams(LockParams, WaitParams):
    """The options of access_review. skip: tags of roles that do not run; only: tags of those that run."""

    playbook: t.Literal[
        "enable_gpus",
        "remove_gpus",
        "resize_pool",
        "replace_node",
        "repair_node",
        "validate_idle",
        "repartition",
        "remove_pool",
        "tune_nodes",
        "drift",
        "upgrade_driver",
        "before_openshift_update",
        "after_openshift_update",
        "upgrade_operators",
        "rotate_pull_secret",
        "monitor_gpus",
    ]
    pools: list[dict[str, t.Any]]
    backend: t.Literal["clusterpolicy", "nvidiadriver", "dra"]
    nic: bool
    queues: bool
    queue_operator: bool
    cluster_quotas: bool
    hardware_profiles: bool
    networks: list[dict[str, t.Any]]
    approve_csrs: bool
    machine_namespace: str
    nfd_namespace: str
    gpu_namespace: str
    nic_namespace: str
    kueue_namespace: str
    validation_namespace: str
    spare_namespace: str
    admission: bool
    source_namespace: str
    only: list[str]
    skip: list[str]


def ensure(api: Api, params: AccessReviewParams) -> dict[str, t.Any]:
    """Return what the playbook needs and what is useful to it, as a ClusterRole.

    Raise API-RIGHTS with everything that is missing, and RUN-LOCKED while another run changes the cluster.
    """
    wanted = wanted_rights(params)
    role = review.cluster_role([*wanted.needed, *wanted.useful], review.role_name(params["playbook"]))
    missing = missing_rights(api, wanted.needed)
    if missing:
        raise review.refusal(params["playbook"], missing, user(api), role)
    if isinstance(api.guard, Lease):
        _ask_for_lease(api, api.guard)
    return {"missing": [], "cluster_role": role}


def _ask_for_lease(api: Api, lease: Lease) -> None:
    """Raise RUN-LOCKED while another run changes the cluster; in check mode, only warn."""
    if not api.check_mode:
        lease.ask()
    elif holder := lease.other_holder():
        api.warn(f"{holder} holds the lease of this cluster: a run that writes may have to wait.")


def wanted_rights(params: AccessReviewParams) -> needs.Rights:
    """Return what the playbook needs and what is useful to it, with these options."""
    pools = params["pools"]
    roles = [part for part in needs.PARTS[params["playbook"]] if part not in needs.SHARED]
    only = set(params["only"]) & set(roles)
    left_out = set(params["skip"]) | (set(roles) - only if only else set())
    if not params["nic"]:
        left_out.add("nvidia_network_operator")
    if not params["networks"] and params["playbook"] != "remove_pool":
        left_out.add("gpu_network")
    if params["playbook"] in _WITH_POOLS and not any(pool.get("candidates") for pool in pools):
        left_out.add("gpu_node_pool")
    if params["playbook"] == "remove_gpus" and not any(pool.get("tuning") for pool in pools):
        left_out.add("node_tuning")
    quotas = [quota["namespace"] for pool in pools for quota in pool.get("quota") or []]
    claims = [
        claim["namespace"] for pool in pools for claim in (pool.get("sharing") or {}).get("claims") or []
    ]
    places = {
        "default": ["default"],
        "openshift": ["openshift"],
        "config": [*needs.NAMESPACES["config"]],
        "marketplace": [params["source_namespace"]],
        "machines": [params["machine_namespace"]],
        "tuning": [needs.TUNING],
        "console": [*needs.NAMESPACES["console"]],
        "monitoring": [*needs.NAMESPACES["monitoring"]],
        "nfd": [params["nfd_namespace"]],
        "gpu": [params["gpu_namespace"]],
        "nic": [params["nic_namespace"]],
        "kueue": [params["kueue_namespace"]],
        "kmm": [*needs.NAMESPACES["kmm"]],
        "sriov": [*needs.NAMESPACES["sriov"]],
        "networks": list(dict.fromkeys(space for one in params["networks"] for space in one["namespaces"])),
        "quota": list(dict.fromkeys(quotas)),
        "claims": list(dict.fromkeys(claims)),
        "spare": [params["spare_namespace"]],
        "validation": [params["validation_namespace"]],
    }
    details = needs.details_of(pools, params["backend"], params["approve_csrs"], params["admission"])
    if params["queues"]:
        details |= needs.QUEUES
    if params["queue_operator"]:
        details |= needs.QUEUE_OPERATOR
    if params["networks"]:
        details |= needs.NETWORKS
    if any(network["kind"].startswith("sriov") for network in params["networks"]):
        details |= needs.SRIOV
    if params["cluster_quotas"]:
        details |= needs.CLUSTER_QUOTAS
    if params["hardware_profiles"]:
        details |= needs.PROFILES
    return needs.of(params["playbook"], details, places, left_out)


def missing_rights(api: Api, wanted: t.Sequence[Need]) -> list[Need]:
    """Return the missing rights. An administrator costs one request, others one for each namespace."""
    if _may(api, review.EVERYTHING):
        return []
    answers: dict[str, KubeObject] = {}
    for namespace in dict.fromkeys(["", *(need.namespace for need in wanted)]):
        answers[namespace] = api.dry_run_create(review.rules_question(namespace))
    everywhere = review.rules(answers[""])
    found = []
    for need in wanted:
        answer = answers[need.namespace]
        if review.is_granted(need, [*everywhere, *review.rules(answer)]):
            continue
        if not review.is_incomplete(answer) or not _may(api, need):
            found.append(need)
    return found


def _may(api: Api, need: Need) -> bool:
    answer = api.dry_run_create(review.question(need))
    return bool((answer.get("status") or {}).get("allowed"))


def user(api: Api) -> str:
    """Return the name of the identity, or "" if the server does not tell it."""
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
    try:
        answer = api.dry_run_create(asked)
    except (ApiError, AcceleratorError):
        return ""
    return str(((answer.get("status") or {}).get("userInfo") or {}).get("username") or "")
