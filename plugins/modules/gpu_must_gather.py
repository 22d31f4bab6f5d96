#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_must_gather
short_description: Write what support asks for about GPUs into a folder or a tar file, without secrets
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Writes objects, events and logs of the GPU stack, of Node Feature Discovery, of OLM, of machines, quotas
    and queues, and a page C(summary.txt) with the diagnosis of M(accelerators.openshift.gpu_diagnose).
  - Changes nothing on the cluster, and runs nothing in its pods. Works where operators are missing or broken.
  - Reads no Secret, and masks what looks like a token, a password, a key or a certificate. C(index.json)
    lists what was cut and what could not be read.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  path:
    description:
      - A folder, or a file whose name ends with C(.tar.gz), on the machine that runs the module. Only its
        owner can read it. An earlier bundle is replaced; anything else that is there is an error.
    type: path
    required: true
  pools:
    description: As of M(accelerators.openshift.gpu_diagnose).
    type: list
    elements: dict
  namespace:
    description: Namespace of the GPU operator, if it is not C(nvidia-gpu-operator).
    type: str
  serials:
    description: Whether to keep serial numbers and UUIDs of GPUs. An RMA needs them.
    type: str
    choices: [keep, mask]
    default: mask
  max_size_mib:
    description: The most MiB of all files together. A file has at most 2 MiB.
    type: int
    default: 50
  log_lines:
    description: The most lines of each log, which has at most 256 KiB.
    type: int
    default: 1000
  since_hours:
    description: Read only the logs of so many hours. The default is all.
    type: int
seealso:
  - module: accelerators.openshift.gpu_diagnose
"""

EXAMPLES = r"""
- name: Make a bundle for support
  accelerators.openshift.gpu_must_gather:
    path: gpu-bundle.tar.gz
"""

RETURN = r"""
path:
  description: The folder or file.
  returned: success
  type: str
  sample: /home/me/gpu-bundle.tar.gz
unread:
  description: What could not be read, and why.
  returned: success
  type: list
  elements: str
  sample: ["events openshift-nfd: API-FORBIDDEN: ..."]
summary:
  description: The lines of C(summary.txt).
  returned: success
  type: list
  elements: str
  sample: ["Nothing is wrong on 4 GPU nodes."]
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 4.1
"""

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._gather.steps import ensure

SPEC = ArgumentSpec(
    options={
        "path": {"type": "path", "required": True},
        "pools": {"type": "list", "elements": "dict"},
        "namespace": {"type": "str"},
        "serials": {"type": "str", "choices": ["keep", "mask"], "default": "mask"},
        "max_size_mib": {"type": "int", "default": 50},
        "log_lines": {"type": "int", "default": 1000},
        "since_hours": {"type": "int"},
    }
).merge(AUTH, WAIT)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
