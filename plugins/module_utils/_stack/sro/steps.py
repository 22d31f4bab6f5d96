# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Backend sro: a SpecialResource that is reported, driven where its CRD is served, or replaced by kmm or clusterpolicy, step by step."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import daemon_sets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.adopt_or_apply import (
    keep,
    look,
    remove,
    told,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import common_selector
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import check_pools
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    options as clusterpolicy_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import options as kmm_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import (
    judge as sro_judge,
    options as sro_options,
)

Data = dict[str, t.Any]
NAME: t.Final = ""
NAMESPACE: t.Final = ""
SPECIAL: t.Final = known("SpecialResource")
# Its conditions do not say of which generation they are: those of before are not believed at once.
_REACTION: t.Final = 2.0


def check(params: Data) -> None:
    check_pools(params["pools"])
    sro_judge.check(params)
    target = sro_judge.target(params)
    handed_on = {"kmm": set(kmm_options.OPTIONS), "clusterpolicy": set(clusterpolicy_options.OPTIONS)}
    theirs = set[str]().union(*handed_on.values()) - set(sro_options.OPTIONS)
    for option in sorted(theirs - handed_on.get(target, set())):
        if params.get(option) is not None:
            message = f"{option} is given, and sro_judge.migrate_to is {target or 'not'}."
            raise InputError(
                "INPUT-OPTION", message, f"Remove {option}, or migrate to the backend that has it."
            )
    if target:
        _successor(params).check(_handed_on(params))


def _successor(params: Data) -> t.Any:
    if sro_judge.target(params) == "kmm":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
            steps as kmm_steps,
        )

        return kmm_steps
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
        steps as clusterpolicy_steps,
    )

    return clusterpolicy_steps


def _handed_on(params: Data) -> Data:
    """The options as the other backend takes them: without a name of its own the object is called as usual, a Module as the SpecialResource was."""
    successor = _successor(params)
    name = params["name"] if (params["sro"] or {}).get("special_resource") else ""
    return {
        **params,
        "name": name or successor.NAME or sro_judge.old_name(params),
        "namespace": params["namespace"] or successor.NAMESPACE,
    }


def present(api: Api, params: Data) -> Data:
    if sro_judge.target(params):
        return _migrate(api, params)
    _must_be_served(api)
    stranger = None
    if (params["sro"] or {}).get("chart"):
        wanted = sro_judge.build(params)
        stranger = keep(api, SPECIAL, wanted, params["adopt"], look(api, SPECIAL, wanted))
    judge, name = sro_judge.Judge(params, api.clock), sro_judge.old_name(params)
    queries = {"specials": Query(SPECIAL, None, name)}
    if params["pools"]:
        queries["nodes"] = Query(
            known("Node"), labels=common_selector([pool["node_selector"] for pool in params["pools"]])
        )
    try:
        settle = max(params["settle"], _REACTION if any(one.before for one in api.changes) else 0)
        snapshot = api.wait(queries, judge, f"SpecialResource {name}", settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        failed = exc.code if isinstance(exc, NotReadyError) else ""
        exc.facts["special_resource"] = {
            **judge.summarize(name, judge.seen, api.list(known("DaemonSet")), failed),
            **told(stranger),
        }
        raise
    return {**judge.summarize(name, snapshot, api.list(known("DaemonSet"))), **told(stranger)}


def _must_be_served(api: Api) -> None:
    if not api.served(SPECIAL):
        message = f"The cluster does not serve specialresources.sro.openshift.io/v1beta1. {sro_judge.HISTORY}"
        remedy = "Set backend to kmm or clusterpolicy; to take over from a SpecialResource of another cluster, start from its chart and image."
        raise KindNotServedError("GPU-SRO-NOT-SERVED", message, remedy, status=404, reason="NotServed")


def _migrate(api: Api, params: Data) -> Data:
    """Reported first, then removed when that is asked for, then replaced. What an earlier run has done is found done."""
    name, is_served = sro_judge.old_name(params), api.served(SPECIAL)
    live = api.get(SPECIAL, name) if is_served else None
    runs = sro_judge.runs(live, name, api.list(known("DaemonSet")))
    needs = sro_judge.needs(params, lambda kind: api.served(known(kind)))
    steps = _steps(name, params, bool(live or runs["daemonsets"]), needs)
    if lacking := [one["what"] for one in needs if not one["met"]]:
        message = (
            f"SpecialResource {name} stays as it is: {sro_judge.target(params)} lacks {', '.join(lacking)}."
        )
        raise NotReadyError(
            "GPU-SRO-NEEDS",
            message,
            "Install that operator first.",
            facts={"special_resource": {"runs": runs, "steps": steps}},
        )
    report = {"runs": runs, "needs": needs, "steps": steps}
    if live is not None and not params["sro"]["remove"]:
        api.warn(
            f"SpecialResource {name} stays, and {sro_judge.target(params)} does not begin beside it. Set sro_judge.remove to true, so that it is removed."
        )
        return {"name": name, "state": "waiting", "reason": "RemovalNotAsked", "nodes": [], **report}
    if live is not None:
        remove(api, SPECIAL, name, None, owned_only=False)
    _until_unloaded(api, name)
    for step in steps:
        step["done"] |= not api.check_mode
    found = _successor(params).present(api, _handed_on(params))
    return {**found, "backend": sro_judge.target(params), **report}


def _steps(name: str, params: Data, is_there: bool, needs: list[Data]) -> list[Data]:
    return [
        {"step": f"{sro_judge.target(params)} finds what it needs", "done": all(one["met"] for one in needs)},
        {"step": f"SpecialResource {name} is removed", "done": not is_there},
        {
            "step": "its DaemonSets and pods are gone, so that its kernel modules are unloaded",
            "done": not is_there,
        },
        {"step": f"{sro_judge.target(params)} brings the driver", "done": False},
    ]


def _until_unloaded(api: Api, name: str) -> None:
    """What is left of a removal that was interrupted is waited for, too."""
    left = sro_judge.owned_by(name, api.list(known("DaemonSet")))
    if left and not api.check_mode:
        queries = {"daemonsets": Query(known("DaemonSet")), "pods": Query(known("Pod"))}
        api.wait(queries, daemon_sets.Gone(f"SpecialResource {name}", left), f"SpecialResource {name} leaves")


def absent(api: Api, params: Data) -> Data:
    name = sro_judge.old_name(params)
    if api.served(SPECIAL):
        remove(api, SPECIAL, name, None, owned_only=not (params["sro"] or {}).get("remove"))
    return {"name": name, "state": "absent", "reason": "", "nodes": []}
