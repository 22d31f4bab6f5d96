# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Backend nvidiadriver: a ClusterPolicy for the stack, and NVIDIADriver objects that bring each pool a driver of its own."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.adoption import Foreign
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.adopt_or_apply import blamed, told
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import preconditions
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    result as clusterpolicy_result,
    steps as clusterpolicy_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.default_spec import (
    example_driver,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import precompiled
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import Change
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.mirrored import mirrored
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    judge as nvidiadriver_judge,
    manifest as nvidiadriver_manifest,
)

Data = dict[str, t.Any]
NAME: t.Final = clusterpolicy_steps.NAME
NAMESPACE: t.Final = clusterpolicy_steps.NAMESPACE
DRIVER: t.Final = known("NVIDIADriver")


def check(params: Data) -> None:
    clusterpolicy_steps.check(params)
    nvidiadriver_manifest.check(params)


def present(api: Api, params: Data) -> Data:
    params = {**params, "driver": {**(params.get("driver") or {}), "use_nvidia_driver_crd": True}}
    policy = clusterpolicy_steps.look(api, params)
    params = mirrored(api, params, lambda: clusterpolicy_steps.versions(api, params))
    theirs = _policy_serves(params, policy)
    live = [] if api.check_mode and not api.served(DRIVER) else api.list(DRIVER)
    section, base = _section(api, params, policy)
    wanted = nvidiadriver_manifest.build(params, section, base)
    clashing = settle_selectors(api, wanted, live, params)
    refuse_unmade(api, params, wanted, live)
    # Nodes that the ClusterPolicy drives go over with the driver that they have; another one comes when each has its owner.
    going_over = (
        policy is not None
        and not _is_switched(policy)
        and (policy["spec"].get("driver") or {}).get("enabled") is not False
    )
    first = (
        [nvidiadriver_manifest.as_before(one, policy["spec"]["driver"]) for one in wanted]
        if policy and going_over
        else wanted
    )
    _leave(api, clashing)
    foreign = keep(api, params, first, live)
    stranger = clusterpolicy_steps.keep(api, params, policy)
    with blamed(stranger or theirs, clusterpolicy_steps.CAUSES):
        snapshot = _observe(api, params, first)
        if first != wanted:
            foreign = keep(api, params, wanted, api.list(DRIVER) if not api.check_mode else live)
            snapshot = _observe(api, params, wanted)
    _leave(api, _leaving(params))
    found = {**clusterpolicy_result.summarize(snapshot, params["name"], params["pools"]), **told(stranger)}
    return {
        **found,
        "nvidia_drivers": nvidiadriver_judge.summarize(snapshot, wanted),
        "nvidia_drivers_unlisted": _unlisted(api, nvidiadriver_manifest.unlisted(params, wanted, live)),
        "differs": [*found["differs"], *foreign],
    }


def _unlisted(api: Api, drivers: list[Data]) -> list[Data]:
    """They stay: another playbook may have them in its list, and its pool may be of no node just now."""
    found = []
    for one in drivers:
        title = nvidiadriver_manifest.name(one)
        found += nvidiadriver_judge.summarize(
            {
                "drivers": [one],
                "nodes": api.list(known("Node"), labels=f"{nvidiadriver_judge.OWNER}={title}"),
            },
            [one],
        )
        nodes = found[-1]["nodes"]
        where = (
            f"drives {len(nodes)} nodes ({', '.join(nodes[:5])}{', …' if nodes[5:] else ''})"
            if nodes
            else "drives no node"
        )
        api.warn(
            f"NVIDIADriver {title} was made by this collection and is in neither pools nor nvidia_drivers; it stays and {where}. "
            f"`nvidia_drivers: [{{name: {title}, state: absent}}]` removes it, and with it the driver of its nodes."
        )
    return found


def _is_switched(policy: Data) -> bool:
    return bool((policy["spec"].get("driver") or {}).get("useNvidiaDriverCRD"))


def _policy_serves(params: Data, policy: Data | None) -> Foreign | None:
    """Somebody else's policy without the switch disables every NVIDIADriver; that is told before one is made."""
    if policy is None or owned(policy):
        return None
    stranger = clusterpolicy_steps.compare(params, policy)
    if not _is_switched(policy) and params["adopt"] == "report":
        message = f"ClusterPolicy {params['name']} was made by {stranger.manager}, and its driver.useNvidiaDriverCRD is off: NVIDIADriver objects would be disabled."
        raise NotReadyError(
            "GPU-NVD-DISABLED", message, "Set adopt: take, or have it switched on where the policy is kept."
        )
    return stranger


