# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  custom:
    description:
      - An object of any operator, for O(backend=custom). Its JMESPath expressions are evaluated on the live
        object. An invalid expression fails the task before the first request.
      - An object whose C(status.observedGeneration) is older than its C(metadata.generation) is not ready,
        whatever the expressions say.
      - The nodes of O(pools) must also offer the expected devices.
    type: dict
    suboptions:
      definition:
        description:
          - The whole object, with C(apiVersion), C(kind) and C(metadata.name). The module merges O(spec) over
            its C(spec).
        type: dict
        required: true
      ready:
        description: An expression that is true once the object is ready. Required unless O(state=absent).
        type: str
      failed:
        description:
          - An expression that is true while the object has failed. When that lasts longer than O(grace), the
            task fails.
        type: str
      says:
        description: An expression for what the object says about its state. Failures and the result show it.
        type: str
      expected:
        description: Resource and number per node, for pools without an expectation of their own.
        type: dict
"""
