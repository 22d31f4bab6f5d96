#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: manifests
short_description: Apply any number of plain objects in one task
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Compares every object with the live object, and writes only objects that differ, by server-side apply.
  - Applies Namespaces and CustomResourceDefinitions first, then objects that others refer to, then the rest.
    O(state=absent) deletes in reverse order.
  - Checks every object before the first request, and names a wrong one by its path, for example
    C(objects[2].metadata.name).
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  objects:
    description:
      - The objects, as a list of mappings, as YAML text with one or several documents, or as a list of such
        texts.
      - The module splits objects of kind C(List) into their items.
      - Before ansible-core 2.19 a template becomes text, unless it makes a whole list or mapping. There, a
        template cannot set a number or a boolean inside an object. Make the whole list with one template.
    type: raw
    required: true
  namespace:
    description: Namespace for namespaced objects that name no namespace.
    type: str
  force_conflicts:
    description:
      - Whether to take over fields that another field manager owns. Otherwise the task fails and names the
        manager.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Create two priority classes
  accelerators.openshift.manifests:
    objects:
      - apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: training-high}
        value: 100000
      - apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: training-low}
        value: 1000
        preemptionPolicy: Never

- name: Apply a file
  accelerators.openshift.manifests:
    namespace: team-a
    objects: "{{ lookup('ansible.builtin.file', 'objects.yml') }}"

- name: Delete the objects of the file
  accelerators.openshift.manifests:
    namespace: team-a
    objects: "{{ lookup('ansible.builtin.file', 'objects.yml') }}"
    state: absent
"""

RETURN = r"""
objects:
  description: What the task did with each object, in order.
  returned: success
  type: list
  elements: dict
  sample:
    - api_version: scheduling.k8s.io/v1
      kind: PriorityClass
      name: training-high
      namespace: null
      changed: true
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.1
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame import manifest_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.manifest_steps import (
    ManifestsParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

SPEC = ArgumentSpec(
    options={
        "objects": {"type": "raw", "required": True},
        "namespace": {"type": "str"},
        "force_conflicts": {"type": "bool", "default": False},
    },
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: ManifestsParams) -> dict[str, t.Any]:
    namespace = params["namespace"]
    entries = manifest_steps.read(params["objects"], namespace)
    if params["state"] == "absent":
        return {"objects": manifest_steps.remove(api, entries, namespace)}
    return {"objects": manifest_steps.apply(api, entries, namespace, params["force_conflicts"])}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
