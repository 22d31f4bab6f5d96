#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: olm_operator
short_description: Install an operator through OLM, one approved InstallPlan at a time
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Creates the Namespace, the OperatorGroup and a Subscription with manual approval of the Operator Lifecycle
    Manager (OLM). Approves exactly the InstallPlan that you asked for, and waits until the
    ClusterServiceVersion (CSV) has succeeded.
  - Approves an InstallPlan only if the Subscription points to it, it requires approval, and you asked for
    every CSV in it.
  - Reports a pending upgrade and does not approve it, unless O(approve=upgrade).
  - O(state=absent) deletes the Subscription that this collection created, and its CSV. It deletes
    OperatorGroup and Namespace if this collection created them and nothing else is in them.
    CustomResourceDefinitions stay, unless O(remove_crds=true).
  - Finds obstacles before the first write - a package that OLM v1 (a ClusterExtension) owns, an OperatorGroup
    that does not fit, several catalogues with the same package.
  - For an operator that is part of OpenShift (node tuning), returns its state and installs nothing. A cluster
    without OLM is refused. For the GPU operator the failure has the values for its Helm chart.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._lock
  - accelerators.openshift._auth
options:
  operators:
    description:
      - Several operators, instead of O(name) and O(namespace). The task asks OLM for all of them, approves
        all InstallPlans, and then waits for all.
      - An operator that fails does not stop the others. The failure says what is wrong with each.
      - Each entry has these options, with the meaning and the default of the option of the same name; the
        task's own value does not count for it.
    type: list
    elements: dict
    suboptions:
      name:
        description: As O(name).
        type: str
        required: true
      namespace:
        description: As O(namespace).
        type: str
        required: true
      namespace_labels:
        description: As O(namespace_labels).
        type: dict
        default: {}
      channel:
        description: As O(channel).
        type: str
      csv:
        description: As O(csv).
        type: str
      config:
        description: As O(config).
        type: dict
      source:
        description: As O(source).
        type: str
      source_namespace:
        description: As O(source_namespace).
        type: str
        default: openshift-marketplace
      install_mode:
        description: As O(install_mode).
        type: str
        choices: [OwnNamespace, AllNamespaces]
      approve:
        description: As O(approve).
        type: str
        choices: [install, upgrade, never]
        default: install
      approval:
        description: As O(approval).
        type: str
        choices: [Automatic, Manual]
        default: Manual
      allow_csvs:
        description: As O(allow_csvs).
        type: list
        elements: str
        default: []
      adopt:
        description: As O(adopt).
        type: str
        choices: [report, take]
        default: report
      driver_change:
        description: As O(driver_change).
        type: str
        choices: [ask, pin, allow]
        default: ask
      gpu_models:
        description: As O(gpu_models).
        type: list
        elements: str
        default: []
      on_busy:
        description: As O(on_busy).
        type: str
        choices: [fail, drain, wait]
        default: fail
      wait_timeout:
        description: Seconds for this operator, from the start of the task. The default is O(wait_timeout).
        type: int
  name:
    description: Name of the package, as C(oc get packagemanifests) lists it. Required without O(operators).
    type: str
  namespace:
    description: Namespace of the operator. Required without O(operators).
    type: str
  namespace_labels:
    description: Labels of the Namespace, for example C(openshift.io/cluster-monitoring).
    type: dict
    default: {}
  channel:
    description:
      - Channel to follow. The default is the channel of the existing Subscription, otherwise the package's
        default channel.
    type: str
  csv:
    description:
      - The exact CSV, for example V(nfd.v4.22.0-202607141007). The default is the head of the channel.
    type: str
  config:
    description:
      - C(spec.config) of the Subscription, for the operator's own pods. For example C(nodeSelector),
        C(tolerations), C(resources), or C(env) with the proxy.
      - Operands have settings of their own. Without it the Subscription has no C(config) of this collection.
    type: dict
  source:
    description:
      - CatalogSource of the package. The default is the one that has the package. Required if several have
        it.
    type: str
  source_namespace:
    description: Namespace of the CatalogSource.
    type: str
    default: openshift-marketplace
  install_mode:
    description:
      - Whether the operator watches its own namespace or all namespaces. The default is the narrowest mode
        that it supports.
    type: str
    choices: [OwnNamespace, AllNamespaces]
  approve:
    description:
      - V(install) approves the first installation only. V(upgrade) also approves upgrades, up to O(csv) or to
        the head of the channel.
      - V(never) approves nothing.
    type: str
    choices: [install, upgrade, never]
    default: install
  approval:
    description:
      - The approval of InstallPlans that the Subscription shall have (C(spec.installPlanApproval)).
      - With V(Automatic), OLM approves each InstallPlan itself, and the task approves nothing. OLM then
        upgrades the operator at any time, without a question. An upgrade of the GPU operator or of the
        network operator can replace the drivers of nodes, and that ends the pods with devices there. O(csv)
        and O(approve=never) cannot be used with it.
      - The change from V(Manual) to V(Automatic) asks as O(on_busy) says if an upgrade waits.
    type: str
    choices: [Automatic, Manual]
    default: Manual
  until:
    description:
      - How far the task goes. V(foreseen) is a dry run - it finds what would fail, writes nothing, and is
        never a change. V(requested) waits for nothing.
      - V(approved) ends as soon as the InstallPlan is approved, and lets the operator install itself
        meanwhile; a later task with V(installed) waits for it.
    type: str
    choices: [foreseen, requested, approved, installed]
    default: installed
  allow_csvs:
    description: Additional CSVs that an InstallPlan may contain. Shell patterns such as V(nfd.*) work.
    type: list
    elements: str
    default: []
  adopt:
    description:
      - What to do with a foreign Subscription to the package, that is, one that this collection did not
        create.
      - V(report) changes nothing, and fails if the Subscription differs from the options. V(take) takes over
        its fields, but never the right to delete it.
    type: str
    choices: [report, take]
    default: report
  driver_change:
    description:
      - What to do if an upgrade of C(gpu-operator-certified) would change the GPU driver. That happens if the
        ClusterPolicy names no driver, so that the operator uses its own, and the next operator has another
        one. Nodes then get the new driver one after the other, and their pods with GPUs end.
      - V(ask) approves nothing and fails with the code C(OLM-DRIVER-CHANGE), which shows both drivers, the
        nodes and the pods.
      - V(pin) first writes the running driver into the ClusterPolicy, so that the driver stays. A foreign
        ClusterPolicy needs O(adopt=take).
      - V(allow) accepts the new driver. Pods with GPUs still end only as O(on_busy) says.
    type: str
    choices: [ask, pin, allow]
    default: ask
  gpu_models:
    description:
      - GPUs of nodes that get the driver of C(gpu-operator-certified). If the release that would be installed
        brings a driver that no longer supports one of them, the task fails with C(GPU-DRV-BRANCH) before the
        first write.
    type: list
    elements: str
    default: []
  on_busy:
    description:
      - What to do if an InstallPlan of C(gpu-operator-certified) or C(nvidia-network-operator) makes the
        operator replace the driver on nodes where pods use devices, also with the same driver
        (O(driver_change=pin)), because each release has another driver manager.
      - V(fail) approves nothing and fails with the code C(OLM-BUSY), which names the nodes and the pods.
        V(drain) approves, and the operator ends these pods node by node. V(wait) first waits until they have
        ended by themselves or O(wait_timeout) is over.
    type: str
    choices: [fail, drain, wait]
    default: fail
  grace:
    description:
      - For how many seconds a trouble that may pass by itself may last before the task fails. Examples are a
        catalogue that does not answer, and the image of a bundle that cannot be pulled.
    type: float
    default: 60
  force:
    description: With O(state=absent), remove the operator even if custom resources of its kinds still exist.
    type: bool
    default: false
  remove_crds:
    description:
      - With O(state=absent), delete the operator's CustomResourceDefinitions at the end. That deletes every
        object of their kinds.
      - The task refuses this while such objects exist, also with O(force=true). A CustomResourceDefinition
        that another package under OLM also has stays.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Install Node Feature Discovery from its default channel
  accelerators.openshift.olm_operator:
    name: nfd
    namespace: openshift-nfd

