#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_pull_secret
short_description: Replace the pull secrets that the images of the GPU stack are pulled with
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Finds the Secrets that C(imagePullSecrets) of a ClusterPolicy, NVIDIADriver, GPUCluster or
    NicClusterPolicy, C(imageRepoSecret) of a Module, and the service accounts of their namespaces name.
  - Lets the cluster look up their images with the new content first, and replaces the Secrets only if no
    registry refuses it. For that look-up a Secret C(accelerators-pull-secret-check) exists for a moment.
  - Replaces the content in place. No pod ends. A pod that waits for its image tries again by itself.
  - Changes no Secret that another tool manages. Never changes the pull secret of the whole cluster.
  - Shows no login, neither the old nor the new one. The diff has the names of the registries.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._lock
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  path:
    description:
      - A file with the new content (C(.dockerconfigjson)), on the machine that runs the module.
      - Exactly one of O(path) and O(content) is needed.
    type: path
  content:
    description: The new content itself, as a map or as JSON text, for example from a vault.
    type: json
  names:
    description:
      - The Secrets to replace, each as C(NAME) or C(NAMESPACE/NAME). By default all that the GPU stack uses.
    type: list
    elements: str
    default: []
  drop:
    description:
      - Whether the new content may lack a registry that the old one has a login for. Without it the module
        fails with C(PULL-DROPS).
    type: bool
    default: false
  namespace:
    description: Namespace of the GPU operator.
    type: str
    default: nvidia-gpu-operator
  nic_namespace:
    description: Namespace of the NVIDIA network operator.
    type: str
    default: nvidia-network-operator
  validation_namespace:
    description: Namespace of the validation pods.
    type: str
    default: gpu-validation
"""

EXAMPLES = r"""
- name: Replace the login of every pull secret of the GPU stack
  accelerators.openshift.gpu_pull_secret:
    path: ~/new-login.json

- name: Replace one of several
  accelerators.openshift.gpu_pull_secret:
    content: "{{ vault_ngc_login }}"
    names: [nvidia-gpu-operator/ngc]
"""

RETURN = r"""
pull_secrets:
  description:
    - The pull secrets. C(action) is C(create), C(replace) or C(keep). C(dropped) are registries that only the
      old content had a login for.
    - C(fields) name the Secret; C(pods) and C(images) are pulled with it; C(waiting) are pods without their
      image. C(verified) are images that the new content can pull, C(unverified) those that nobody could look
      up, with the reason.
  returned: success
  type: list
  elements: dict
  sample:
    - namespace: nvidia-gpu-operator
      name: ngc
      action: replace
      registries: [nvcr.io]
      dropped: []
      fields: ["ClusterPolicy gpu-cluster-policy: spec.driver.imagePullSecrets"]
      pods: [nvidia-driver-daemonset-x7k2p]
      waiting: []
      images: ["nvcr.io/nvidia/driver:580.65.06-rhcos9.6"]
      verified: ["nvcr.io/nvidia/driver:580.65.06-rhcos9.6"]
      unverified: []
table:
  description: The same for people, some lines for each Secret.
  returned: success
  type: list
  elements: str
  sample: ["Secret nvidia-gpu-operator/ngc is replaced in place: nvcr.io"]
left_out:
  description:
    - What the lists of a large result lack. A result has at most 84 KiB, so that it fits into a job event of
      AWX. A list that is cut begins with what is not right.
    - One entry for each such list and each pool in it, with the C(number) of the entries that are missing,
      and the C(sums) of their numbers.
  returned: when a list was cut
  type: list
  elements: dict
  sample:
    - {list: table, pool: "", number: 380, sums: {}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.6
"""

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret.steps import ensure

SPEC = ArgumentSpec(
    options={
        "path": {"type": "path"},
        "content": {"type": "json", "no_log": True},
        "names": {"type": "list", "elements": "str", "default": []},
        "drop": {"type": "bool", "default": False},
        "namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "nic_namespace": {"type": "str", "default": "nvidia-network-operator"},
        "validation_namespace": {"type": "str", "default": "gpu-validation"},
    },
    mutually_exclusive=[("path", "content")],
    required_one_of=[("path", "content")],
).merge(AUTH, LOCK, WAIT)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
