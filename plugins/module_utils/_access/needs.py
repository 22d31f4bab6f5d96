# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each playbook needs on the cluster, from the table of verbs and kinds by role and place."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._kube.kinds import known
from . import table

# A place of the table that stands for the whole cluster.
CLUSTER: t.Final = ""
# Namespace of the node tuning operator.
TUNING: t.Final = "openshift-cluster-node-tuning-operator"
# Parts that are of no role.
SHARED: t.Final = (
    *("lease", "lease read", "plan", "leftovers", "removal", "permits"),
    *(
        "preflight",
        "update pools",
        "operator_upgrade",
        "pull_secret",
        "repair",
        "repartition",
        "idle",
        "diagnosis",
        "must_gather",
        "images",
    ),
)
# What each playbook does. A role that the user leaves out by a tag is not asked about.
_CREATE: t.Final = (
    "gpu_node_pool",
    "node_tuning",
    "node_feature_discovery",
    "nvidia_network_operator",
    "gpu_network",
    "gpu_sharing",
    "gpu_operator",
    "gpu_policy",
    "gpu_validation",
)
PARTS: t.Final[dict[str, tuple[str, ...]]] = {
    "enable_gpus": ("lease", "plan", "leftovers", "images", *_CREATE),
    "remove_gpus": ("lease", "plan", "removal", *(f"{part} absent" for part in _CREATE)),
    "resize_pool": ("lease", "plan", "gpu_node_pool"),
    "replace_node": ("lease", "gpu_node_pool", "gpu_validation"),
    "validate_idle": ("lease", "plan", "gpu_validation", "idle"),
    "repair_node": ("lease", "repair", "gpu_node_pool", "gpu_validation"),
    "remove_pool": (
        *("lease", "permits", "gpu_node_pool absent", "node_tuning absent", "gpu_network absent"),
        *("gpu_sharing absent", "gpu_policy absent"),
    ),
    "repartition": ("lease", "plan", "repartition", "gpu_sharing", "gpu_operator"),
    "tune_nodes": ("lease", "plan", "node_tuning"),
    "before_openshift_update": ("lease", "preflight", "update pools"),
    "after_openshift_update": (
        *("lease", "plan", "update pools"),
        *("node_feature_discovery", "gpu_operator", "gpu_validation"),
    ),
    "drift": ("lease read", "plan", "leftovers", *_CREATE[:-1], "gpu_monitoring"),
    "upgrade_driver": ("lease", "plan", "driver_upgrade", "gpu_validation"),
    "upgrade_operators": ("lease", "operator_upgrade"),
    "rotate_pull_secret": ("lease", "pull_secret"),
    "monitor_gpus": ("lease", "plan", "gpu_monitoring"),
}
# Playbooks that get a role of their own. Those outside PARTS do not ask for their rights first.
GRANTED: t.Final = {
    **PARTS,
    "preflight_update": ("preflight",),
    "report_use": ("gpu_use",),
    "diagnose": ("plan", "diagnosis"),
    "must_gather": ("must_gather",),
    "mirror": ("plan", "images"),
}
# These change the number of machines of a pool and nothing that belongs to it.
_OF_POOL: t.Final = ("gpu_node_pool health", "gpu_node_pool autoscale")
_NEVER: t.Final = {
    **dict.fromkeys(("resize_pool", "replace_node"), _OF_POOL),
    # They validate nodes that are there, and leave the gate for new ones as it is.
    "repair_node": (*_OF_POOL, "gpu_validation gate"),
    "upgrade_driver": ("gpu_validation gate",),
    # Quotas and priority classes may be those of several pools.
    "remove_pool": (
        *("gpu_policy quota absent", "gpu_policy limit_range absent", "gpu_policy cluster_quotas absent"),
        *("gpu_policy priority absent", "gpu_policy queue_operator absent"),
        # Networks may be those of several pools too.
        *("gpu_network networks absent", "gpu_network sriov absent"),
    ),
}
# What rbac.yml does, which gives the others their rights. It needs an administrator, so it has no role.
_SETUP: t.Final = {"rbac": ("rbac",)}
# What queues of Kueue add.
QUEUES: t.Final = frozenset(("gpu_policy queues", "gpu_policy queues absent"))
# What the operator of Kueue adds, with the rights for Subscriptions in its namespace.
QUEUE_OPERATOR: t.Final = frozenset(("gpu_policy queue_operator", "gpu_policy queue_operator absent"))
# What networks add, and what those of the SR-IOV operator add, with the rights for its Subscription.
NETWORKS: t.Final = frozenset(("gpu_network networks absent",))
SRIOV: t.Final = frozenset(("gpu_network sriov", "gpu_network sriov absent"))
# What profiles of OpenShift AI add.
PROFILES: t.Final = frozenset(("gpu_policy hardware_profiles", "gpu_policy hardware_profiles absent"))
# What quotas of several namespaces add.
CLUSTER_QUOTAS: t.Final = frozenset(("gpu_policy cluster_quotas", "gpu_policy cluster_quotas absent"))
# Each place of the table, with its usual namespaces. Quotas and claims of teams have none.
NAMESPACES: t.Final[dict[str, tuple[str, ...]]] = {
    "default": ("default",),
    "openshift": ("openshift",),
    "config": ("openshift-config",),
    "marketplace": ("openshift-marketplace",),
    "machines": ("openshift-machine-api",),
    "tuning": (TUNING,),
    "console": ("openshift-config-managed",),
    "monitoring": ("openshift-monitoring",),
    "nfd": ("openshift-nfd",),
    "gpu": ("nvidia-gpu-operator",),
    "nic": ("nvidia-network-operator",),
    "sriov": ("openshift-sriov-network-operator",),
    "kmm": ("openshift-kmm",),
    "kueue": ("openshift-kueue-operator",),
    "quota": (),
    "claims": (),
    "networks": (),
    "spare": ("gpu-spare",),
    "validation": ("gpu-validation",),
}