- name: Install or upgrade the NVIDIA GPU operator to one exact version
  accelerators.openshift.olm_operator:
    name: gpu-operator-certified
    namespace: nvidia-gpu-operator
    source: certified-operators
    channel: stable
    csv: gpu-operator-certified.v26.7.0
    approve: upgrade
    driver_change: pin

- name: Install two operators at the same time
  accelerators.openshift.olm_operator:
    operators:
      - {name: nfd, namespace: openshift-nfd}
      - {name: gpu-operator-certified, namespace: nvidia-gpu-operator, source: certified-operators}

- name: Remove Node Feature Discovery
  accelerators.openshift.olm_operator:
    name: nfd
    namespace: openshift-nfd
    state: absent
"""

RETURN = r"""
operators:
  description:
    - For each entry of O(operators) a result with RV(operator), RV(driver_change) and RV(ends), in the same
      order. An operator that failed has C(code), C(message), C(remedy) and C(evidence) too.
    - A failure also has it.
  returned: with O(operators)
  type: list
  elements: dict
operator:
  description: The operator as OLM shows it. With O(state=absent) only package and namespace.
  returned: success, without O(operators)
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
    - With O(state=present), the change of the GPU driver that the upgrade caused or would have caused. Null
      if there was none.
    - A failure with the code C(OLM-DRIVER-CHANGE) also has it.
  returned: when O(state=present), without O(operators)
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
ends:
  description:
    - What the approved upgrade ends, or would end in check mode. Each entry says why (C(because)), by whom
      (C(by)), in what order, whether that is certain, on which nodes, and which pods with devices. Empty if
      nothing ends.
    - A failure with the code C(OLM-BUSY) also has it.
  returned: when O(state=present), without O(operators)
  type: list
  elements: dict
  sample:
    - because: InstallPlan install-x7k2p replaces gpu-operator-certified.v26.3.0 …
      by: the GPU operator's upgrade controller
      order: node by node
      certain: true
      nodes: [gpu-0, gpu-1]
      pods:
        - {node: gpu-0, namespace: team-a, name: training-0, owner: Job training, devices: [8 nvidia.com/gpu]}
