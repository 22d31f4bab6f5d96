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
        "Add {type: {label}, min: 0, max: N} to its `spec.resourceLimits.gpus`, or set `accelerator` to a "
        "type that has a limit ({known}).",
    ),
    Code(
        "POOL-ARCH",
        "{path}: the image is for {allowed}, but {type} is {arch}.",
        "Set `validate.image` of the pool to an image for {arch}, or use another `instance_type`.",
    ),
    Code(
        "POOL-ATTACHED",
        "{path}: {gpus} cannot be attached to {machine}.",
        "Set `{path}` to what is allowed: {allowed}.",
    ),
    Code(
        "POOL-AUTOSCALE-ZERO",
        "{path}: the autoscaler books only {booked} for a node that does not exist yet, and {why}, so it "
        "would never scale up from 0.",
        "Set `autoscale.min` to at least 1{also}.",
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
        "POOL-CLASS",
        "{path}: a pool may not describe the priority class {name}: {why}.",
        "Give the class in `priority` another name.",
    ),
    Code(
        "POOL-CONFLICT",
        "{path}: does not go with {other}{also}.",
        "Keep one of the two in `gpu_pools`.",
    ),
    Code(
        "POOL-DIFFERS",
        "{path}: {value} differs from {other}, and {once} has this once for all pools.",
        "Give both in `gpu_pools` the same value.{also}",
    ),
    Code(
        "POOL-DISK",
        "{path}: {what|a type, a size, IOPS or a throughput} does not work {where|on this platform, or with "
        "this instance type}.",
        "Change `{path}`: {allowed|the message says what the disk can have}.",
    ),
    Code(
        "POOL-DRA",
        "{path}: does not go with backend dra: {why}.",
        "{instead}, or choose another `gpu_backend`.",
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
        "{path}: does not fit: {why}.",
        "Change `driver` of the pool as the message says.",
    ),
    Code(
        "POOL-DUPLICATE",
        "{path}: {name} is listed twice{also}.",
        "Name it once in `gpu_pools`.",
    ),
    Code(
        "POOL-EITHER",
        "{path}: must have exactly one of {options}, not {given}.",
        "Keep one of them in `{path}`.",
    ),
    Code(
        "POOL-EMPTY",
        "{path}: is empty, or asks for nothing.",
        "Write `{path}` as {example}, or remove it.",
    ),
    Code(
        "POOL-FABRIC",
        "{path}: {instance_type} has no {fabric|Elastic Fabric Adapter, or no accelerated networking}.",
        "Remove `{path}`, or set an `instance_type` that has it.",
    ),
    Code(
        "POOL-GEOMETRY",
        "The GPU cannot be shared so: it does not have the MIG partition, the partitions do not fit on it, "
        "or MPS serves fewer clients there.",
        "Set `sharing` to what the message lists.",
    ),
    Code(
        "POOL-GPUS",
        "{path}: has {given}, and {type} has {gpus}.",
        "Correct `{path}`, or use another `instance_type`. If the catalogue is wrong, correct the type in "
        "gpu_instance_types_catalogue (module option catalogue).",
    ),
    Code(
        "POOL-INSTANCE-TYPE",
        "{path}: {name} is {what}.",
        "{also}If the type is newer than the catalogue, or your own (a template, a flavor, a kind of host), "
        "add `gpus` (and `gpu_model`) to the candidate.",
    ),
    Code(
        "POOL-INVALID",
        "The pools have several problems. `problems` lists each one with its own code and path.",
        "Correct each entry of `gpu_pools` that the message lists.",
    ),
    Code(
        "POOL-LABEL",
        "The key or value of a label is not legal, or is not text.",
        "Change or quote the label in `labels`.",
    ),
    Code(
        "POOL-LABEL-TAKEN",
        "{path}: a pool may not set this label: it {why}.",
        "Remove it from `labels`.{also}",
    ),
    Code(
        "POOL-MARKET",
        "{path}: {what|the market, a reservation or a price} does not work {where|on this platform, or with "
        "another option}.",
        "Change `{path}`: {allowed|the message says what the market can be}.",
    ),
    Code(
        "POOL-MIXED",
        "{path}: mixes {found} in one pool.",
        "Make one pool for each {kind}, each with its own `candidates`.",
    ),
    Code(
        "POOL-NAME",
        "The pool's name would make the name of a machine set too long, or it is a name that OpenShift's "
        "installer gives machine sets (`infra`, `master`, `worker`).",
        "Change `name` in the pool.",
    ),
    Code(
        "POOL-NO-DRA",
        "{path}: needs the DRA driver, which runs only with backend dra.",
        "Set `gpu_backend: dra` (module gpu_sharing: claims: true), or use `time_slicing` or `mps`.",
    ),
    Code(
        "POOL-NO-GPUS",
        "{path}: {machine} has no GPU.",
        "Attach GPUs with `gcp.gpus`, such as {type: nvidia-tesla-t4, count: 1}.",
    ),
    Code(
        "POOL-NO-VIRTUALIZATION",
        "{path}: the cluster has no OpenShift Virtualization: it has no HyperConverged, or one that is being "
        "deleted.",
        "Install the operator kubevirt-hyperconverged and create its HyperConverged, or remove `workload` of "
        "the pool.",
    ),
    Code(
        "POOL-NONE",
        "{path}: is empty, so there is nothing to do.",
        "Write a file with pools as the message shows, and run `ansible-playbook playbooks/enable_gpus.yml "
        "-e @FILE`; or `ansible-playbook playbooks/enable_gpus.yml -i INVENTORY -e gpu_clusters=all` for "
        "pools in an inventory: without gpu_clusters a playbook works on localhost.",
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
        "{path}: is for {platform}, but this cluster runs on {cloud}.",
        "Remove {platform} from the pool in `gpu_pools`.",
    ),
    Code(
        "POOL-PRIORITY",
        "{clashes|A priority class exists with another value or preemption policy, which never change, or "
        "another field manager set its description.} Nothing was changed.",
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
        "{path}: is required{also}.",
        "Set `{path}` in the description of the pool (`gpu_pools`).",
    ),
    Code(
        "POOL-SIZE",
        "{path}: is required to scale up from 0: on {cloud} the autoscaler does not know the size of {type}.",
        "Set {keys} on the candidate, or `autoscale.min` to at least 1.",
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
        "POOL-TOO-MANY",
        "{path}: {value} is more than {limit}.",
        "Set `{path}` to at most {most}.",
    ),
    Code(
        "POOL-TUNING",
        "TuneD, the kernel or the machines would not take a value of `tuning`: an unknown profile or one for "
        "another architecture, a wrong sysctl or kernel argument, a text that TuneD cannot read.",
        "Set in `tuning` of the pool what the message names.",
    ),
    Code(
        "POOL-TYPE",
        "{path}: must be {form}, not {value}.",
        "In `gpu_pools`, write {path} as {form}.",
    ),
    Code(
        "POOL-UNKNOWN",
        "{path}: has no pool {pool}. It has {known}.",
        "Set `{option}` to one of {known}.",
    ),
    Code(
        "POOL-UNKNOWN-KEY",
        "{path}: {key} is not an option here.",
        "{also}Allowed keys: {keys}. docs/{page|pools}.md describes those of `gpu_pools`.",
    ),
    Code(
        "POOL-VALUE",
        "A value is not one of the allowed ones, or is out of range.",
        "Set the option that the message names to an allowed value; `ansible-doc "
        "accelerators.openshift.gpu_plan` lists the options of pools.",
    ),
    Code(
        "POOL-VENDOR",
        "{path}: {type} has {model} devices ({vendor}), which the NVIDIA GPU Operator does not drive.",
        "Use another `instance_type`: {others}. To create such nodes anyway, set `accelerator: "
        "{accelerator}`.",
    ),
    Code(
        "POOL-VGPU-TYPE",
        "{path}: {model} has no vGPU {type}.",
        "Set `{path}` to a vGPU of {model}, such as {model}-8Q.",
    ),
    Code(
        "POOL-ZONE",
        'The platform writes zones in another form, or it has no zones (on Azure a zone is a number: `"1"`).',
        "Correct `zones` in the candidate.",
    ),
)
