#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: image_mirrors
short_description: List the images that GPU pools need, and check that each resolves through the mirrors
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Lists every image that the pools need, with the reason and with who needs it. Those are images of the
    operators on their way, drivers by digest or by tag, the Driver Toolkit, and images of validations.
  - Returns them also as an C(ImageSetConfiguration) of oc-mirror v2, which brings them into a mirror.
  - Asks the cluster whether each image resolves with its mirror sets and pull secrets, by an
    C(ImageStreamImport) that imports nothing. It needs the right to C(create)
    C(imagestreamimports.image.openshift.io). No layer is pulled.
  - Where the cluster has no such API, or an older one that knows only C(ImageContentSourcePolicy), this
    machine asks the mirrors with the pull secrets and certificate authorities of the cluster. It has to be
    allowed to C(get) Secret C(openshift-config/pull-secret) and to C(list) Secrets in O(namespace).
  - An image is C(unchecked) where neither is possible. Writes nothing.
  - Checks what keeps nodes from a mirror - lists of registries, proxy, certificates, sets that serve only
    digests, a missing tag of the Driver Toolkit.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  operators:
    description:
      - The operators, as the option of this name of M(accelerators.openshift.olm_operator) has them. Of each
        entry count C(name), C(namespace), C(channel), C(csv), C(source) and C(source_namespace).
    type: list
    elements: dict
    default: []
  pools:
    description: The pools, C(plan.pools) of M(accelerators.openshift.gpu_plan).
    type: list
    elements: dict
    default: []
  validations:
    description: What validates them, C(plan.validations) of M(accelerators.openshift.gpu_plan).
    type: list
    elements: dict
    default: []
  driver:
    description:
      - The driver of all pools without their own, as M(accelerators.openshift.special_resource) has it.
    type: dict
    default: {}
  spec:
    description: The same, for O(accelerators.openshift.special_resource#module:spec).
    type: dict
    default: {}
  nic_cluster_policy:
    description: The same, for O(accelerators.openshift.special_resource#module:nic_cluster_policy).
    type: dict
    default: {}
  images:
    description: More images that the mirror should have, such as those of your workloads.
    type: list
    elements: str
    default: []
  console_image:
    description:
      - Image of the console plugin, as O(accelerators.openshift.gpu_monitoring#module:console_image) has it.
      - An empty text is the plugin's release for this OpenShift. Without the option no plugin is wanted.
    type: str
  image_set:
    description:
      - The C(ImageSetConfiguration) that you mirror with.
      - One that lacks a package, a release on the way, or an image, or that blocks an image, is refused with
        the path (C(MIRROR-FILE)).
    type: dict
  namespace:
    description:
      - Namespace of the GPU operator, whose pull secrets count. Before it exists only those of the whole
        cluster do.
    type: str
    default: nvidia-gpu-operator
  upgrades:
    description:
      - Whether the list has what an upgrade needs, to the head of the channel or to C(csv) of the entry.
    type: bool
    default: true
  mirrored_only:
    description:
      - Look only where images come from mirrors. That is a cluster with an C(ImageDigestMirrorSet),
        C(ImageTagMirrorSet) or C(ImageContentSourcePolicy), or with a disabled default catalogue. On any
        other cluster this costs four requests.
    type: bool
    default: false
  fail_on:
    description:
      - The mildest verdict that fails the task. The verdicts are V(ok), V(unknown), V(warning) and
        V(blocking), from mild to severe.
      - V(never) only reports.
    type: str
    choices: [blocking, warning, unknown, never]
    default: blocking
seealso:
  - module: accelerators.openshift.gpu_pull_secret
  - module: accelerators.openshift.preflight_update
"""

EXAMPLES = r"""
- name: List and check the images of the pools
  accelerators.openshift.image_mirrors:
    operators:
      - {name: gpu-operator-certified, namespace: nvidia-gpu-operator}
    pools: "{{ gpu_plan_result.plan.pools }}"
    validations: "{{ gpu_plan_result.plan.validations }}"
  register: gpu_images
"""

RETURN = r"""
mirrored:
  description: Whether the cluster has a mirror set, or a disabled default catalogue.
  returned: always
  type: bool
  sample: true
images:
  description:
    - Each image. C(asked) has the registries in the order in which a node asks them, C(answer) what they
      said. C(proof) says who asked - C(cluster) is the API server, C(controller) is this machine, whose way
      to the registry may differ from that of nodes, and C(none) is nobody. C(package) is the operator whose
      catalogue brings the image into a mirror.
  returned: always
  type: list
  elements: dict
  sample:
    - image: nvcr.io/nvidia/driver:580.95.05-rhel9
      why: driver, by the tag that gpu-operator-certified.v26.7.1 takes
      needed_by: [training]
      architectures: [amd64]
      package: ""
      asked: ["registry.example.com:8443/nvcr/nvidia/driver:580.95.05-rhel9"]
      answer: 404, not found
      proof: cluster
      digest: ""
      code: MIRROR-MISSING
image_table:
  description: The same as text.
  returned: always
  type: list
  elements: str
  sample: ["IMAGE  ANSWER  PROOF  FOR  WHY"]
unlisted:
  description: Releases on the way whose images only the catalogue names. RV(image_set) mirrors them.
  returned: always
  type: list
  elements: str
  sample: [gpu-operator-certified.v26.3.3]
image_set:
  description: The file for oc-mirror v2.
  returned: always
  type: dict
  sample: {kind: ImageSetConfiguration, apiVersion: mirror.openshift.io/v2alpha1, mirror: {}}
image_tag_mirror_set:
  description:
    - The C(ImageTagMirrorSet) that images with tags lack, or null. Whoever applies it drains every node of
      every MachineConfigPool.
  returned: always
  type: dict
  sample: null
checks:
  description: One entry for each check, as M(accelerators.openshift.preflight_update) returns them.
  returned: always
  type: list
  elements: dict
  sample: []
verdict:
  description: The most severe verdict.
  returned: always
  type: str
  sample: ok
table:
  description: The checks as text.
  returned: always
  type: list
  elements: str
  sample: ["CHECK   VERDICT  WHAT"]
left_out:
  description: What the lists of a large result lack, as M(accelerators.openshift.preflight_update) says it.
  returned: when a list was cut
  type: list
  elements: dict
  sample: []
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 1.2
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
    read,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors import steps

_MAPS: t.Final = {"type": "list", "elements": "dict", "default": []}
SPEC = ArgumentSpec(
    options={
        "operators": _MAPS,
        "pools": _MAPS,
        "validations": _MAPS,
        "driver": {"type": "dict", "default": {}},
        "spec": {"type": "dict", "default": {}},
        "nic_cluster_policy": {"type": "dict", "default": {}},
        "images": {"type": "list", "elements": "str", "default": []},
        "console_image": {"type": "str"},
        "image_set": {"type": "dict"},
        "namespace": {"type": "str", "default": "nvidia-gpu-operator"},
        "upgrades": {"type": "bool", "default": True},
        "mirrored_only": {"type": "bool", "default": False},
        "fail_on": {
            "type": "str",
            "choices": ["blocking", "warning", "unknown", "never"],
            "default": "blocking",
        },
    }
).merge(AUTH, WAIT)


def ensure(api: Api, params: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return steps.check(api, read(steps.ImageMirrorsParams, params))


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