left_out:
  description:
    - The number of entries that a list of a large result lacks. A result has at most 84 KiB.
  returned: when a list was cut
  type: list
  elements: dict
helm_values:
  description: On a cluster without OLM, the values for the Helm chart of the GPU operator, as text.
  returned: on failure with the code C(OLM-ABSENT)
  type: str
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 6.1
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    LOCK,
    ON_BUSY,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.subscription import (
    OlmOperatorParams,
    OperatorParams,
)

# The options of one operator besides its name and its namespace.
ONE: t.Final = {
    "namespace_labels": {"type": "dict", "default": {}},
    "channel": {"type": "str"},
    "csv": {"type": "str"},
    "config": {"type": "dict"},
    "source": {"type": "str"},
    "source_namespace": {"type": "str", "default": "openshift-marketplace"},
    "install_mode": {"type": "str", "choices": ["OwnNamespace", "AllNamespaces"]},
    "approve": {"type": "str", "choices": ["install", "upgrade", "never"], "default": "install"},
    "approval": {"type": "str", "choices": ["Automatic", "Manual"], "default": "Manual"},
    "allow_csvs": {"type": "list", "elements": "str", "default": []},
    "adopt": {"type": "str", "choices": ["report", "take"], "default": "report"},
    "driver_change": {"type": "str", "choices": ["ask", "pin", "allow"], "default": "ask"},
    "gpu_models": {"type": "list", "elements": "str", "default": []},
    **ON_BUSY.options,
}
NAMED: t.Final = {"type": "str", "required": True}
STAGES: t.Final = ["foreseen", "requested", "approved", "installed"]
SPEC = ArgumentSpec(
    options={
        "operators": {
            "type": "list",
            "elements": "dict",
            "options": {"name": NAMED, "namespace": NAMED, "wait_timeout": {"type": "int"}, **ONE},
        },
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        **ONE,
        "until": {"type": "str", "choices": STAGES, "default": "installed"},
        "grace": {"type": "float", "default": 60},
        "force": {"type": "bool", "default": False},
        "remove_crds": {"type": "bool", "default": False},
    },
    mutually_exclusive=[["operators", "name"], ["operators", "namespace"]],
    required_one_of=[["operators", "name"]],
    required_together=[["name", "namespace"]],
).merge(AUTH, LOCK, STATE, WAIT)


def ensure(api: Api, params: OlmOperatorParams) -> dict[str, t.Any]:
    if params["operators"] is not None:
        from ansible_collections.accelerators.openshift.plugins.module_utils._olm import several

        return several.ensure(api, params)
    operator = t.cast(OperatorParams, params)
    if params["state"] == "absent":
        from ansible_collections.accelerators.openshift.plugins.module_utils._olm import removal_steps

        return removal_steps.absent(api, operator)
    from ansible_collections.accelerators.openshift.plugins.module_utils._olm import operators

    return operators.present(api, operator)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
