# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Backend clusterpolicy: the NVIDIA GPU Operator's ClusterPolicy and its operands."""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._core.adoption import (
    Foreign,
    difference,
    foreign,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    KindNotServedError,
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness, worst
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.adopt_or_apply import blamed, told
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind, known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import common_selector
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import check_pools
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import preconditions
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    diagnose,
    judge as clusterpolicy_judge,
    manifest as clusterpolicy_manifest,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.default_spec import (
    example,
    release,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.rollout import (
    REACTION,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.mirrored import mirrored
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.precompiled import (
    refuse_unmade,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.lines import one_line_each

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.migration_steps import (
        DriverReturn,
    )

Data = dict[str, t.Any]
NAME: t.Final = "gpu-cluster-policy"
NAMESPACE: t.Final = "nvidia-gpu-operator"
POLICY: t.Final = known("ClusterPolicy")
# Start of a code -> fields of somebody else's policy that it may come from.
CAUSES: t.Final = {
    "GPU-TAINT": ("spec.daemonsets.tolerations",),
    "GPU-ALLOC": ("spec.mig.", "spec.devicePlugin."),
    "GPU-DRV-": ("spec.driver.",),
    "GPU-IMAGE": ("spec.",),
}


class Also(t.NamedTuple):
    """More to look at, and what is judged of it: causes of what the stack's own judge sees."""

    queries: dict[str, Query]
    judge: t.Callable[[dict[str, list[Data]]], list[Part]]

    def over(self, judge: clusterpolicy_judge.Judge) -> t.Callable[[dict[str, list[Data]]], Readiness]:
        def both(snapshot: dict[str, list[Data]]) -> Readiness:
            causes, stacks = self.judge(snapshot), judge(snapshot)
            judge.parts = [*causes, *judge.parts]
            parts = [*causes, stacks]
            return replace(worst(parts), details=one_line_each(parts))

        return both


def check(params: Data) -> None:
    clusterpolicy_manifest.check(params)
    check_pools(params["pools"])


def present(api: Api, params: Data) -> Data:
    live = look(api, params)
    params = mirrored(api, params, lambda: versions(api, params))
    returning = _returning(api, params, live)
    stranger = keep(api, params, live)
    if returning:
        returning.release()
    with blamed(stranger, CAUSES):
        snapshot = observe(api, params, settling(api, params))
    if returning:
        returning.finish()
    return {**clusterpolicy_result.summarize(snapshot, params["name"], params["pools"]), **told(stranger)}


def _returning(api: Api, params: Data, live: Data | None) -> DriverReturn | None:
    """The way back from NVIDIADriver objects, which is gone only when it is asked for by name."""
    if (params.get("driver") or {}).get("use_nvidia_driver_crd") is not False:
        return None
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
        migration_steps,
    )

    stays = live is not None and not owned(live) and params["adopt"] == "report"
    return migration_steps.begin(
        api,
        params["namespace"],
        (live or {}).get("spec") or {} if stays else foreseen(params, live, versions(api, params)),
    )


def foreseen(params: Data, live: Data | None, csvs: list[Data]) -> Data:
    """The policy's spec as it will be."""
    if live is None or owned(live):
        return t.cast("Data", clusterpolicy_manifest.build(params, example(csvs), live)["spec"])
    return t.cast("Data", merge(live.get("spec") or {}, clusterpolicy_manifest.asked(params)))


def settling(api: Api, params: Data) -> float:
    """The status of an object that was there already may still be that of before."""
    return float(max(params["settle"], REACTION if any(one.before for one in api.changes) else 0))


def look(api: Api, params: Data) -> Data | None:
    """The policy as it is. What would keep one of ours from ever counting is told before the first write."""
    name = params["name"]
    policies = _policies(api, params)
    clusterpolicy_manifest.refuse_second(policies, name)
    live = next((entry for entry in policies if entry["metadata"]["name"] == name), None)
    if live is None:
        preconditions.refuse_other_stack(api, name)
    preconditions.check_references(api, params)
    return live


def keep(api: Api, params: Data, live: Data | None) -> Foreign | None:
    """Brings the policy about. Somebody else's comes back with what differs, and is changed only when it is to be taken."""
    if live is None or owned(live):
        csvs = versions(api, params)
        wanted = clusterpolicy_manifest.build(params, example(csvs), live)
        for remark in clusterpolicy_manifest.remarks(params, wanted["spec"], release(csvs)):
            api.warn(remark)
        clusterpolicy_manifest.refuse_switch(params, live, wanted)
        refuse_unmade(api, params, live or {}, wanted["spec"])
        api.apply(wanted, force_conflicts=live is not None, live=live)
        return None
    stranger, wishes = compare(params, live), clusterpolicy_manifest.wished(params, live)
    if params["adopt"] == "take":
        refuse_unmade(api, params, live, merge(live.get("spec") or {}, wishes))
    return stranger._replace(differs=settle_foreign(api, params, POLICY, wishes, live))


def settle_foreign(api: Api, params: Data, kind: Kind, wanted: Data, live: Data) -> list[Data]:
    """Reports what of somebody else's object is not as wanted, or takes it over; what then still differs."""
    name = live["metadata"]["name"]
    stranger = foreign(live, wanted, f"{kind.kind} {name}")
    if params["adopt"] == "take":
        if stranger.differs:
            api.merge_patch(kind, name, None, {"spec": difference(wanted, live.get("spec") or {})})
        return []
    if stranger.warning:
        api.warn(stranger.warning)
    return stranger.differs


def compare(params: Data, live: Data) -> Foreign:
    return foreign(live, clusterpolicy_manifest.wished(params, live), f"ClusterPolicy {params['name']}")


def _policies(api: Api, params: Data) -> list[Data]:
    """Where the kind is not served, an operator that check mode only foretells may bring it; without OLM none will come, and Helm is told how."""
    try:
        return api.list(POLICY)
    except KindNotServedError as exc:
        if not api.served(known("Subscription")):
            from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
                helm_values,
                without_olm,
            )

            raise without_olm.refusal(
                api, helm_values.PACKAGE, clusterpolicy_manifest.wished(params, {})
            ) from exc
        if not api.check_mode:
            diagnose.explain_absent(api, params, exc)
            raise
        return []


def versions(api: Api, params: Data) -> list[Data]:
    """Installed operators; their annotations hold examples. A cluster without OLM has none."""
    with contextlib.suppress(KindNotServedError):
        return api.list(known("ClusterServiceVersion"), params["namespace"])
    return []


def observe(api: Api, params: Data, settle: float, also: Also | None = None) -> dict[str, list[Data]]:
    """Waits for the truth. also: what a backend that stands on this one looks at, and judges, besides."""
    queries = {
        "policies": Query(POLICY),
        "nodes": Query(
            known("Node"), labels=common_selector([pool["node_selector"] for pool in params["pools"]])
        ),
        "daemonsets": Query(known("DaemonSet"), params["namespace"]),
        "pods": Query(known("Pod"), params["namespace"]),
        "revisions": Query(known("ControllerRevision"), params["namespace"]),
        "streams": Query(known("ImageStream"), "openshift", "driver-toolkit"),
        **(also.queries if also else {}),
    }
    judge = clusterpolicy_judge.Judge(params, api.clock)
    try:
        snapshot = api.wait(queries, also.over(judge) if also else judge, "GPU stack", settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        diagnose.explain(api, params, judge, exc)
        raise
    return diagnose.look_further(api, params, judge, snapshot)


def absent(api: Api, params: Data) -> Data:
    if api.delete(POLICY, params["name"]):
        queries = {
            "daemonsets": Query(known("DaemonSet"), params["namespace"]),
            "pods": Query(known("Pod"), params["namespace"]),
        }
        api.wait(queries, clusterpolicy_judge.judge_gone, "GPU stack leaves")
    return {"name": params["name"], "state": "absent", "reason": "", "driver_version": "", "nodes": []}