class Need(t.NamedTuple):
    """One right: a verb on a resource, such as pods/eviction. namespace: "" is the whole cluster."""

    verb: str
    group: str
    resource: str
    namespace: str = CLUSTER

    @property
    def full(self) -> str:
        """Return resource.group, as `oc` has it; a subresource follows the slash."""
        name, slash, sub = self.resource.partition("/")
        return f"{name}.{self.group}{slash}{sub}" if self.group else self.resource


class Rights(t.NamedTuple):
    """needed: without one of them the run fails. useful: the run can do without, or perhaps does not ask."""

    needed: list[Need]
    useful: list[Need]


Row = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]


def _resource(word: str) -> tuple[str, str]:
    """Return group and resource of a word of the table."""
    if word[0].islower():
        plural, _dot, group = word.partition(".")
        return group, plural
    name, slash, sub = word.partition("/")
    kind = known(name)
    return kind.group, f"{kind.plural}{slash}{sub}"


def _read(text: str) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    part = ""
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            part = line
            continue
        place, verbs, *words = line.split()
        row = (place, tuple(verbs.split(",")), tuple(map(_resource, words)))
        parts.setdefault(part, []).append(row)
    return parts


TABLE: t.Final = _read(table.TEXT)
# Roles that install an operator, with the place of its namespace.
OPERATORS: t.Final = {
    "node_feature_discovery": "nfd",
    "nvidia_network_operator": "nic",
    "gpu_operator": "gpu",
    "gpu_network": "sriov",
    "gpu_policy": "kueue",
}
# Those that not every run installs, with the detail of a run that does.
_SOMETIMES: t.Final = {"gpu_network": "sriov", "gpu_policy": "queue_operator"}


def of(
    playbook: str,
    details: t.Collection[str],
    places: t.Mapping[str, t.Sequence[str]],
    left_out: t.Collection[str],
) -> Rights:
    """Return what a playbook needs and what is useful to it, each right once.

    details: parts with two words that apply, such as "gpu_node_pool autoscale". places: namespaces of each
    place. left_out: roles that do not run.
    """
    found: dict[Need, bool] = {}
    details = {*details} - {*_NEVER.get(playbook, ())}
    for part in {**GRANTED, **_SETUP}[playbook]:
        role, _space, state = part.partition(" ")
        if role in left_out:
            continue
        for object_name, rows in TABLE.items():
            if object_name == part or (object_name in details and _applies(object_name, role, state)):
                _add(found, rows, places)
        if role in OPERATORS and _installs(role, state, details):
            rows = [
                (OPERATORS[role] if place == "*" else place, verbs, resources)
                for place, verbs, resources in TABLE["olm absent" if state else "olm"]
            ]
            _add(found, rows, places)
    return Rights([need for need in found if found[need]], [need for need in found if not found[need]])


