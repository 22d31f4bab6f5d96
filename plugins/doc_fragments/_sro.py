# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  sro:
    description:
      - A SpecialResource (v1beta1) of the Special Resource Operator, for O(backend=sro). The operator's last
        release was for OpenShift 4.11. If the cluster does not serve SpecialResources, the task fails and
        names the replacement.
      - Without C(chart) and C(migrate_to) the module reports the state and writes nothing.
    type: dict
    suboptions:
      special_resource:
        description:
          - Name of the SpecialResource, if O(name) names the object that replaces it. The default is O(name).
        type: str
      chart:
        description:
          - The Helm chart that the SpecialResource installs into O(namespace). With this option the module
            creates or updates the SpecialResource.
        type: dict
        suboptions:
          name:
            description: Name of the chart.
            type: str
            required: true
          version:
            description: Version of the chart.
            type: str
            required: true
          repository:
            description: The repository of the chart.
            type: dict
            required: true
            suboptions:
              name:
                description: Name of the repository.
                type: str
                required: true
              url:
                description: Address of the repository.
                type: str
                required: true
      set:
        description: Values of the chart.
        type: dict
      node_selector:
        description: Labels of the nodes.
        type: dict
      management_state:
        description: Whether the operator manages the SpecialResource.
        type: str
        choices: [Managed, Unmanaged, Force, Removed]
      migrate_to:
        description:
          - The backend that replaces the SpecialResource. Set that backend's own options too. The module
            reports what the SpecialResource runs and what the new backend needs. With C(remove) it deletes
            the SpecialResource, waits until its DaemonSets are gone, and then starts the new backend.
          - The next run resumes an interrupted one. Check mode shows the steps.
        type: str
        choices: [kmm, clusterpolicy]
      remove:
        description: Whether to remove a SpecialResource that this collection did not create.
        type: bool
        default: false
"""
