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
      - A SpecialResource (v1beta1) of the Special Resource Operator, for O(backend=sro). Its last release was for OpenShift 4.11; where the cluster does not
        serve it, the task says what takes its place.
      - Without C(chart) and C(migrate_to) its state is reported and nothing is written.
    type: dict
    suboptions:
      special_resource:
        description: Its name, when O(name) is that of the object which takes its place. By default O(name).
        type: str
      chart:
        description: The Helm chart that it installs into O(namespace); with this it is made or kept.
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
            description: Where the chart is.
            type: dict
            required: true
            suboptions:
              name:
                description: Name of the repository.
                type: str
                required: true
              url:
                description: Its address.
                type: str
                required: true
      set:
        description: Values for the chart.
        type: dict
      node_selector:
        description: Labels of the nodes.
        type: dict
      management_state:
        description: Whether the operator looks after it.
        type: str
        choices: [Managed, Unmanaged, Force, Removed]
      migrate_to:
        description:
          - The backend that takes its place, with that backend's own options beside it. What it runs and what the new backend needs is reported; with
            C(remove) it is removed, the task waits until its DaemonSets are gone, and then the new backend begins.
          - A run that was interrupted is gone on with by the next one. Check mode shows the steps.
        type: str
        choices: [kmm, clusterpolicy]
      remove:
        description: Whether a SpecialResource that this collection did not make may be removed.
        type: bool
        default: false
"""
