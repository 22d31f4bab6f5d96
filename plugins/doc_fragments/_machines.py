# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  labels:
    description: Additional labels of the nodes. The values are text.
    type: dict
    default: {}
  taints:
    description: Taints of the nodes, each with C(key), C(effect) and optionally C(value).
    type: list
    elements: dict
    default: []
  node_role:
    description:
      - Whether the nodes get the label C(node-role.kubernetes.io/gpu), which C(oc get nodes) shows as a role.
      - Set V(false) if a MachineConfigPool of the cluster selects nodes by this label.
    type: bool
    default: true
  accelerator:
    description:
      - Value of the label C(cluster-api/accelerator), by which the autoscaler counts GPU nodes. The default
        is C(nvidia-) and the GPU's model.
    type: str
  disk:
    description:
      - Root disk, with C(size_gib), C(type), and on AWS C(iops) and C(throughput_mib). The default is the
        worker set's disk, with at least 120 GiB.
    type: dict
    default: {}
  market:
    description:
      - V(on_demand), V(spot), V(capacity_block), or a mapping with C(type), C(max_price) and C(reservation).
      - On AWS C(reservation) is a capacity reservation or block (C(cr-...)), on Azure the id of a capacity
        reservation group. The Machine API cannot name a reservation of Google Cloud.
    type: raw
    default: on_demand
  image:
    description:
      - Image that new sets boot instead of the worker set's image. Required for an instance type of another
        architecture.
      - The id of an AMI on AWS, of an image or C(PUBLISHER:OFFER:SKU:VERSION) on Azure,
        C(projects/PROJECT/global/images/IMAGE) on Google Cloud.
    type: str
"""
