# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  toolkit:
    description: The container toolkit.
    type: dict
    suboptions: &component
      enabled:
        description: Whether the operator runs it.
        type: bool
      repository:
        description: Registry and path of its image.
        type: str
      image:
        description: Name of its image.
        type: str
      version:
        description: Tag or digest of its image.
        type: str
      env:
        description: Environment variables, as in a container.
        type: list
        elements: dict
      resources:
        description: Requests and limits, as in a container.
        type: dict
  driver:
    description: The driver. Version, repository and image are given together or not at all.
    type: dict
    suboptions:
      <<: *component
      kernel_module_type:
        description: Flavour of the kernel modules.
        type: str
        choices: [auto, open, proprietary]
      use_precompiled:
        description: Whether to use drivers that were compiled beforehand.
        type: bool
      rdma:
        description: GPUDirect RDMA by C(nvidia-peermem).
        type: dict
        suboptions:
          enabled:
            description: Whether to load C(nvidia-peermem).
            type: bool
          use_host_mofed:
            description: Whether the NIC driver comes from the host.
            type: bool
      upgrade_policy:
        description: As in C(spec.driver.upgradePolicy).
        type: dict
  device_plugin:
    description: The device plugin.
    type: dict
    suboptions:
      <<: *component
      config:
        description: ConfigMap with its configurations.
        type: dict
        suboptions:
          name:
            description: Name of the ConfigMap in O(namespace).
            type: str
          default:
            description: Key for nodes without a label of their own.
            type: str
  dcgm:
    description: The Data Center GPU Manager.
    type: dict
    suboptions: *component
  dcgm_exporter:
    description: The exporter of metrics.
    type: dict
    suboptions:
      <<: *component
      config:
        description: ConfigMap with the list of metrics.
        type: dict
        suboptions:
          name:
            description: Name of the ConfigMap in O(namespace).
            type: str
      service_monitor:
        description: The ServiceMonitor of the exporter.
        type: dict
        suboptions:
          enabled:
            description: Whether there is one.
            type: bool
  gfd:
    description: GPU feature discovery.
    type: dict
    suboptions: *component
  mig:
    description: Partitioning of GPUs.
    type: dict
    suboptions:
      strategy:
        description: How partitions are offered.
        type: str
        choices: [none, single, mixed]
  mig_manager:
    description: The MIG manager.
    type: dict
    suboptions:
      <<: *component
      config:
        description: ConfigMap with the geometries.
        type: dict
        suboptions:
          name:
            description: Name of the ConfigMap in O(namespace).
            type: str
          default:
            description: Geometry of nodes without a label of their own.
            type: str
  node_status_exporter:
    description: The exporter of the validations' outcome.
    type: dict
    suboptions: *component
  cdi:
    description: The container device interface.
    type: dict
    suboptions:
      enabled:
        description: Whether it is used.
        type: bool
      default:
        description: Whether it is the default way.
        type: bool
  gds:
    description: GPUDirect Storage.
    type: dict
    suboptions: &switch
      enabled:
        description: Whether the operator runs it.
        type: bool
  gdrcopy:
    description: The GDRCopy driver.
    type: dict
    suboptions: *switch
"""
