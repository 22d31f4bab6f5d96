# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  nic_cluster_policy:
    description:
      - What O(backend=nicclusterpolicy) brings to nodes with NVIDIA network adapters. A component that is left out is not deployed.
      - Where a component's image is not given, the installed operator's own is taken and written out in full, as every release understands it.
      - Multus and the CNI plugins are OpenShift's own and are left out.
    type: dict
    suboptions:
      ofed_driver:
        description: The NIC driver (DOCA-OFED), in a container.
        type: dict
        suboptions:
          image: &image
            description: Name of its image.
            type: str
          repository: &repository
            description: Registry and path of its image.
            type: str
          version: &version
            description: Tag or digest of its image.
            type: str
          env:
            description: Environment variables, as in a container; for example C(UNLOAD_STORAGE_MODULES).
            type: list
            elements: dict
          force_precompiled:
            description: Whether to refuse to build where no precompiled image exists.
            type: bool
          cert_config:
            description: Name of the ConfigMap with certificates.
            type: str
          repo_config:
            description: Name of the ConfigMap with package repositories.
            type: str
          upgrade_policy:
            description: As in C(spec.ofedDriver.upgradePolicy); the operator's default does not upgrade by itself.
            type: dict
          startup_probe: &probe
            description: As in the API; C(initialDelaySeconds) and C(periodSeconds) are required there.
            type: dict
          liveness_probe: *probe
          readiness_probe: *probe
      rdma_shared_device_plugin:
        description: Shares an RDMA device among pods.
        type: dict
        suboptions:
          image: *image
          repository: *repository
          version: *version
          use_cdi: &use_cdi
            description: Whether devices are handed over by CDI.
            type: bool
          resources:
            description: What it offers; selectors that are left out match every NVIDIA adapter.
            type: list
            elements: dict
            suboptions:
              name: &resource_name
                description: Name of the resource after its prefix; letters, digits, underscores and dots.
                type: str
                required: true
              prefix:
                description: Prefix of the resource; V(rdma) without it.
                type: str
              vendors: &vendors
                description: PCI vendors; V(15b3) without it.
                type: list
                elements: str
              device_ids: &device_ids
                description: PCI device ids.
                type: list
                elements: str
              drivers: &drivers
                description: Kernel drivers of the interfaces.
                type: list
                elements: str
              hca_max:
                description: How many pods share one device.
                type: int
                default: 63
              if_names:
                description: Names of the interfaces.
                type: list
                elements: str
              link_types:
                description: For example V(infiniband) or V(ether).
                type: list
                elements: str
      sriov_device_plugin:
        description: Offers virtual functions that exist already.
        type: dict
        suboptions:
          image: *image
          repository: *repository
          version: *version
          use_cdi: *use_cdi
          resources:
            description: What it offers.
            type: list
            elements: dict
            suboptions:
              name: *resource_name
              prefix:
                description: Prefix of the resource; V(nvidia.com) without it.
                type: str
              vendors: *vendors
              device_ids: *device_ids
              drivers: *drivers
              pf_names:
                description: Names of the physical functions.
                type: list
                elements: str
              is_rdma:
                description: Whether only functions with RDMA count.
                type: bool
      nv_ipam:
        description: NVIDIA's IP address management.
        type: dict
        suboptions:
          image: *image
          repository: *repository
          version: *version
          enable_webhook:
            description: Whether its pools are validated by a webhook.
            type: bool
      nic_feature_discovery:
        description: Labels with the adapters' properties.
        type: dict
        suboptions:
          image: *image
          repository: *repository
          version: *version
      node_affinity:
        description: As in C(spec.nodeAffinity); which nodes get the components.
        type: dict
"""
