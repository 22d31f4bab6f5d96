# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of operators."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "OLM-ABSENT",
        "The cluster has no Operator Lifecycle Manager. For the GPU operator, `helm_values` holds the "
        "values of its Helm chart.",
        "Add OperatorLifecycleManager to `spec.capabilities.additionalEnabledCapabilities` of the "
        "ClusterVersion, or install the operator with `helm install`.",
    ),
    Code(
        "OLM-BUSY",
        "The upgrade of the GPU operator or the network operator would replace the driver of nodes on which "
        "pods use devices. The message names the nodes and the pods. Nothing was approved.",
        "Set `gpu_on_busy` (module option `on_busy`) to wait or drain.",
    ),
    Code(
        "OLM-CATALOG",
        "The catalogue does not exist or is switched off, or it was not READY for the time of `grace`.",
        "Run `oc get catalogsource,pods -n openshift-marketplace`, or set `gpu_operator_source` or "
        "`node_feature_discovery_source` (module option `source`) to another catalogue.",
    ),
    Code(
        "OLM-CLUSTER-OPERATOR",
        "The operator is part of OpenShift, and its ClusterOperator does not exist or is not healthy.",
        "Run `oc describe clusteroperator NAME`; if it does not exist, enable its capability.",
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
        "The CSV failed. The message gives reason, message and unmet requirements.",
        "Run `oc describe csv NAME -n NAMESPACE`, correct the cause, then remove and install the operator "
        "again.",
    ),
    Code(
        "OLM-CSV-GONE",
        "Subscription {subscription} says that CSV {csv} is installed, but it was deleted.",
        "Set `state: absent`, then `state: present`; OLM does not install it again by itself. No pod "
        "ends, unless `remove_crds` is set.",
    ),
    Code(
        "OLM-CSV-HELD",
        "The CSV is still being deleted: a finalizer holds it. The message names the custom resources that "
        "OLM waits for.",
        "Run `oc get pods -n openshift-operator-lifecycle-manager` to check that OLM runs, then find out "
        "why the named objects stay.",
    ),
    Code(
        "OLM-CSV-PENDING",
        "The CSV did not succeed in time.",
        "Run `oc describe csv NAME -n NAMESPACE`.",
    ),
    Code(
        "OLM-DRIVER-CHANGE",
        "The upgrade of the GPU operator would change the driver of running nodes. The message gives both "
        "drivers, the nodes and the pods. Nothing was approved.",
        "Set `gpu_operator_driver_change`, or `gpu_upgrade_driver_change` for upgrade_operators.yml, to pin "
        "or allow.",
    ),
    Code(
        "OLM-DRIVER-PIN",
        "The running driver cannot be written into the ClusterPolicy: the collection did not make the "
        "policy, or the driver's image cannot be read.",
        "Set `spec.driver` in the ClusterPolicy to the driver that runs, or set `gpu_operator_adopt: take` "
        "for enable_gpus.yml.",
    ),
    Code(
        "OLM-FOREIGN-CSV",
        "The InstallPlan would also install a CSV that the task did not ask for. The message lists all of "
        "them. Nothing was approved.",
        "Set `gpu_operator_allow_csvs`, `node_feature_discovery_allow_csvs` or `gpu_upgrade_allow_csvs` "
        "(module option `allow_csvs`), or install the operator in a namespace that it has alone.",
    ),
    Code(
        "OLM-GROUP",
        "The namespace has two OperatorGroups, or one that targets other namespaces.",
        "Run `oc get operatorgroup -n NAMESPACE` and keep one that fits, or set `gpu_operator_namespace` or "
        "`node_feature_discovery_namespace` (module option `namespace`) to another one.",
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
        "The operator does not support that install mode.",
        "Set `install_mode` to the one that the message names.",
    ),
    Code(
        "OLM-NO-CHANNEL",
        "The package does not have that channel. The message lists all channels.",
        "Set `gpu_operator_channel` or `node_feature_discovery_channel` (module option `channel`) to one of "
        "them.",
    ),
    Code(
        "OLM-NO-CSV",
        "The channel does not have that CSV. The message lists all CSVs.",
        "Set `gpu_operator_csv` or `node_feature_discovery_csv` (module option `csv`) to one of them, or set "
        "another channel.",
    ),
    Code(
        "OLM-NO-PACKAGE",
        "No catalogue has the package. The message offers the nearest names.",
        "Correct the package name, or mirror the package; `oc get packagemanifests -n "
        "openshift-marketplace` lists what exists.",
    ),
    Code(
        "OLM-NO-PATH",
        "The channel leads past the CSV that the task asks for, or has no way from the installed CSV: it "
        "does not hold it, and its head does not skip it. The message says which.",
        "Set `gpu_operator_csv` (module option `csv`), `gpu_operator_channel` (module option `channel`) or "
        "`gpu_upgrade_operators` to what the remedy names.",
    ),
    Code(
        "OLM-NO-UPGRADE",
        "No InstallPlan leads from the installed CSV to the wanted one.",
        "Set `gpu_operator_channel` or `node_feature_discovery_channel` (module option `channel`) to one "
        "that has a path between the two.",
    ),
    Code(
        "OLM-NOT-INSTALLED",
        "The operator to upgrade has no Subscription, or its Subscription has installed nothing yet.",
        "Run `ansible-playbook playbooks/enable_gpus.yml` first, or take the operator out of "
        "`gpu_upgrade_operators`.",
    ),
    Code(
        "OLM-NOT-OURS",
        "A Subscription that the collection did not make differs from what the task asks for.",
        "Set `gpu_operator_adopt: take` or `node_feature_discovery_adopt: take` (module option `adopt`), or "
        "ask for what the Subscription has.",
    ),
    Code(
        "OLM-PENDING",
        "OLM made no InstallPlan in time.",
        "Run `oc logs -n openshift-operator-lifecycle-manager deployment/catalog-operator`.",
    ),
    Code(
        "OLM-PLAN-FAILED",
        "The InstallPlan failed. The message is its own text.",
        "Correct the cause, run `oc delete installplan NAME -n NAMESPACE`, then run again.",
    ),
    Code(
        "OLM-PLAN-PENDING",
        "The approved InstallPlan did not complete in time.",
        "Run `oc logs -n openshift-operator-lifecycle-manager deployment/catalog-operator`.",
    ),
    Code(
        "OLM-RESOLVE",
        "OLM cannot resolve the Subscription. The message is OLM's own text.",
        "Set `gpu_operator_channel` or `node_feature_discovery_channel` (module option `channel`), install "
        "the missing dependency, or delete the second OperatorGroup, as the text says.",
    ),
    Code(
        "OLM-SOURCES",
        "Several catalogues have the package. The message lists all of them.",
        "Set `gpu_operator_source` or `node_feature_discovery_source` (module option `source`) to one of "
        "them.",
    ),
    Code(
        "OLM-SUPPORT",
        "This release of the operator needs a newer release of OpenShift than the cluster runs.",
        "Set `gpu_operator_channel` or `gpu_operator_csv` (module options `channel`, `csv`) to a release of "
        "the operator that supports the cluster's release.",
    ),
    Code(
        "OLM-TWICE",
        "The package has two Subscriptions, or one in another namespace.",
        "Set `gpu_operator_namespace` or `node_feature_discovery_namespace` (module option `namespace`) to "
        "the one that the message names, or run `oc delete subscription NAME -n NAMESPACE` for the wrong "
        "one.",
    ),
    Code(
        "OLM-UNPACK",
        "OLM cannot unpack a bundle image. The message gives the image, the Job and what the node said.",
        "Correct the mirror or pull secret, run `oc delete job NAME -n openshift-marketplace`, then run "
        "again.",
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
        "Another version is installed than the CSV that the task asks for.",
        "Set `gpu_operator_approve: upgrade` or `node_feature_discovery_approve: upgrade` (module option "
        "`approve`) to get a newer version; to get an older one, remove the operator first. The removal "
        "of the GPU operator with its ClusterPolicy takes the drivers away: pods with GPUs end.",
    ),
)