def _installs(role: str, state: str, details: t.Collection[str]) -> bool:
    """Return whether a role of OPERATORS installs or removes its operator in such a run."""
    return role not in _SOMETIMES or f"{role} {_SOMETIMES[role]} {state}".strip() in details


def by_place(playbook: str) -> dict[str, list[Need]]:
    """Return all that a playbook may need or use, whatever its variables say, by place of the table.

    The namespace of each right is its place. A place does not repeat the rights of the whole cluster.
    """
    parts = {part for listed in GRANTED.values() for part in listed}
    details = (
        {object_name for object_name in TABLE if " " in object_name} - parts - {*_NEVER.get(playbook, ())}
    )
    rights = of(playbook, details, {place: [place] for place in NAMESPACES}, ())
    every = [*rights.needed, *rights.useful]
    everywhere = {need for need in every if not need.namespace}
    found: dict[str, list[Need]] = {}
    for need in every:
        if not need.namespace or need._replace(namespace=CLUSTER) not in everywhere:
            found.setdefault(need.namespace, []).append(need)
    return found


def _applies(object_name: str, role: str, state: str) -> bool:
    first, *more = object_name.split()
    return first == role and ("absent" in more) == bool(state)


def _add(found: dict[Need, bool], rows: t.Iterable[Row], places: t.Mapping[str, t.Sequence[str]]) -> None:
    for place, verbs, resources in rows:
        for namespace in [CLUSTER] if place == "-" else places[place]:
            for group, resource in resources:
                for verb in verbs:
                    need = Need(verb.rstrip("?"), group, resource, namespace)
                    found[need] = found.get(need, False) or not verb.endswith("?")


def details_of(
    pools: t.Iterable[KubeObject], backend: str, approve_csrs: bool, admission: bool = False
) -> set[str]:
    """Return the parts that these pools of gpu_plan add. admission: policies tell pods what they lack."""
    found = {f"gpu_operator {backend}"} | ({"gpu_node_pool csr"} if approve_csrs else set())
    if backend == "dra":
        found |= {"gpu_policy claims", "gpu_validation claims"}
        found |= {"gpu_sharing claims", "gpu_sharing claims absent"}
    found |= {"gpu_policy admission", "gpu_policy admission absent"} if admission else set()
    for pool in pools:
        found |= _watch_of(pool)
        if pool.get("autoscale"):
            found |= {"gpu_node_pool autoscale", "gpu_node_pool autoscale absent"}
        if set(pool.get("sharing") or {}) - {"claims"}:
            found |= {"gpu_sharing pools", "gpu_sharing pools absent"}
        if (pool.get("sharing") or {}).get("mig"):
            found.add("gpu_sharing mig absent")
        if pool.get("workload"):
            found |= {"plan machines", "gpu_operator machines", "gpu_operator machines absent"}
        if pool.get("tuning"):
            found.add("node_tuning tuned")
        if (pool.get("tuning") or {}).get("reboot") == "planned":
            found |= {"node_tuning reboots", "node_tuning reboots absent"}
        for key in ("quota", "priority", "spare"):
            if pool.get(key):
                found |= {f"gpu_policy {key}", f"gpu_policy {key} absent"}
        if any(quota.get("limit_range") for quota in pool.get("quota") or []):
            found |= {"gpu_policy limit_range", "gpu_policy limit_range absent"}
    return found


def _watch_of(pool: KubeObject) -> set[str]:
    """Return the parts of what watches the pool's nodes: its health check, and its gate for new nodes."""
    found = {"gpu_node_pool health"} if pool.get("health") else set()
    is_gated = bool((pool.get("validate") or {}).get("gate"))
    return found | ({"gpu_validation gate", "gpu_validation gate absent"} if is_gated else set())
