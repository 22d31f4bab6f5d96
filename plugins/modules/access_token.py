#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: access_token
short_description: Write a file with a short token of a playbook's service account
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Asks the API server for a token of the service account that M(accelerators.openshift.access_grant) made,
    and writes it into a file that only its owner can read. The server binds the token to itself and to the
    account, and ends it after O(seconds).
  - The token is in that file and nowhere else. The result, the diff and the output do not have it.
  - Keeps a file whose token is valid for at least half of O(seconds), and asks for no new one then.
  - Replaces only a file that holds a token of the same account. Fails with C(INPUT-VALUE) for any other file.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  playbook:
    description: Name of the playbook whose service account gets the token.
    type: str
    required: true
  namespace:
    description: Namespace of the service accounts.
    type: str
    default: accelerators-openshift
  path:
    description: The file, on the machine that runs the module.
    type: path
    required: true
  seconds:
    description: How long the token is to be valid, from 600 to 86400. The server may choose a shorter time.
    type: int
    default: 3600
  format:
    description:
      - V(kubeconfig) writes a kubeconfig.
      - V(awx) writes the inputs of AWX's credential type C(OpenShift or Kubernetes API Bearer Token) as JSON.
    type: str
    choices: [kubeconfig, awx]
    default: kubeconfig
"""

EXAMPLES = r"""
- name: Write a kubeconfig that can resize pools for an hour
  accelerators.openshift.access_token:
    playbook: resize_pool
    path: ~/resize.kubeconfig
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /home/eva/resize.kubeconfig
account:
  description: The service account, as the API server knows it.
  returned: success
  type: str
  sample: system:serviceaccount:accelerators-openshift:accelerators-openshift-resize-pool
expires:
  description: When the token ends.
  returned: success, but not in check mode before the first token
  type: str
  sample: "2026-11-22T23:00:00+00:00"
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 0.1
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._access import token_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

SPEC = ArgumentSpec(
    options={
        "playbook": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "accelerators-openshift"},
        "path": {"type": "path", "required": True},
        "seconds": {"type": "int", "default": 3600},
        "format": {"type": "str", "choices": ["kubeconfig", "awx"], "default": "kubeconfig"},
    },
).merge(AUTH, WAIT)


def ensure(api: Api, params: token_steps.AccessTokenParams) -> dict[str, t.Any]:
    return token_steps.ensure(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
