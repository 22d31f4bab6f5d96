# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Error codes about drift, and about the checks before an update."""

from __future__ import annotations

import typing as t

from .code import Code

DRIFT: t.Final = (
    Code(
        "DRIFT-FOUND",
        "The cluster differs from `gpu_pools`: an object is missing, differs, or is no longer listed.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE`, or the commands below the table.",
    ),
    Code(
        "DRIFT-UNKNOWN",
        "A step of drift.yml failed before it could compare, and no other step found a difference.",
        "Mend what the step's own code says, then run `ansible-playbook playbooks/drift.yml -e @FILE` again.",
    ),
)
UPDATE: t.Final = (
    Code(
        "UPDATE-BUDGET",
        "A PodDisruptionBudget allows no eviction, so a node cannot be drained.",
        "Run `oc get pdb -A`; give the application one more replica, or its budget maxUnavailable: 1.",
    ),
    Code(
        "UPDATE-CLUSTER",
        "The cluster has no ClusterVersion, an update is running or failing, an operator blocks the update, "
        "or an operator is degraded.",
        "Run `oc adm upgrade` and `oc get clusteroperators`.",
    ),
    Code(
        "UPDATE-DRIVER",
        "The new kernel has no driver or no driver image, the image is not known, or today's driver does "
        "not fit its kernel.",
        "Build and push the image that the message names; set `gpu_update_kernel`, `gpu_update_rhcos` or "
        "`gpu_update_driver_images` so that the checks know more.",
    ),
    Code(
        "UPDATE-KMM",
        "No kernel mapping of a Module matches the new kernel, its image is missing, its validation "
        "failed, or it was not verified yet.",
        "Add a mapping to `kmm.kernel_mappings`, and set `kmm.preflight` to verify it.",
    ),
    Code(
        "UPDATE-NODE",
        "A GPU node is cordoned, or its driver or configuration is changing.",
        "Run `oc get nodes -L nvidia.com/gpu-driver-upgrade-state`, and let the change finish first.",
    ),
    Code(
        "UPDATE-OPERATOR",
        "An operator does not support the release, is not installed properly, or does not say which "
        "releases it supports.",
        "Run `oc get csv -A` and `oc get packagemanifest NAME`; update or repair the operator first.",
    ),
    Code(
        "UPDATE-PODS",
        "Pods on GPU nodes end with the drain, and some have no controller that makes them again.",
        "Run `oc get pods -A --field-selector spec.nodeName=NODE`; let jobs end and pause their queue.",
    ),
    Code(
        "UPDATE-POOL",
        "A MachineConfigPool is paused, degraded or updating.",
        "Run `oc describe machineconfigpool NAME`; then unpause or repair it, or wait.",
    ),
    Code(
        "UPDATE-RELEASE",
        "The release is older than the cluster's, is not offered or not recommended, or the cluster "
        "does not say.",
        "Run `oc adm upgrade`, and choose another release or `oc adm upgrade channel NAME`.",
    ),
)
