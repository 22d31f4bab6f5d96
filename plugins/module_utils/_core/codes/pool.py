# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the description of the pools."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "POOL-ACCELERATOR",
        "{path}: no GPU limit of the ClusterAutoscaler has type '{label}': the autoscaler would not count "
        "these nodes as GPU nodes.",
        "Add {type: {label}, min: 0, max: N} to its `spec.resourceLimits.gpus`, or set `accelerator` to one "
        "of {known}.",
    ),
    Code(
        "POOL-ARCH",
        "The pool mixes instance types of two architectures, or the validation image does not exist for the "
        "nodes' architecture.",
        "Make one pool for each architecture, or set `validate.image` in the pool.",
    ),
    Code(
        "POOL-AUTOSCALE-ZERO",
        "The autoscaler would never scale the pool up from 0: its resources are renamed or mixed, its "
        "devices are not NVIDIA's, or the size of its bare metal hosts is unknown.",
        "Set `autoscale.min` to 1 or more.",
    ),
    Code(
        "POOL-AUTOSCALED",
        "The autoscaler scales pool {pool} and would count the extra machines of a replacement as its "
        "own. Nothing was changed. Not replaced: {machines}.",
        "Set `replicas` instead of `autoscale` in the pool for this run; or set `on_change: new_machines`"
        " and run `ansible-playbook playbooks/replace_node.yml -e gpu_node=NODE` for each node. The "
        "replacement of a node ends its pods.",
    ),
    Code(
        "POOL-CLUSTER-WIDE",
        "{path}: {value} differs from {other} of {first}, but a ClusterPolicy has this setting once for all "
        "pools.",
        "Give both pools in `gpu_pools` the same value.",
    ),
    Code(
        "POOL-CONFLICT",
        "Two options contradict each other, or two pools describe the same quota or priority class "
        "differently.",
        "Keep one of the two options that the message names in `gpu_pools`.",
    ),
    Code(
        "POOL-DISK",
        "The platform or the instance type does not have that type of disk, or does not take that size, "
        "IOPS or throughput.",
        "Change `disk` in the pool.",
    ),
    Code(
        "POOL-DRA",
        "The pool has an option that only a device plugin supports (sharing but by claims, autoscale, MIG "
        "resources, a quota of requests), and the backend is `dra`. Or it has `sharing.claims`, and the "
        "backend is another one.",
        "Remove the option from the pool, or leave out `gpu_backend`; for `sharing.claims` set "
        "`gpu_backend: dra`.",
    ),
    Code(
        "POOL-DRIFT",
        "The machine set {machine_set} makes {old} machines, and the pool asks for {new}. Its existing "
        "machines would keep the old type, so nothing was changed.",
        "Add a second pool for {new} to `gpu_pools` and remove this pool once the new nodes work, or set "
        "`instance_type` back to {old}.",
    ),
    Code(
        "POOL-DRIVER",
        "The pool's GPUs do not support the kernel modules that the pool asks for, or these do not go with "
        "what the pool has run beside the driver.",
        "Remove `driver.kernel_module_type` from the pool, or set what the message names.",
    ),
    Code(
        "POOL-DUPLICATE",
        "The name of a pool or disk, a zone, a taint, an instance type or a variable of the driver is listed "
        "twice.",
        "Name it once in `gpu_pools`.",
    ),
    Code(
        "POOL-FABRIC",
        "The pool asks for an Elastic Fabric Adapter or accelerated networking, and the instance type has "
        "none.",
        "Remove the option that the message names, or set another `instance_type`.",
    ),
    Code(
        "POOL-GEOMETRY",
        "The GPU cannot be shared so: it does not have the MIG partition, the partitions do not fit on it, "
        "or MPS serves fewer clients there.",
        "Set `sharing` to what the message lists.",
    ),
    Code(
        "POOL-GPUS",
        "The number of GPUs does not fit the machine: the machine takes no attached GPUs, needs "
        "attached GPUs, does not take that number, or its instance type has another number.",
        "Correct `gpus` of the candidate, `gcp.gpus` or `nutanix.gpus` as the message says.",
    ),
    Code(
        "POOL-INSTANCE-TYPE",
        "The catalogue does not know the instance type on this platform. The message offers the nearest "
        "names.",
        "Correct `instance_type`, or add `gpus` and `gpu_model` to the candidate.",
    ),
    Code(
        "POOL-INVALID",
        "The pools have several problems. `problems` lists each one with its own code and path.",
        "Correct each entry of `gpu_pools` that the message lists.",
    ),
    Code(
        "POOL-LABEL",
        "The key or value of a label is not legal, is not text, or belongs to the collection, "
        "to control-plane nodes, or to an operator, the kubelet or the cloud.",
        "Change, quote or remove the label in `labels`.",
    ),
    Code(
        "POOL-MARKET",
        "The platform does not have that market, the market and the reservation contradict each other, the "
        "reservation's id is malformed, or the market takes no price.",
        "Change `market` in the pool.",
    ),
    Code(
        "POOL-NAME",
        "The pool's name would make the name of a machine set too long, or it is a name that OpenShift's "
        "installer gives machine sets (`infra`, `master`, `worker`).",
        "Change `name` in the pool.",
    ),
    Code(
        "POOL-NONE",
        "The list of pools is empty, or `gpu_pools` is not set. A playbook works on localhost, unless "
        "`gpu_clusters` names hosts of the inventory.",
        "Write a file with pools as the message shows, and run `ansible-playbook playbooks/enable_gpus.yml "
        "-e @FILE`; or `ansible-playbook playbooks/enable_gpus.yml -i INVENTORY -e gpu_clusters=all` for "
        "pools in an inventory.",
    ),
    Code(
        "POOL-OVERLAP",
        "{path}: also matches the nodes of pool {pool}.",
        "Make `existing.node_selector` narrower, so that each node belongs to one pool.",
    ),
    Code(
        "POOL-PLACEMENT",
        "A partition has no placement group, or a dedicated host is used with several zones.",
        "Set `aws.placement_group` next to the partition; on IBM Cloud name one zone in `zones`.",
    ),
    Code(
        "POOL-PLATFORM",
        "The option belongs to another platform, or this platform's machines do not support it.",
        "Remove the option that the message names from `gpu_pools`.",
    ),
    Code(
        "POOL-PRIORITY",
        "A priority class exists with another value or preemption policy, which never change, or another "
        "field manager set its description.",
        "Set the live values in `priority` of the pool, or give the class another name there.",
    ),
    Code(
        "POOL-PROVIDER-FIELD",
        "{path}: is not a field of this platform's machines; the API would ignore it.",
        "{also}Correct it or remove it from `provider_spec_patch`.",
    ),
    Code(
        "POOL-PROVIDER-VALUE",
        "{path}: is set by {option} of the pool, which later steps read.",
        "Remove it from `provider_spec_patch`, and set {option}.",
    ),
    Code(
        "POOL-QUOTA-RENAMED",
        "{path}: counts one resource, but the pool's devices have several names.",
        "Use `quota[].hard` with the real names, for example {requests.nvidia.com/mig-1g.5gb: 8}, or "
        "`sharing` that gives them one name.",
    ),
    Code(
        "POOL-REQUIRED",
        "A required option is missing. The message names its path.",
        "Set the option that the message names in `gpu_pools`.",
    ),
    Code(
        "POOL-SURGE",
        "Pool {pool} has {machines} of {types}. All new machines are made before the first old one is "
        "deleted: {number} more than its replicas, and max_surge allows {surge}. Nothing was changed.",
        "Set `gpu_node_pool_max_surge` (module option `max_surge`) to {number} if the account allows "
        "that; or lower `replicas` first; or add a pool for the new instance type.",
    ),
    Code(
        "POOL-TAINT",
        "{path}: the workers of Node Feature Discovery tolerate no NoExecute taint: the nodes would never be "
        "labelled, and no operand would run on them.",
        "Set the taint's `effect` to NoSchedule.",
    ),
    Code(
        "POOL-TUNING",
        "TuneD, the kernel or the machines would not take a value of `tuning`: an unknown profile or one for "
        "another architecture, a wrong sysctl or kernel argument, a text that TuneD cannot read.",
        "Set in `tuning` of the pool what the message names.",
    ),
    Code(
        "POOL-TYPE",
        "A value has the wrong type: YAML read a boolean or a number, or found a mapping instead of a list. "
        "`-e gpu_pools=VALUE` always gives text.",
        "Quote the value in `gpu_pools`, or write it as the message shows.",
    ),
    Code(
        "POOL-UNKNOWN-KEY",
        "{path}: {key} is not an option here.",
        "{also}Allowed keys: {keys}. docs/pools.md describes those of `gpu_pools`.",
    ),
    Code(
        "POOL-VALUE",
        "A value is not one of the allowed ones, or is out of range.",
        "Set the option that the message names to an allowed value; `ansible-doc "
        "accelerators.openshift.gpu_plan` lists the options of pools.",
    ),
    Code(
        "POOL-VENDOR",
        "The instance type has devices of another vendor than NVIDIA, or the pool mixes vendors.",
        "Set another `instance_type`; to make such nodes anyway, set `accelerator`.",
    ),
    Code(
        "POOL-ZONE",
        'The platform writes zones in another form, or it has no zones (on Azure a zone is a number: `"1"`).',
        "Correct `zones` in the candidate.",
    ),
)