def _section(api: Api, params: Data, policy: Data | None) -> tuple[Data, Data]:
    """The ClusterPolicy's driver section as it will be, and the installed operator's example of an NVIDIADriver."""
    csvs = clusterpolicy_steps.versions(api, params)
    nvidiadriver_manifest.refuse_release(csvs)
    return clusterpolicy_steps.foreseen(params, policy, csvs).get("driver") or {}, example_driver(csvs)


def settle_selectors(api: Api, wanted: list[Data], live: list[Data], params: Data) -> list[str]:
    """Names of leaving ones that have to go first."""
    ours, leaving = (
        {nvidiadriver_manifest.name(one) for one in wanted},
        [one for one in live if owned(one) and nvidiadriver_manifest.name(one) in _leaving(params)],
    )
    others = [one for one in live if nvidiadriver_manifest.name(one) not in ours and one not in leaving]
    remarks = nvidiadriver_manifest.undecided(wanted)
    nodes = api.list(known("Node")) if others or remarks or leaving else []
    nvidiadriver_manifest.refuse_overlap(wanted, others, nodes)
    for remark in remarks:
        api.warn(remark)
    return nvidiadriver_manifest.clashing(wanted, leaving, nodes)


def refuse_unmade(api: Api, params: Data, wanted: list[Data], live: list[Data]) -> None:
    """Precompiled drivers that nobody has made, of objects that are about to be written."""
    found = {nvidiadriver_manifest.name(one): one for one in live}
    selectors = [one["spec"]["nodeSelector"] for one in [*wanted, *live] if one["spec"].get("nodeSelector")]
    changes = [
        Change(
            (there or {}).get("spec") or {},
            one["spec"],
            tuple(selectors) if one["spec"].get("default") else (),
        )
        for one in wanted
        if (there := found.get(nvidiadriver_manifest.name(one))) is None
        or owned(there)
        or params["adopt"] == "take"
    ]
    precompiled.refuse_missing(api, params, changes)


def keep(api: Api, params: Data, wanted: list[Data], live: list[Data]) -> list[Data]:
    """What differs of those that somebody else made."""
    found = {nvidiadriver_manifest.name(one): one for one in live}
    differs: list[Data] = []
    for manifest in wanted:
        there = found.get(nvidiadriver_manifest.name(manifest))
        if there is None or owned(there):
            api.apply(manifest, force_conflicts=there is not None, live=there)
            continue
        differs += clusterpolicy_steps.settle_foreign(api, params, DRIVER, manifest["spec"], there)
    return differs


def _leaving(params: Data) -> list[str]:
    return [entry["name"] for entry in params.get("nvidia_drivers") or [] if entry["state"] == "absent"]


def _leave(api: Api, names: list[str]) -> None:
    for title in names:
        api.delete(DRIVER, title)


def _observe(api: Api, params: Data, wanted: list[Data]) -> dict[str, list[Data]]:
    patience = Grace(api.clock, params["grace"], nvidiadriver_judge.PASSING)
    also = clusterpolicy_steps.Also(
        {"drivers": Query(DRIVER)},
        lambda snapshot: patience.harden(nvidiadriver_judge.parts(snapshot, wanted, params["pools"])),
    )
    snapshot = clusterpolicy_steps.observe(api, params, clusterpolicy_steps.settling(api, params), also)
    return {"drivers": [], **snapshot}


def absent(api: Api, params: Data) -> Data:
    """Drivers first: their pods go with them, and the policy's operands after."""
    remove_drivers(api, preconditions.gpu_cluster)
    return clusterpolicy_steps.absent(api, params)


def remove_drivers(api: Api, staying: t.Callable[[Api], str]) -> None:
    """staying: the GPUCluster that remains, whose devices stand on these drivers too; only asked where there is a driver of ours."""
    ours = (
        [nvidiadriver_manifest.name(one) for one in api.list(DRIVER) if owned(one)]
        if api.served(DRIVER)
        else []
    )
    if ours and (stack := staying(api)):
        message = f"GPUCluster {stack} stands on {', '.join(f'NVIDIADriver {one}' for one in ours)}: pods that hold its devices would lose the driver."
        remedy = f"Take that stack away first: special_resource with backend dra and state absent, or, as it may be another's, `oc delete gpucluster {stack}`."
        raise NotReadyError(
            "GPU-CP-CONFLICT",
            message,
            remedy,
            [f"gpucluster/{stack}", *(f"nvidiadriver/{one}" for one in ours)],
        )
    for title in ours:
        api.delete(DRIVER, title)
