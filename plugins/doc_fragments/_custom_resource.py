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
      - An object of any operator, for O(backend=custom). Its expressions are JMESPath and are asked about the live object; one that is none is refused
        before the first request.
      - An object whose C(status.observedGeneration) is older than its C(metadata.generation) is not ready, whatever the expressions say.
      - The nodes of O(pools) have to offer what is expected as well.
    type: dict
    suboptions:
      definition:
        description: The whole object, with C(apiVersion), C(kind) and C(metadata.name). O(spec) is merged over its C(spec).
        type: dict
        required: true
      ready:
        description: Holds once the object is ready. It is required unless O(state=absent).
        type: str
      failed:
        description: Holds while the object has failed. When that lasts for longer than O(grace), the task fails.
        type: str
      says:
        description: Finds what the object says about its state; shown in failures and in the result.
        type: str
      expected:
        description: Resource to number per node, for pools that expect nothing of their own.
        type: dict
"""
