# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the repair of a node."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "REPAIR-BOOT",
        "The node was asked to reboot and is not back in time: it has the same boot id, or it is not Ready. "
        "It stays cordoned.",
        "Run `oc describe node NAME` and look at the console of its machine, then run again: the next run "
        "resumes the repair.",
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
        "There is no way to reboot the node: its machine has no BareMetalHost, or the node is not Ready and "
        "can start no pod. Nothing was changed.",
        "Set `gpu_reboot_with: pod` (module option `reboot_with`) to reboot it by a privileged pod, or "
        "`gpu_repair: replace`. Both end the pods on the node.",
    ),
    Code(
        "REPAIR-POD",
        "The privileged pod that would reboot the node is refused, or has no image. Nothing was changed.",
        "Grant the rights that [repair.md](repair.md#rights) lists, or set `gpu_reboot_image`, or set "
        "`gpu_repair: replace`. The repair ends the pods on the node.",
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
        "The node is back, and its device plugin is not Ready in time. It stays cordoned.",
        "Run `oc get pods -A --field-selector spec.nodeName=NAME`, then run again: the next run resumes the "
        "repair.",
    ),
    Code(
        "REPAIR-STAYS",
        "The node is as broken after the reboot: devices are missing, or the validation failed. It stays "
        "cordoned.",
        "Set `gpu_repair_replace: true` (module option `replace`), or have the hardware repaired and run "
        "again.",
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
        "The machine-config operator updates the node now, or the GPU operator replaces its driver. Nothing "
        "was changed.",
        "Wait until `oc get machineconfigpool` shows UPDATING False, and the node's upgrade state is "
        "upgrade-done; then run again.",
    ),
)
