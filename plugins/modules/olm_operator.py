#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: olm_operator
short_description: Install an operator through the Operator Lifecycle Manager, one approved InstallPlan at a time
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Makes the Namespace, the OperatorGroup and a Subscription with manual approval, approves exactly the InstallPlan that was asked for,
    and waits until the ClusterServiceVersion (CSV) has succeeded.
  - An InstallPlan is approved only when the Subscription points to it, it requires approval, and every CSV in it was asked for.
  - A pending upgrade is reported and left alone, unless O(approve=upgrade).
  - With O(state=absent) the Subscription that this collection made goes, and with it its CSV, OperatorGroup and Namespace, the latter two when
    they are ours and nothing else is in them. CustomResourceDefinitions stay, unless O(remove_crds=true).
  - What would be in the way is found before anything is written - a package that OLM v1 (a ClusterExtension) owns, an OperatorGroup that does not
    suit, several catalogues with the same package.
  - An operator that is part of OpenShift (node tuning) is looked at and not installed. A cluster without OLM is refused; for the GPU operator with the
    values for its Helm chart.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - kubernetes.core.k8s_auth_options
options:
  name:
    description: Name of the package, as C(oc get packagemanifests) lists it.
    type: str
    required: true
  namespace:
    description: Namespace of the operator.
    type: str
    required: true
  namespace_labels:
    description: Labels of the Namespace, for example C(openshift.io/cluster-monitoring).
    type: dict
    default: {}
  channel:
    description: Channel to follow. The default is the channel of the Subscription that exists, else the package's default channel.
    type: str
  csv:
    description: Exactly this CSV, for example V(nfd.v4.22.0-202607141007). The default is the head of the channel.
    type: str
  source:
    description: CatalogSource to take the package from. The default is the one that offers it; where several do, one has to be named.
    type: str
  source_namespace:
    description: Namespace of the CatalogSource.
    type: str
    default: openshift-marketplace
  install_mode:
    description: Whether the operator watches its own namespace or all. The default is the narrowest that it supports.
    type: str
    choices: [OwnNamespace, AllNamespaces]
  approve:
    description:
      - V(install) approves the first installation only. V(upgrade) also approves upgrades, up to O(csv) or to the head of the channel.
      - V(never) leaves every approval to somebody else.
    type: str
    choices: [install, upgrade, never]
    default: install
  allow_csvs:
    description: Further CSVs that an InstallPlan may contain; shell patterns such as V(nfd.*) are allowed.
    type: list
    elements: str
    default: []
  adopt:
    description:
      - What to do with a Subscription to the package that somebody else made.
      - V(report) leaves it as it is and fails when it is not what is asked for; V(take) takes its fields over, but never the right to delete it.
    type: str
    choices: [report, take]
    default: report
  driver_change:
    description:
      - What to do when an upgrade of C(gpu-operator-certified) would change the GPU driver. It does where the ClusterPolicy names no driver, so that
        the operator's own is used, and the next operator has another one. Nodes then get the new driver one after the other, and their pods with GPUs end.
      - V(ask) fails with the code C(OLM-DRIVER-CHANGE) and shows both drivers, the nodes and the pods; nothing is approved.
      - V(pin) writes the driver that runs into the ClusterPolicy first, so that it stays; a ClusterPolicy that somebody else made needs O(adopt=take).
      - V(allow) goes on.
    type: str
    choices: [ask, pin, allow]
    default: ask
  grace:
    description:
      - For how many seconds a trouble that may pass by itself may last before the task fails.
        Examples are a catalogue that does not answer, and the image of a bundle that cannot be pulled.
    type: float
    default: 60
  force:
    description: With O(state=absent), remove the operator although custom resources of its kinds still exist.
    type: bool
    default: false
  remove_crds:
    description:
      - With O(state=absent), delete the operator's CustomResourceDefinitions at the end, which deletes every object of their kinds.
      - Refused while such objects exist, also with O(force=true). A CustomResourceDefinition that another package under OLM has as well stays.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Node Feature Discovery, from its default channel
  accelerators.openshift.olm_operator:
    name: nfd
    namespace: openshift-nfd

- name: The NVIDIA GPU operator, one exact version
  accelerators.openshift.olm_operator:
    name: gpu-operator-certified
    namespace: nvidia-gpu-operator
    source: certified-operators
    channel: stable
    csv: gpu-operator-certified.v26.7.0
    approve: upgrade
    driver_change: pin

- name: No Node Feature Discovery any more
  accelerators.openshift.olm_operator:
    name: nfd
    namespace: openshift-nfd
    state: absent
"""

RETURN = r"""
operator:
  description: The operator as OLM shows it; package and namespace only with O(state=absent).
  returned: success
  type: dict
  sample:
    package: nfd
    namespace: openshift-nfd
    subscription: nfd
    channel: stable
    catalog: redhat-operators
    csv: nfd.v4.22.0-202608111344
    version: 4.22.0-202608111344
    phase: Succeeded
    state: AtLatestKnown
    install_plan: install-x7k2p
    awaits_approval: false
    upgrade_available: null
driver_change:
  description:
    - With O(state=present), the change of the GPU driver that the upgrade brought or would have brought; null where there was none.
    - A failure with the code C(OLM-DRIVER-CHANGE) has it as well.
  returned: when O(state=present)
  type: dict
  sample:
    action: allow
    from: nvcr.io/nvidia/driver@sha256:f8e3dc91
    to: nvcr.io/nvidia/driver@sha256:e243d778
    csv: gpu-operator-certified.v26.3.3
    next_csv: gpu-operator-certified.v26.7.0
    policies: [gpu-cluster-policy]
    nodes: [{name: gpu-0, driver: 580.126.20}]
    pods: [team-a/training-0 on gpu-0]
helm_values:
  description: On a cluster without OLM, for the GPU operator, the values for its Helm chart, as text.
  returned: on failure with the code C(OLM-ABSENT)
  type: str
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 6.1
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

SPEC = ArgumentSpec(
    options={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "required": True},
        "namespace_labels": {"type": "dict", "default": {}},
        "channel": {"type": "str"},
        "csv": {"type": "str"},
        "source": {"type": "str"},
        "source_namespace": {"type": "str", "default": "openshift-marketplace"},
        "install_mode": {"type": "str", "choices": ["OwnNamespace", "AllNamespaces"]},
        "approve": {"type": "str", "choices": ["install", "upgrade", "never"], "default": "install"},
        "allow_csvs": {"type": "list", "elements": "str", "default": []},
        "adopt": {"type": "str", "choices": ["report", "take"], "default": "report"},
        "driver_change": {"type": "str", "choices": ["ask", "pin", "allow"], "default": "ask"},
        "grace": {"type": "float", "default": 60},
        "force": {"type": "bool", "default": False},
        "remove_crds": {"type": "bool", "default": False},
    },
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    if params["state"] == "absent":
        from ansible_collections.accelerators.openshift.plugins.module_utils._olm import removal_steps

        return removal_steps.absent(api, params)
    from ansible_collections.accelerators.openshift.plugins.module_utils._olm import operators

    return operators.present(api, params)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
