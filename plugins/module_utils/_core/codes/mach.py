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
        "The autoscaler does not run, or it does not manage the pool's machine sets yet.",
        "Run `oc logs -n openshift-machine-api deployment/cluster-autoscaler-operator`, or `oc describe "
        "deployment cluster-autoscaler-default -n openshift-machine-api`.",
    ),
    Code(
        "MACH-AUTOSCALER-FOREIGN",
        "A MachineAutoscaler that the collection did not make scales a machine set of the pool, or another "
        "manager keeps limits in the ClusterAutoscaler that are too low.",
        "Run `oc delete machineautoscaler NAME -n openshift-machine-api`, or raise "
        "`spec.resourceLimits.gpus` with the tool that manages the ClusterAutoscaler.",
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
        "Machines or nodes did not disappear in time.",
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
        "Somebody deleted a Machine, and its pre-drain hook holds it, because its node still has pods that "
        "may not be evicted.",
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
        "The machine set or Machine is managed through Cluster API, so a change here would be rejected or "
        "overwritten.",
        "Change the object of Cluster API, or set `spec.authoritativeAPI` of the machine set or Machine to "
        "MachineAPI.",
    ),
    Code(
        "MACH-NO-API",
        "The cluster has no Machine API to make nodes with.",
        "Make the nodes in another way, and describe them with `existing` in the pool.",
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
        "The zone has no plain worker machine set to copy.",
        "Set `zones` to zones that have one, or make a worker machine set with 0 replicas.",
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
        "Somebody scaled a machine set of the pool while the task worked, so the task stopped and removed no "
        "machine.",
        "Find out who ran `oc scale`, then run again with the number of nodes that you want.",
    ),
    Code(
        "MACH-SET-DELETED",
        "machine set {name} has been in deletion since {since}{also}",
        "Wait until `oc get machineset {name} -n {namespace}` finds nothing, then run again.",
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
