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
      - A Module of Kernel Module Management, for O(backend=kmm). O(name) is the name of the Module,
        O(namespace) the namespace of its pods. O(spec) is merged over the Module's C(spec).
      - Before the first write, every selected node must have a mapping for its kernel, and the Secrets,
        ConfigMaps and ServiceAccounts that you name must exist. The task reads only the metadata of Secrets.
      - The Module tolerates O(tolerations) and the taints of O(pools).
    type: dict
    suboptions:
      selector:
        description: Labels of the nodes. The default is what the selectors of all O(pools) have in common.
        type: dict
      module_name:
        description: Name of the kernel module, as for C(modprobe).
        type: str
      version:
        description:
          - Turns on ordered upgrades. A node loads the module when its label
            C(kmm.node.kubernetes.io/version-module.NAMESPACE.NAME) has this value.
          - Nodes without the label get it at once. Nodes with another version get it one after the other,
            each after the previous one is ready. A node whose devices pods hold ends the task.
        type: str
      parameters:
        description: Parameters of the kernel module.
        type: list
        elements: str
      firmware_path:
        description: Directory of the firmware in the image.
        type: str
      dir_name:
        description: Directory of C(lib/modules) in the image. The default is V(/opt).
        type: str
      modules_loading_order:
        description: Modules in the order in which KMM loads them.
        type: list
        elements: str
      in_tree_modules_to_remove:
        description: Modules of the kernel that KMM unloads first.
        type: list
        elements: str
      container_image:
        description: Image for mappings without an image. C(${KERNEL_FULL_VERSION}) is the node's kernel.
        type: str
      image_pull_policy:
        description: When nodes pull the image.
        type: str
        choices: [Always, IfNotPresent, Never]
      image_repo_secret:
        description: Secret with the registry's credentials.
        type: str
      registry_tls: &tls
        description: How the registry's certificate is checked.
        type: dict
        suboptions:
          insecure:
            description: Whether to use plain HTTP.
            type: bool
          insecure_skip_tls_verify:
            description: Whether to accept any certificate.
            type: bool
      kernel_mappings:
        description:
          - Mappings from kernels to images. KMM uses the first that fits. The task warns about a node that
            two mappings fit.
        type: list
        elements: dict
        suboptions:
          literal:
            description: One kernel. Set either this or C(regexp).
            type: str
          regexp:
            description:
              - A regular expression in Go's syntax, without look-around and back-references. It may match
                anywhere in the kernel's version.
            type: str
          container_image:
            description: The image for these kernels.
            type: str
          in_tree_modules_to_remove:
            description: As the option of the same name for all mappings.
            type: list
            elements: str
          build: &build
            description: A build in the cluster, if the image does not exist yet.
            type: dict
            suboptions:
              dockerfile:
                description:
                  - The Dockerfile. The module creates a ConfigMap for it, and deletes it with the Module.
                type: str
              dockerfile_config_map:
                description: An existing ConfigMap with the key C(dockerfile).
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
            description:
              - Signs the kernel modules, for nodes with Secure Boot. KMM signs an image only if none of that
                name exists yet.
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
                description:
                  - Paths or Bash patterns of the modules in the image, below O(kmm.dir_name). Required.
                type: list
                elements: str
              unsigned_image:
                description: The image whose modules KMM signs, if there is no C(build).
                type: str
              unsigned_image_registry_tls: *tls
          registry_tls: *tls
      build: *build
      sign: *sign
      service_account:
        description:
          - ServiceAccount of the pods that load the module. It must exist and must be allowed to run
            privileged pods.
        type: str
      create_service_accounts:
        description:
          - Whether to create the named ServiceAccounts and bind them to the privileged security context. They
            are deleted with the Module.
        type: bool
        default: false
      device_plugin:
        description: A device plugin for the nodes that have loaded the module.
        type: dict
        suboptions: &plugin
          image:
            description: Image of its container.
            type: str
            required: true
          args:
            description: Arguments of its container.
            type: list
            elements: str
          command:
            description: Command of its container.
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
            description: ServiceAccount of its pods.
            type: str
      dra:
        description:
          - A driver for dynamic resource allocation instead of the device plugin. It needs KMM 2.7 and
            OpenShift 4.21.
          - O(pools) may expect a number of devices under the driver's name. Otherwise each node must offer
            one.
        type: dict
        suboptions:
          <<: *plugin
          driver_name:
            description: Name of the driver, as in ResourceSlices.
            type: str
            required: true
          device_classes:
            description: DeviceClasses that KMM creates.
            type: list
            elements: dict
      preflight:
        description:
          - Makes KMM verify all Modules, or the one of O(name), against a new kernel before a cluster update.
            Without other options of O(kmm) it changes no Module.
          - The next run verifies again what failed. O(state=absent) deletes the object of the check.
        type: dict
        suboptions:
          kernel_version:
            description: The kernel of the new release.
            type: str
            required: true
          dtk_image:
            description: Driver Toolkit of that release. Red Hat's KMM builds with it.
            type: str
          push_built_image:
            description: Whether to push the images that KMM builds for the check.
            type: bool
"""
