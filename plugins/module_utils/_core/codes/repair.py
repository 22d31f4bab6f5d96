# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the repair of a node."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "REPAIR-BOOT",
        "node {node} is not back after the reboot: {why}",
        "Run `oc describe node {node}` and look at the console of its machine, then run again: the next run "
        "resumes the repair. Until then the node stays cordoned.",
    ),
    Code(
        "REPAIR-DRIVER",
        "The GPU operator replaces the driver of node {node} now ({state}), and its GPUs are away meanwhile. "
        "Nothing was changed.",
        "Run `oc get node {node} -L {label}` until it shows upgrade-done, then run again.",
    ),
    Code(
        "REPAIR-NO-GPUS",
        "Node {node} has no GPU that the cluster knows of. Nothing was changed.",
        "Set `gpu_node` (module option `name`) to a name that `oc get nodes -l "
        "nvidia.com/gpu.present=true` lists.",
    ),
    Code(
        "REPAIR-NO-NODE",
        "Machine {machine} has no node, so there is nothing to repair. Nothing was changed.",
        "Run `ansible-playbook playbooks/replace_node.yml -e gpu_node={machine}`.",
    ),
    Code(
        "REPAIR-NO-REBOOT",
        "Node {node} needs a repair ({faults}), and is not rebooted: {why}. Nothing was changed.",
        "{also}To reboot it as `oc debug node/{node}` would, set `gpu_repair_reboot_with: pod` (module "
        "option `reboot_with`), which runs a privileged pod on the node; or set `gpu_repair: replace`. Both "
        "end the pods on the node.",
    ),
    Code(
        "REPAIR-NOT-READY",
        "Node {node} is {why}: no pod can start there, so none can reboot it. Nothing was changed.",
        "Reboot the machine in its provider's console and run again; or set `gpu_repair: replace`. Both end "
        "the pods on the node.",
    ),
    Code(
        "REPAIR-NO-IMAGE",
        "No machine-config daemon, whose image the pod would use, runs on {node}. Nothing was changed.",
        "Set `gpu_repair_reboot_image` (module option `reboot_image`) to an image that has /bin/sh and "
        "chroot.",
    ),
    Code(
        "REPAIR-POD",
        "The API server refuses the privileged pod that would reboot {node}: {answer} Nothing was changed.",
        "Let an administrator run the playbook, or grant the rights that docs/repair.md lists; or set "
        "`gpu_repair: replace`. Both end the pods on the node.",
    ),
    Code(
        "REPAIR-RESET",
        "repair: OpenShift and the GPU operator have no supported way to reset a GPU: nvidia-smi refuses "
        "it while the operator's own pods hold the GPU. Nothing was changed.",
        "Set `gpu_repair: reboot` (module option `repair`); a reboot resets every GPU of the node, and "
        "its pods end.",
    ),
    Code(
        "REPAIR-STACK",
        "node {node} is back without a Ready device plugin: {faults}",
        "Run `oc get pods -A --field-selector spec.nodeName={node}`, then run again: the next run resumes "
        "the repair. Until then the node stays cordoned.",
    ),
    Code(
        "REPAIR-STAYS",
        "node {node} is as broken after the reboot: {faults}",
        "Set `gpu_repair_replace: true` (module option `replace`) to have its machine replaced; or have the "
        "hardware repaired, and run again. Until then the node stays cordoned.",
    ),
    Code(
        "REPAIR-UNCLEAR",
        "Node {node}: {faults}, and no device plugin is Ready there. Nothing names a broken GPU, so the "
        "driver stack may be the cause. Nothing was changed.",
        "Run `ansible-playbook playbooks/diagnose.yml -e @FILE`; or set `gpu_repair: reboot` (module "
        "option `repair`) to reboot the node all the same, which ends its pods.",
    ),
    Code(
        "REPAIR-UPDATE",
        "The machine-config operator updates node {node} now ({state}), and reboots it itself. Nothing was "
        "changed.",
        "Wait until `oc get machineconfigpool` shows UPDATING False, then run again.",
    ),
)
