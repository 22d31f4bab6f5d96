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
      - The components that O(backend=nicclusterpolicy) deploys on nodes with NVIDIA network adapters. It does
        not deploy a component that is missing here.
      - Where you name no image for a component, the module writes the image of the installed operator in
        full, because every release understands that.
      - Multus and the CNI plugins are missing here, because OpenShift has its own.
    type: dict
    suboptions:
      global:
        description:
          - Where the components get their images that name no repository or version of their own. It needs
            release 26.4 of the operator or a later one.
        type: dict
        suboptions:
          repository:
            description: Registry and path of the images.
            type: str
          version:
            description:
              - Tag of the components' images. The NIC driver has other tags and does not take it; without
                C(ofed_driver.version) it has the version that the installed operator names.
            type: str
          image_pull_secrets:
            description: Names of the Secrets that pull the images.
            type: list
            elements: str
      ofed_driver:
        description: The NIC driver (DOCA-OFED), in a container.
        type: dict
        suboptions:
          image: &image
            description: Name of the image.
            type: str
          repository: &repository
            description: Registry and path of the image.
            type: str
          version: &version
            description: Tag or digest of the image.
            type: str
          env:
            description: Environment variables, as in a container, for example C(UNLOAD_STORAGE_MODULES).
            type: list
            elements: dict
          force_precompiled:
            description: Whether to use only precompiled images, and never build the driver on the node.
            type: bool
          cert_config:
            description: Name of the ConfigMap with certificates.
            type: str
          repo_config:
            description: Name of the ConfigMap with package repositories.
            type: str
          upgrade_policy:
            description:
              - As in C(spec.ofedDriver.upgradePolicy). By default the operator does not upgrade
                automatically, and its drain ends no pods without a controller and none with data in an
                emptyDir (C(drain.force) and C(drain.deleteEmptyDir) are false, unlike in the operator's
                sample).
            type: dict
          startup_probe: &probe
            description: As in the API, which requires C(initialDelaySeconds) and C(periodSeconds).
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
            description: Whether containers get the devices by CDI.
            type: bool
          resources:
            description:
              - Resources that the plugin offers. A resource without selectors matches every NVIDIA adapter.
            type: list
            elements: dict
            suboptions:
              name: &resource_name
                description: Name of the resource without its prefix; letters, digits, underscores and dots.
                type: str
                required: true
              prefix:
                description: Prefix of the resource. The default is V(rdma).
                type: str
              vendors: &vendors
                description: PCI vendors. The default is V(15b3).
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
                description: The number of pods that share one device.
                type: int
                default: 63
              if_names:
                description: Names of the interfaces.
                type: list
                elements: str
              link_types:
                description: Types of the link, for example V(infiniband) or V(ether).
                type: list
                elements: str
      sriov_device_plugin:
        description: Offers existing virtual functions.
        type: dict
        suboptions:
          image: *image
          repository: *repository
          version: *version
          use_cdi: *use_cdi
          resources:
            description: Resources that the plugin offers.
            type: list
            elements: dict
            suboptions:
              name: *resource_name
              prefix:
                description: Prefix of the resource. The default is V(nvidia.com).
                type: str
              vendors: *vendors
              device_ids: *device_ids
              drivers: *drivers
              pf_names:
                description: Names of the physical functions.
                type: list
                elements: str
              is_rdma:
                description: Whether to offer only functions with RDMA.
                type: bool
      nv_ipam:
        description: NVIDIA's IP address management.
        type: dict
        suboptions:
          image: *image
          repository: *repository
          version: *version
          enable_webhook:
            description: Whether a webhook validates its IP pools.
            type: bool
      nic_feature_discovery:
        description: Labels nodes with the properties of their adapters.
        type: dict
        suboptions:
          image: *image
          repository: *repository
          version: *version
      node_affinity:
        description: Which nodes get the components, as in C(spec.nodeAffinity).
        type: dict
  node_traffic:
    description:
      - What the task does before O(backend=nicclusterpolicy) brings, changes or removes a NIC driver, if a
        node itself sends through an NVIDIA adapter. The adapter is away while the driver is replaced.
      - V(refuse) changes nothing and names node, adapter and use, such as the default route, a bridge or an
        address of the node. V(accept) goes on. Without this option the task refuses.
      - The task sees what nmstate and the SR-IOV operator show of the nodes. It warns if they do not show
        all.
    type: str
    choices: [refuse, accept]
"""
