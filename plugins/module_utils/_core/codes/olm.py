# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of operators."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "OLM-ABSENT",
        "{cluster|The cluster} has no Operator Lifecycle Manager, which package {package} needs.",
        "Add OperatorLifecycleManager to `spec.capabilities.additionalEnabledCapabilities` of "
        "ClusterVersion version; where the cluster is not OpenShift, install the operator with `helm "
        "install`.",
    ),
    Code(
        "OLM-BUSY",
        "The upgrade of the GPU operator or the network operator would replace the driver of nodes on which "
        "pods use devices. The message names the nodes and the pods. Nothing was approved.",
        "Set `gpu_on_busy` (module option `on_busy`) to wait or drain.",
    ),
    Code(
        "OLM-CATALOG",
        "Package {package} cannot be read from its catalogue: {why|the catalogue does not exist, is "
        "switched off, or is not READY}",
        "Run `oc get catalogsource,pods -n openshift-marketplace`, or set {catalogue|`gpu_operator_source` "
        "or `node_feature_discovery_source` (module option `source`) to another catalogue}.",
    ),
    Code(
        "OLM-CLUSTER-OPERATOR",
        "{package} is part of OpenShift, and ClusterOperator {name} {state|does not exist or does not work}.",
        "Run `oc describe clusteroperator {name}`; if it does not exist, add {capability|its capability} to "
        "`spec.capabilities.additionalEnabledCapabilities` of ClusterVersion version.",
    ),
    Code(
        "OLM-CRD-STORED",
        "InstallPlan {plan} takes away version {versions} of CustomResourceDefinition {crd}, in which "
        "objects may still be stored (status.storedVersions). The plan was not approved.",
        "Write each object once in the new version, then run `oc patch crd {crd} --subresource=status "
        '--type=merge -p \'{"status":{"storedVersions":["NEW"]}}\'`.',
    ),
    Code(
        "OLM-CRDS",
        "The CRDs still have {objects} ({names}), which a deletion of the CRDs would delete. No CRD was "
        "deleted.",
        "Delete these objects first, or leave `remove_crds` out.",
    ),
    Code(
        "OLM-CSV-FAILED",
        "CSV {name} is Failed ({cause}): {why}.",
        "Run `oc describe csv {name} -n {namespace}`, correct the cause, set `state: absent`, then `state: "
        "present`. No pod ends, unless `remove_crds` is set.",
    ),
    Code(
        "OLM-CSV-GONE",
        "Subscription {subscription} says that CSV {csv} is installed, but it was deleted.",
        "Set `state: absent`, then `state: present`; OLM does not install it again by itself. No pod ends, "
        "unless `remove_crds` is set.",
    ),
    Code(
        "OLM-CSV-HELD",
        "CSV {name} is still being deleted (finalizers: {finalizers}){also}",
        "Run `oc get pods -n openshift-operator-lifecycle-manager` to check that OLM runs, then check the "
        "finalizers of these objects.",
    ),
    Code(
        "OLM-CSV-PENDING",
        "CSV {name} {state|has not succeeded}",
        "Run `oc describe csv {name} -n {namespace}`, and check the operator's Deployment.",
    ),
    Code(
        "OLM-DRIVER-CHANGE",
        "{change|The upgrade of the GPU operator would replace the driver of running nodes}. {effect|The "
        "message gives both drivers, the nodes and the pods}. Nothing was approved.",
        "Set `gpu_operator_driver_change` (module option `driver_change`), or `gpu_upgrade_driver_change` "
        "for upgrade_operators.yml, to pin, to keep the driver that runs, or to allow, to have it replaced "
        "node by node.",
    ),
    Code(
        "OLM-DRIVER-PIN",
        "The running driver was not pinned: {why|the collection did not make the ClusterPolicy, or the "
        "driver's image cannot be read}. Nothing was approved.",
        "Set `spec.driver` in the ClusterPolicy to the driver that runs, or set `gpu_operator_adopt: take` "
        "for enable_gpus.yml.",
    ),
    Code(
        "OLM-FOREIGN-CSV",
        "InstallPlan {plan} in namespace {namespace} would also install {csvs}; it was not approved.",
        "Set {setting|`gpu_operator_allow_csvs`, `node_feature_discovery_allow_csvs` or "
        "`gpu_upgrade_allow_csvs` (module option `allow_csvs`)} to accept that, or install the operator in "
        "a namespace that it has alone.",
    ),
    Code(
        "OLM-GROUP",
        "The OperatorGroup of namespace {namespace} does not suit package {package}: {why|there are two, or "
        "it targets other namespaces}.",
        "Run `oc get operatorgroup -n {namespace}` and keep one that fits, or set "
        "{setting|`gpu_operator_namespace` or `node_feature_discovery_namespace` (module option "
        "`namespace`)} to {place|another namespace}.",
    ),
    Code(
        "OLM-IN-USE",
        "The cluster still has {resources} of {package} ({names}), and only the operator can remove their "
        "operands.",
        "Delete them first with `oc delete KIND NAME`; without `remove_crds` you can set force: true "
        "instead. Pods that need what they bring end with the deletion.",
    ),
    Code(
        "OLM-INSTALL-MODE",
        "Package {package} does not support install mode {mode}; it supports {modes}.",
        "Set `install_mode` to one that it supports.",
    ),
    Code(
        "OLM-NO-CHANNEL",
        "Package {package} has no channel {channel}{also}; it has: {channels}.",
        "Set {setting|`gpu_operator_channel` or `node_feature_discovery_channel` (module option `channel`)} "
        "to one of them.",
    ),
    Code(
        "OLM-NO-CSV",
        "{where|The channel} has no CSV {wanted}; it has: {csvs}.",
        "Set {setting|`gpu_operator_csv` or `node_feature_discovery_csv` (module option `csv`)} to one of "
        "them, set another channel, or mirror that release.",
    ),
    Code(
        "OLM-NO-PACKAGE",
        "Package {package} is in none of the catalogues {catalogues}.",
        "{hint|Correct the package name.} A mirrored catalogue must contain the package; `oc get "
        "packagemanifests -n openshift-marketplace` lists what exists.",
    ),
    Code(
        "OLM-NO-PATH",
        "Channel {channel} of {package} does not lead to {target}: {why|the channel leads past it, or has "
        "no way from the installed CSV}.",
        "Set `gpu_operator_csv` (module option `csv`), `gpu_operator_channel` (module option `channel`) or "
        "`gpu_upgrade_operators` to what the remedy names.",
    ),
    Code(
        "OLM-NO-UPGRADE",
        "CSV {installed} is installed, and no way leads to {target}{also}",
        "Set {setting|`gpu_operator_channel` or `node_feature_discovery_channel` (module option `channel`)} "
        "to one that has a path between the two, or remove the operator (`state: absent`) and install that "
        "CSV. Pods that need its operands end.",
    ),
    Code(
        "OLM-NOT-INSTALLED",
        "{place|gpu_upgrade_operators}: the Subscription to {package} {state|does not exist or has "
        "installed nothing}, so there is nothing to upgrade.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE` first, or take the entry out of "
        "`gpu_upgrade_operators`.",
    ),
    Code(
        "OLM-FOREIGN",
        "Subscription {subscription} was created by {creator}{also}. Nothing was changed.",
        "Set `gpu_operator_adopt: take` or `node_feature_discovery_adopt: take` (module option `adopt`), or "
        "ask for what the Subscription has.",
    ),
    Code(
        "OLM-OPERATOR-DOWN",
        "The operator of package {package} does not run: {why}.",
        "{todo|Run `oc logs` for the container that the message names, or raise the limit of memory that it "
        "reached.}",
    ),
    Code(
        "OLM-PENDING",
        "OLM has not finished: {state|there is no InstallPlan, or it is not complete}",
        "Run `oc logs -n openshift-operator-lifecycle-manager deployment/catalog-operator --tail=50`.",
    ),
    Code(
        "OLM-PLAN-FAILED",
        "InstallPlan {plan} failed: {why}.",
        "Correct the cause, run `oc delete installplan {plan} -n {namespace}`, then run again.",
    ),
    Code(
        "OLM-RESOLVE",
        "Subscription {subscription}: {answer}",
        "As the text says: set {setting|`gpu_operator_channel` or `node_feature_discovery_channel` (module "
        "option `channel`)} to another channel, install the missing dependency, or delete the second "
        "OperatorGroup.",
    ),
    Code(
        "OLM-SOURCES",
        "Package {package} comes from {number} catalogues: {catalogues}.",
        "Set {setting|`gpu_operator_source` or `node_feature_discovery_source` (module option `source`)} to "
        "one of {catalogues}.",
    ),
    Code(
        "OLM-SUPPORT",
        "{csv} is supported on OpenShift {first} to {last} (as of {date}), not on {release}.{also}",
        "Set {setting|`gpu_operator_channel` or `gpu_operator_csv` (module options `channel`, `csv`)} to a "
        "release of the operator that supports OpenShift {release}.",
    ),
    Code(
        "OLM-TWICE",
        "Package {package} has {subscriptions|two Subscriptions, or one in another namespace,} already, and "
        "it can have one.",
        "{choice|Set `gpu_operator_namespace` or `node_feature_discovery_namespace` (module option "
        "`namespace`) to the namespace of the right one, or run} {commands|`oc delete subscription`} for "
        "the one that is wrong; its operator stays until its CSV is deleted.",
    ),
    Code(
        "OLM-UNPACK",
        "Subscription {subscription}: {why}",
        "Make {images|the bundle image} readable on the nodes (mirror, ImageDigestMirrorSet, the "
        "CatalogSource's spec.secrets), then {command|run `oc delete job NAME -n openshift-marketplace`} "
        "and run again.",
    ),
    Code(
        "OLM-V1",
        "Package {package} belongs to OLM v1: ClusterExtension {extension} installs it in namespace "
        "{namespace} (installed: {bundle}).",
        "Manage the package with OLM v1, or delete its operands and then run `oc delete clusterextension "
        "{extension}`, which deletes its CRDs too. Pods that need its operands end.",
    ),
    Code(
        "OLM-VERSION",
        "CSV {installed} is installed, and {target} was asked for{also}.",
        "Set `gpu_operator_approve: upgrade` or `node_feature_discovery_approve: upgrade` (module option "
        "`approve`) to get a newer version; to get an older one, remove the operator first. The removal of "
        "the GPU operator with its ClusterPolicy takes the drivers away: pods with GPUs end.",
    ),
)
