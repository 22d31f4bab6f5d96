# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  kmm:
    description:
      - A Module of Kernel Module Management, for O(backend=kmm). O(name) is the Module's, O(namespace) where its pods run, O(spec) is merged over its C(spec).
      - Before anything is written, every node that is selected now has to have a mapping for its kernel; Secrets, ConfigMaps and ServiceAccounts that are
        named have to exist. Of Secrets only the metadata is read.
      - The Module tolerates O(tolerations) and the taints of O(pools).
    type: dict
    suboptions:
      selector:
        description: Labels of the nodes. By default what the selectors of all O(pools) share.
        type: dict
      module_name:
        description: Name of the kernel module, as C(modprobe) gets it.
        type: str
      version:
        description:
          - Turns on ordered upgrades. A node loads the module when its label C(kmm.node.kubernetes.io/version-module.NAMESPACE.NAME) has this value.
          - Nodes without the label get it at once. Those with another version get it one after the other, each after the one before it is ready; a node
            whose devices pods hold ends the task.
        type: str
      parameters:
        description: Parameters of the kernel module.
        type: list
        elements: str
      firmware_path:
        description: Where the image has firmware.
        type: str
      dir_name:
        description: Where the image has C(lib/modules); V(/opt) when left out.
        type: str
      modules_loading_order:
        description: Modules in the order in which they are loaded.
        type: list
        elements: str
      in_tree_modules_to_remove:
        description: Modules of the kernel that are unloaded before.
        type: list
        elements: str
      container_image:
        description: Image for mappings that have none; C(${KERNEL_FULL_VERSION}) is the node's kernel.
        type: str
      image_pull_policy:
        description: When the image is pulled.
        type: str
        choices: [Always, IfNotPresent, Never]
      image_repo_secret:
        description: Secret with the registry's credentials.
        type: str
      registry_tls: &tls
        description: How far the registry's certificate is trusted.
        type: dict
        suboptions:
          insecure:
            description: Whether plain HTTP is used.
            type: bool
          insecure_skip_tls_verify:
            description: Whether any certificate is taken.
            type: bool
      kernel_mappings:
        description: From kernels to images. KMM takes the first that fits; a node that two fit is warned of.
        type: list
        elements: dict
        suboptions:
          literal:
            description: One kernel. Either this or a regular expression.
            type: str
          regexp:
            description: A regular expression in Go's syntax, without look-around and back-references. It may fit anywhere in the kernel's version.
            type: str
          container_image:
            description: The image for these kernels.
            type: str
          in_tree_modules_to_remove:
            description: As for all mappings.
            type: list
            elements: str
          build: &build
            description: A build in the cluster, when the image does not exist yet.
            type: dict
            suboptions:
              dockerfile:
                description: The Dockerfile. A ConfigMap is made for it, and goes with the Module.
                type: str
              dockerfile_config_map:
                description: A ConfigMap that exists, with key C(dockerfile).
                type: str
              build_args:
                description: Build arguments.
                type: dict
              secrets:
                description: Secrets that the build mounts.
                type: list
                elements: str
              base_image_registry_tls: *tls
          sign: &sign
            description: Signs the kernel modules, for nodes with Secure Boot. KMM signs an image only when there is none of that name yet.
            type: dict
            suboptions:
              key_secret:
                description: Secret with the private key in PEM, under C(key).
                type: str
                required: true
              cert_secret:
                description: Secret with the certificate in DER, under C(cert).
                type: str
                required: true
              files_to_sign:
                description: Paths of the modules in the image, or patterns of Bash for them, below O(kmm.dir_name). They have to be given.
                type: list
                elements: str
              unsigned_image:
                description: The image whose modules are signed, without a build.
                type: str
              unsigned_image_registry_tls: *tls
          registry_tls: *tls
      build: *build
      sign: *sign
      service_account:
        description: ServiceAccount of the pods that load the module. It has to exist and be allowed to run privileged pods.
        type: str
      create_service_accounts:
        description: Whether the ServiceAccounts that are named are made and bound to the privileged security context; they go with the Module.
        type: bool
        default: false
      device_plugin:
        description: A device plugin for the nodes on which the module is loaded.
        type: dict
        suboptions: &plugin
          image:
            description: Its image.
            type: str
            required: true
          args:
            description: Its arguments.
            type: list
            elements: str
          command:
            description: Its command.
            type: list
            elements: str
          env:
            description: Environment variables, as in a container.
            type: list
            elements: dict
          volumes:
            description: Volumes, as in a pod.
            type: list
            elements: dict
          volume_mounts:
            description: Mounts, as in a container.
            type: list
            elements: dict
          service_account:
            description: Its ServiceAccount.
            type: str
      dra:
        description:
          - A driver for dynamic resource allocation instead of the device plugin. It needs KMM 2.7 and OpenShift 4.21.
          - O(pools) may expect a number of devices by the driver's name; otherwise each node has to offer one.
        type: dict
        suboptions:
          <<: *plugin
          driver_name:
            description: Its name, as ResourceSlices have it.
            type: str
            required: true
          device_classes:
            description: DeviceClasses that KMM makes.
            type: list
            elements: dict
      preflight:
        description:
          - Has KMM verify all Modules, or the one of O(name), against a kernel to come, before the cluster is updated. Alone, it touches no Module.
          - What failed is verified anew in the next run. With O(state=absent) the check's object is removed.
        type: dict
        suboptions:
          kernel_version:
            description: The kernel of the release to come.
            type: str
            required: true
          dtk_image:
            description: Driver Toolkit of that release; Red Hat's KMM builds with it.
            type: str
          push_built_image:
            description: Whether images that are built for the check are pushed.
            type: bool
"""
