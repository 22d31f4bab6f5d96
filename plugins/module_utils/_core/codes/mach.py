# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of machines."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "MACH-ARCH",
        "{type} is {arch}, but the image of the worker machine set {machine_set} is for {other}, so the "
        "machines could not boot.",
        "Set an `instance_type` that is {other}, set gpu_node_pool_source_machine_set (module option "
        "source_machine_set) to a worker machine set with {arch} machines, or set image to the {arch} "
        "RHCOS image of this region (in a pool: provider_spec_patch).",
    ),
    Code(
        "MACH-AUTOSCALER",
        "the autoscaler's operator has not {done} yet",
        "Run `oc logs -n openshift-machine-api deployment/cluster-autoscaler-operator`.",
    ),
    Code(
        "MACH-AUTOSCALER-DOWN",
        "the deployment {deployment} is not available yet",
        "Run `oc describe deployment {deployment} -n openshift-machine-api`.",
    ),
    Code(
        "MACH-AUTOSCALER-FOREIGN",
        "The MachineAutoscaler {name} scales the machine set {machine_set}, and this collection did not make "
        "it.",
        "Run `oc delete machineautoscaler {name} -n {namespace}`, or set `replicas` instead of `autoscale` "
        "in the pool.",
    ),
    Code(
        "MACH-AUTOSCALER-LIMITS",
        "The limits of the ClusterAutoscaler {name} are too low for the pools, and {manager} manages them "
        "and would undo a change.",
        "Set `spec.resourceLimits.gpus` to [{limits}] where {manager} reads it.",
    ),
    Code(
        "MACH-CAPACITY",
        "The provider has no capacity in the zone. Azure, Google Cloud, OpenStack and IBM Cloud do not say "
        "so: on these platforms the code means that the instance did not start in time.",
        "Add another zone or instance type to the pool's `candidates`, use a capacity reservation, or run "
        "again later.",
    ),
    Code(
        "MACH-CONFIG",
        "The provider rejects the Machine (type not in the zone, image, field), and the Machine API does not "
        "try again.",
        "Correct what the provider's text names (instance type, zone, image), then run `oc delete machine -n "
        "{namespace} {name}` if the Machine still exists. Pods on its node, if it has one, end.",
    ),
    Code(
        "MACH-CSR-PENDING",
        "An instance runs, and nobody has approved its certificate request, or the new node has not "
        "requested its serving certificate.",
        "Run `oc adm certificate approve NAME`, or set `gpu_node_pool_approve_csrs: true`, for "
        "resize_pool.yml, replace_node.yml and repair_node.yml `gpu_approve_csrs: true`.",
    ),
    Code(
        "MACH-DELETE-TIMEOUT",
        "not deleted yet: {left}",
        "Run `oc get pdb -A`; a PodDisruptionBudget may block the drain.",
    ),
    Code(
        "MACH-FORBIDDEN",
        "The Machine API's cloud credentials lack a permission.",
        "Give the Machine API's cloud credentials the permission that the text names, then run `oc delete "
        "machine -n {namespace} {name}` if the Machine still exists. Pods on its node, if it has one, end.",
    ),
    Code(
        "MACH-FOREIGN",
        "A machine set {machine_set} exists, and this collection did not make it.",
        "Set another `name` in the pool.",
    ),
    Code(
        "MACH-HOOK",
        "Machine {machine} has been in deletion since {since}, and its pre-drain hook holds it until its "
        "node is empty. {refusal}",
        "Set `gpu_on_busy: drain` (module option `on_busy`), or wait until the pods have ended. `drain` "
        "ends them at once.",
    ),
    Code(
        "MACH-HOST",
        "No bare metal host is free, or the host of a Machine cannot be provisioned.",
        "Run `oc get baremetalhost -n openshift-machine-api`; hostSelector must match a host that is "
        "available, has no error and has no consumer.",
    ),
    Code(
        "MACH-IMAGE",
        "The boot image does not exist, or the account may not use it.",
        "Correct `image` (in a pool: its field in `provider_spec_patch`), or the image of the worker machine "
        "set that was copied, then run `oc delete machine -n {namespace} {name}` if the Machine still exists."
        " Pods on its node, if it has one, end.",
    ),
    Code(
        "MACH-INSTANCE-LOST",
        "An instance disappeared. Its Machine is Failed, and the Machine API does not make a new one.",
        "Run `oc delete machine -n {namespace} {name}`; its machine set then makes a new one. With `health` "
        "in the pool, a health check deletes such a Machine. Pods on its node, if it has one, end.",
    ),
    Code(
        "MACH-MIRRORED",
        "The cluster refuses or overwrites changes to mirrors of Cluster API (authoritativeAPI {authority}): "
        "{objects}. Nothing was changed.",
        "Change their objects of Cluster API instead, or set `spec.authoritativeAPI` of each to MachineAPI "
        "and wait until status.authoritativeAPI is MachineAPI too.",
    ),
    Code(
        "MACH-NO-API",
        "This cluster has no Machine API that this collection may use: {why}.",
        "Create the nodes with the provider's own tools, and describe them with `existing.node_selector` in "
        "the pool.",
    ),
    Code(
        "MACH-NO-GPU",
        "Nutanix has no free GPU of that name or device id.",
        "Correct `nutanix.gpus`, or free a GPU in Prism, then run `oc delete machine -n {namespace} {name}` "
        "if the Machine still exists. Pods on its node, if it has one, end.",
    ),
    Code(
        "MACH-NO-NODE",
        "{machine} has an instance{also} that has not joined as a node yet",
        "Run `oc get csr`, then check {console}.",
    ),
    Code(
        "MACH-NO-REFERENCE",
        "There is no worker machine set {where} to copy from.{also}",
        "Set `zones` to zones that have a worker machine set ({zones}), or make one first (it may have 0 "
        "replicas).",
    ),
    Code(
        "MACH-NODE-NOT-READY",
        "node {node} is {why}",
        "Run `oc describe node {node}`.",
    ),
    Code(
        "MACH-QUOTA",
        "The account's limit is reached. The Machine is Failed, and the Machine API does not try again.",
        "Raise the account's limit with the provider (on AWS: Service Quotas, Running On-Demand G and VT, or "
        "P, instances), then run `oc delete machine -n {namespace} {name}` if the Machine still exists. Pods "
        "on its node, if it has one, end.",
    ),
    Code(
        "MACH-REMEDIATED",
        "A health check deleted this Machine within the last hour. Only `troubled` has this code; `error` "
        "holds what events say about the cause.",
        "Run `oc get events -n openshift-machine-api --field-selector reason=MachineDeleted`.",
    ),
    Code(
        "MACH-RESERVATION",
        "The capacity reservation or block is full, has ended, or is of another type or zone.",
        "Correct `market` in the pool: the reservation must be active, be in this zone, have this instance "
        "type, and have free instances.",
    ),
    Code(
        "MACH-SCALED",
        "somebody changed the replicas while the task worked ({changes}), so it stopped and removed no "
        "machine",
        "Find out who ran `oc scale`, then run again with the number of nodes that you want.",
    ),
    Code(
        "MACH-SET-DELETED",
        "machine set {name} has been in deletion since {since}{also}",
        "Wait until `oc get machineset {name} -n {namespace}` finds nothing, then run again.",
    ),
    Code(
        "MACH-SET-ERROR",
        "machine set {name}: {error}",
        "Run `oc describe machineset {name} -n {namespace}`, and correct the options of the pool that the "
        "text names.",
    ),
    Code(
        "MACH-SET-HELD",
        "all machines are gone, but finalizers keep machine sets: {sets}",
        "Run `oc get machineset {name} -n {namespace} -o yaml`, and see whether the controller of its "
        "finalizers runs.",
    ),
    Code(
        "MACH-SILENT",
        "A Machine on OpenStack has no server for longer than `capacity_timeout`, and OpenStack does not say "
        "why. Most likely a quota is full, or no host is valid. After 15 minutes the collection treats it as "
        "refused.",
        "Run `openstack quota show --usage` and raise the quota, or use another candidate. `oc logs -n "
        "{namespace} deployment/machine-api-controllers -c machine-controller` has Nova's answer.",
    ),
    Code(
        "MACH-SOURCE",
        "The source, machine set {name}, {why}; the pool needs one {where}.",
        "Set gpu_node_pool_source_machine_set (module option source_machine_set) to a machine set of the "
        "zone ({fitting}), or remove it, or correct `zones`.",
    ),
    Code(
        "MACH-SPOT-PRICE",
        "The spot price is above the pool's highest price.",
        "Raise max_price in `market`, or remove it: then the limit is the on-demand price.",
    ),
    Code(
        "MACH-SPOT-RECLAIMED",
        "The provider took a spot instance back.",
        "Run `oc delete machine -n {namespace} {name}`; its machine set then makes a new one. With `health` "
        "in the pool, a health check deletes such a Machine. Pods on its node, if it has one, end. The "
        "provider does not reclaim on_demand machines.",
    ),
    Code(
        "MACH-SUBNET",
        "The zone's subnet has no free address.",
        "Free addresses in the zone's subnet, or add another zone to `zones`.",
    ),
    Code(
        "MACH-TIMEOUT",
        "The Machines did not become nodes in time.",
        "Run `oc logs -n openshift-machine-api deployment/machine-api-controllers -c machine-controller`.",
    ),
    Code(
        "MACH-TYPE",
        "The provider does not know the instance type in any zone.",
        "Use an `instance_type` that the provider has in this region; the lookup "
        "accelerators.openshift.gpu_instance_types lists them.",
    ),
    Code(
        "MACH-UNKNOWN-FIELD",
        "The Machine API of this cluster does not know {fields}. The machine set {machine_set} would make"
        " machines without that.",
        "Remove {options}, or update OpenShift with `oc adm upgrade` to a release that knows the field.",
    ),
    Code(
        "MACH-UNSUPPORTED",
        "The zone does not offer the instance type.",
        "Use a zone that offers this instance type to this account, or another type in the pool's "
        "`candidates`.",
    ),
    Code(
        "MACH-USER-DATA",
        "The provider rejects the boot configuration of the Machines.",
        "Correct the secret that userDataSecret of the machine set names, then run `oc delete machine -n "
        "{namespace} {name}` if the Machine still exists. Pods on its node, if it has one, end.",
    ),
)
