# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes about claims, kernel modules and custom resources."""

from __future__ import annotations

import typing as t

from .code import Code

MODULES: t.Final = (
    Code(
        "GPU-CLAIM-BUSY",
        "Pods use a shared claim that has to go, because its pool no longer has it or wants other devices. "
        "The spec of a claim cannot change.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "GPU-CLAIM-FOREIGN",
        "A ResourceClaim with the name of a shared claim exists, and another client made it. Nothing was "
        "changed.",
        "Run `oc delete resourceclaim NAME -n NAMESPACE`, or rename the claim in `sharing.claims` of the "
        "pool.",
    ),
    Code(
        "GPU-CLAIM-NAMESPACE",
        "The namespace of a shared claim does not exist. Nothing was changed.",
        "Run `oc create namespace NAME`.",
    ),
    Code(
        "GPU-CLAIM-QUOTA",
        "A quota of the namespace allows fewer devices than a shared claim requests.",
        "Run `oc describe resourcequota -n NAMESPACE`, and raise the quota that it names.",
    ),
    Code(
        "GPU-CR-FAILED",
        "The object of backend custom reports failure (`custom.failed`) for longer than `grace`.",
        "Run `oc describe KIND NAME`; its events and conditions give the cause.",
    ),
    Code(
        "GPU-CR-NOTREADY",
        "The object of backend custom does not exist, does not meet `custom.ready`, or its operator has not "
        "seen the latest generation.",
        "Run `oc describe KIND NAME`.",
    ),
    Code(
        "GPU-DRA-BUSY",
        "Pods use devices through ResourceClaims. Without the DRA driver these pods could not end.",
        "Run `oc get resourceclaims -A`, and delete the pods that hold them first. That ends their work.",
    ),
    Code(
        "GPU-DRA-NOTREADY",
        "The GPUCluster does not exist or is not ready.",
        "Run `oc describe gpucluster gpu-cluster`.",
    ),
    Code(
        "GPU-DRA-RELEASE",
        "The cluster does not serve resource.k8s.io/v1.",
        "Update to OpenShift 4.21 or later with `oc adm upgrade`, or leave out `gpu_backend`.",
    ),
    Code(
        "GPU-DRA-SLICES",
        "The ResourceSlices of a node are incomplete, or offer other devices than expected, for longer than "
        "`grace`.",
        "Run `oc get resourceslices --field-selector spec.nodeName=NODE -o yaml`; `oc logs -n "
        "nvidia-gpu-operator POD --all-containers` shows the log of the node's DRA driver.",
    ),
    Code(
        "GPU-KMM-BUILD",
        "KMM cannot build the image of a Module for a node's kernel. The evidence has the log of the build.",
        "Correct the Dockerfile in `kmm.kernel_mappings`.",
    ),
    Code(
        "GPU-KMM-INUSE",
        "Pods hold the devices of a node that needs another version of its kernel module.",
        "End the pods, or run `oc adm cordon NODE` and move them; then run again.",
    ),
    Code(
        "GPU-KMM-KERNEL",
        "No kernel mapping matches the kernel of a node of the pools. The task checks this before it writes.",
        "Add a mapping for that kernel to `kmm.kernel_mappings`.",
    ),
    Code(
        "GPU-KMM-LOAD",
        "KMM's worker pod cannot load the kernel module on a node. The message quotes its log.",
        "Run `oc logs POD -n NAMESPACE` for the worker pod that the message names.",
    ),
    Code(
        "GPU-KMM-MISSING",
        "A Secret, ConfigMap or ServiceAccount that an option names does not exist. The task checks this "
        "before it writes.",
        "Create it first; for a ServiceAccount you can set `kmm.create_service_accounts: true`.",
    ),
    Code(
        "GPU-KMM-PENDING",
        "KMM has not loaded the kernel module on a node yet, or has not verified every Module.",
        "Run `oc logs -n openshift-kmm deployment/kmm-operator-controller`, and check the pods of the "
        "Module.",
    ),
    Code(
        "GPU-KMM-PLUGIN",
        "A Module's device plugin or DRA driver does not run on a node. The message quotes its log.",
        "Run `oc logs POD -n NAMESPACE` for the pod that the message names.",
    ),
    Code(
        "GPU-KMM-PREFLIGHT",
        "A Module would not load on the next kernel, or the Module to verify does not exist. The message "
        "quotes KMM.",
        "Add a mapping for that kernel to `kmm.kernel_mappings` and push its image before the update.",
    ),
    Code(
        "GPU-KMM-RECREATE",
        "A Module would get its first version, or lose it. KMM refuses both. The task checks this before it "
        "writes.",
        "Run `oc delete module NAME -n NAMESPACE`, which unloads the kernel module on every node, and the"
        " task again; or leave `kmm.version` as it was. Pods that use the module end.",
    ),
    Code(
        "GPU-KMM-SELECTOR",
        "A node of the pools lacks a label that the Module selects, for longer than `grace`.",
        "Change `kmm.selector`, or set the label with `oc label node NODE KEY=VALUE`. No pod ends.",
    ),
    Code(
        "GPU-KMM-SIGN",
        "KMM cannot sign the image of a Module. The message quotes the log.",
        "Put the private key in PEM into the Secret `key_secret`, and its certificate in DER into the "
        "Secret `cert_secret`.",
    ),
    Code(
        "GPU-KMM-VERSION",
        "A node's version label differs from the Module's version.",
        "Run the same task again, which updates one node after the other, or run `oc label node NODE "
        "KEY=VERSION --overwrite`. The label ends the pods with devices of the node.",
    ),
    Code(
        "GPU-SRO-ERRORED",
        "A SpecialResource is Errored for longer than `grace`. The message quotes its operator.",
        "Run `oc describe specialresource NAME`, or set `sro.migrate_to`.",
    ),
    Code(
        "GPU-SRO-NEEDS",
        "The backend that replaces a SpecialResource lacks its operator. Nothing was removed.",
        "Install that operator, for the GPU operator with `ansible-playbook playbooks/enable_gpus.yml -e "
        "@FILE`.",
    ),
    Code(
        "GPU-SRO-NOT-SERVED",
        "The cluster does not serve SpecialResources. The message says what they were and what replaces "
        "them.",
        "Set `backend` to kmm or clusterpolicy.",
    ),
    Code(
        "GPU-SRO-NOTREADY",
        "A SpecialResource does not exist or is not Ready yet.",
        "Run `oc describe specialresource NAME`, and check that its operator runs.",
    ),
)
