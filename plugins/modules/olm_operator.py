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
    they are ours and nothing else is in them. CustomResourceDefinitions stay.
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
    description: CatalogSource to take the package from. The default is the one that offers it.
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
  force:
    description: With O(state=absent), remove the operator although custom resources of its kinds still exist.
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
    upgrade_available: null
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 6.1
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _api_operator as operators
from ansible_collections.accelerators.openshift.plugins.module_utils import _install_plan as install_plan
from ansible_collections.accelerators.openshift.plugins.module_utils import _olm as olm
from ansible_collections.accelerators.openshift.plugins.module_utils import _olm_group as olm_group
from ansible_collections.accelerators.openshift.plugins.module_utils import _olm_progress as progress
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._argspec import AUTH, STATE, WAIT, ArgumentSpec
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned

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
        "force": {"type": "bool", "default": False},
    },
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    if params["state"] == "absent":
        operators.remove(api, params["name"], params["namespace"], params["force"])
        return {"operator": {"package": params["name"], "namespace": params["namespace"]}}
    namespace, take = params["namespace"], params["adopt"] == "take"
    live = olm.subscribed(api.list(known("Subscription")), params["name"], namespace)
    group = olm_group.suitable(api.list(known("OperatorGroup"), namespace), namespace, params["install_mode"])
    source = params["source"] or olm.source(live)
    offer = None if group and olm.is_settled(live, params) else operators.offer(api, params["name"], source, params["source_namespace"], live is None)
    ask = olm.ask(params, live, offer)
    new_group = None if group else olm_group.build(namespace, olm_group.mode(params["install_mode"], ask.modes, ask.package))
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": params["namespace_labels"]}})
    if new_group:
        api.apply(new_group)
    wanted = olm.build(ask, namespace, live)
    if live is not None and not owned(live) and not take:
        api.warn(olm.check_foreign(live, wanted))
        return {"operator": olm.summarize(follow(api, live, ask))}
    return {"operator": olm.summarize(follow(api, api.apply(wanted, force_conflicts=take, live=live), ask))}


def follow(api: Api, subscription: dict[str, t.Any], ask: olm.Ask) -> olm.Snapshot:
    """Waits, approves what may be approved, waits again, until nothing is left to approve."""
    name, namespace = subscription["metadata"]["name"], subscription["metadata"]["namespace"]
    queries = {"subscription": Query(known("Subscription"), namespace, name)}
    queries |= {"plans": Query(known("InstallPlan"), namespace), "csvs": Query(known("ClusterServiceVersion"), namespace)}
    while True:
        seen = api.wait(queries, progress.Judge(ask, api.clock), f"operator {ask.package}", on_timeout_code="OLM-PENDING")
        plan = olm.plan_to_approve(seen, ask)
        if plan is not None:
            install_plan.check(plan, ask.path, ask.allowed)
            api.merge_patch(known("InstallPlan"), plan["metadata"]["name"], namespace, {"spec": {"approved": True}})
        if plan is None or api.check_mode or not api.wait_wanted:
            return {**seen, "subscription": seen["subscription"] or [subscription]}


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
