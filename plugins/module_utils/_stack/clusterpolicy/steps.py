# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backend clusterpolicy: the NVIDIA GPU Operator's ClusterPolicy and its operands."""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import replace

from ..._core import fields
from ..._core.adoption import Foreign, foreign
from ..._core.errors import AcceleratorError, ForbiddenError, KindNotServedError
from ..._core.objects import KubeObject, Snapshot, at, merge, name, named
from ..._core.ownership import owned
from ..._core.readiness import FAILED, Readiness, worst
from ..._frame.adopt_or_apply import as_result, naming_differences, refuse_conflicts
from ..._impact import consent, driver, policy_fields
from ..._impact.impact import Question
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import devices, drain
from ..._nodes.pool_nodes import check_pools, nodes_of
from .. import left_labels, operands, upgrade, virtual_machine_steps, virtual_machines
from ..drivers import files
from ..drivers.steps import mirrored, refuse_unmade, remove_files, write_files
from ..judge import judge_gone, judge_pools, one_line_each
from ..node import judge_alive
from ..params import LookParams, StackParams, StackPool
from ..stages import Finding
from ..steps import Wait, example_csvs, installed_csvs, observe, settle_foreign, stack_queries, toolkit_query
from . import gpudirect, manifest, preconditions, requests
from .default_spec import example, release
from .judge import CHAIN, PODS, Judge
from .result import judge_metrics, summarize

if t.TYPE_CHECKING:
    from .migration import DriverReturn

NAME: t.Final = "gpu-cluster-policy"
NAMESPACE: t.Final = operands.NAMESPACE
POLICY: t.Final = known("ClusterPolicy")
BUSY: t.Final = "GPU-BUSY"
# Prefix of a code -> fields of a foreign policy that may cause it.
CAUSES: t.Final = {
    "GPU-TAINT": ("spec.daemonsets.tolerations",),
    "GPU-ALLOC": ("spec.mig.", "spec.devicePlugin."),
    "GPU-DRV-": ("spec.driver.",),
    "GPU-IMAGE": ("spec.",),
}


class ExtraCauses(t.NamedTuple):
    """Queries and the judge of another backend, whose findings explain those of the policy."""

    queries: dict[str, Query]
    judge: t.Callable[[Snapshot], list[Finding]]

    def over(self, judge: Judge) -> t.Callable[[Snapshot], Readiness]:
        """Return a judge of both; the findings of the policy's judge then start with the causes."""

        def both(snapshot: Snapshot) -> Readiness:
            causes = self.judge(snapshot)
            judge.held = {one.node for one in causes if one.node and not one.is_ready}
            stack = judge(snapshot)
            judge.findings = [*causes, *judge.findings]
            found = [*causes, stack]
            return replace(worst(found), details=one_line_each(found))

        return both


def check(params: StackParams) -> None:
    manifest.check(params)
    files.check(params)
    check_pools(params.pools)


def present(api: Api, params: StackParams) -> dict[str, t.Any]:
    if virtual_machines.need_no_operator(params.pools) and not api.list_if_served(POLICY):
        return _without_operator(api, params)
    live = look(api, params)
    params = completed(api, params, live)
    returning = _returning(api, params, live)
    machines = virtual_machine_steps.begin(api, params)
    draft = prepare(api, params, live)
    virtual_machines.refuse_disabled(params, draft.after, is_ours=draft.other is None)
    asked = [*questions(api, draft), *machines.questions()]
    ends = consent.ask(api, asked, params.on_busy, BUSY)
    virtual_machine_steps.label(api, machines)
    if draft.after is not live:
        write_files(api, params)
    other = write(api, params, draft)
    if returning:
        returning.release()
    with naming_differences(other, CAUSES):
        snapshot = observe_policy(api, params)
    remove_files(api, params, snapshot["pods"])
    if returning:
        returning.finish()
    permits = virtual_machine_steps.permit(api, machines)
    return {**summary(api, params, snapshot), **as_result(other), "ends": ends, "permits": permits}


def _without_operator(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Let OpenShift Virtualization alone give devices to virtual machines; return the result of the stack."""
    machines = virtual_machine_steps.begin(api, params)
    ends = consent.ask(api, machines.questions(), params.on_busy, BUSY)
    virtual_machine_steps.label(api, machines)
    permits = virtual_machine_steps.permit(api, machines)
    empty: Snapshot = {key: [] for key in ("policies", "daemonsets", "pods", "revisions", "streams")}
    snapshot = {**empty, "nodes": api.list(known("Node"))}
    findings = judge_pools(snapshot, params.pools, lambda node, _pool, _snapshot: [judge_alive(node)])
    found = {**summarize(snapshot, params.name, params.pools, findings), "stages": [], "table": []}
    return {**found, **as_result(None), "ends": ends, "permits": permits}


def summary(api: Api, params: StackParams, snapshot: Snapshot) -> dict[str, t.Any]:
    """Return the result of the stack; that of a look has the cause of what is not ready."""
    from .. import diagnose

    found = summarize(snapshot, params.name, params.pools)
    judge = Judge(params, api.clock)
    diagnose.explain_look(api, params.namespace, judge, snapshot, found, PODS)
    return found


def completed(api: Api, params: StackParams, live: KubeObject | None) -> StackParams:
    """Return the options with what they mean here: GPUs, images of a mirror, files, and who gets GPUs."""
    params = virtual_machines.completed(replace(params, pools=with_models(api, params.pools)))
    csvs = example_csvs(api, params.namespace, live) if params.only_requested_gpus else []
    params = mirrored(api, files.named(params), lambda: example_csvs(api, params.namespace, live))
    return requests.enforced(params, live, example(csvs), release(csvs))


def with_models(api: Api, pools: list[StackPool]) -> list[StackPool]:
    """Return the pools with the GPUs of their nodes, as the labels say, where nobody has named them."""
    if all(pool.get("gpu_models") for pool in pools):
        return pools
    nodes = api.list(known("Node"))

    def models(pool: StackPool) -> list[str]:
        return sorted({devices.product(node) for node in nodes_of(nodes, pool)} - {""})

    return [{**pool, "gpu_models": pool.get("gpu_models") or models(pool)} for pool in pools]


def _returning(api: Api, params: StackParams, live: KubeObject | None) -> DriverReturn | None:
    """Return the NVIDIADrivers to replace; None unless the user wants the policy's own driver again."""
    if not manifest.goes_back(params):
        return None
    from . import migration

    if live is not None and not owned(live) and params.adopt == "report":
        spec = live.get("spec") or {}
    else:
        spec = predicted_spec(params, live, installed_csvs(api, params.namespace))
    return migration.begin(api, params.namespace, spec)


def predicted_spec(params: StackParams, live: KubeObject | None, csvs: list[KubeObject]) -> dict[str, t.Any]:
    """Return the policy's future spec."""
    if live is None or owned(live):
        return dict(fields.applied(live, manifest.build(params, example(csvs), live))["spec"])
    return dict(merge(live.get("spec") or {}, manifest.asked(params)))


def look(api: Api, params: StackParams) -> KubeObject | None:
    """Return the live policy; raise NotReadyError before the first write if the policy could never work."""
    policies = _policies(api, params)
    manifest.refuse_second(policies, params.name)
    live = named(policies, params.name) or None
    if live is None:
        preconditions.refuse_other_stack(api, params.name)
    return live


class Draft(t.NamedTuple):
    """The write of a policy before it happens.

    wanted: the manifest of an owned policy, or the spec for a foreign one. after: the policy as it will be.
    other: a foreign policy with its differences. installed: release of the operator; () if unknown.
    """

    wanted: KubeObject
    live: KubeObject | None
    after: KubeObject
    other: Foreign | None
    installed: tuple[int, ...]

    def questions(self) -> list[Question]:
        """Return what to find out before the write."""
        if self.live is None:
            return [policy_fields.of_new(self.after)]
        return policy_fields.of_policy(self.live, self.after, self.installed)


def questions(api: Api, draft: Draft) -> list[Question]:
    """Return what to find out before the write; without pods that use GPUs, a first policy asks nothing."""
    if draft.live is None and not api.list(known("Pod"), keep=_with_gpus):
        return []
    return draft.questions()


def _with_gpus(pod: KubeObject) -> KubeObject | None:
    return pod if drain.node_of(pod) and drain.busy([pod], drain.uses_gpus) else None


def prepare(api: Api, params: StackParams, live: KubeObject | None) -> Draft:
    """Return the write of the policy. Raise before the first write if it cannot work."""
    if live is None or owned(live):
        csvs = example_csvs(api, params.namespace, live)
        wanted = manifest.build(params, example(csvs), live)
        after = fields.applied(live, wanted)
        for remark in manifest.remarks(params, after["spec"], release(csvs)):
            api.warn(remark)
        if params.only_requested_gpus and at(live, "spec.toolkit.env") != at(after, "spec.toolkit.env"):
            api.warn(requests.WARNING)
        manifest.refuse_switch(params, live, wanted)
        refuse_conflicts(live, wanted, params.adopt)
        draft = Draft(wanted, live, after, None, release(csvs))
        _refuse_broken(api, params, draft)
        return draft
    other, wishes = compare(params, live), manifest.wished(params, live)
    if params.adopt != "take":
        return Draft(wishes, live, live, other, ())
    after = {**live, "spec": merge(live.get("spec") or {}, wishes)}
    installed = release(installed_csvs(api, params.namespace))
    draft = Draft(wishes, live, after, other, installed)
    _refuse_broken(api, params, draft)
    return draft


def _refuse_broken(api: Api, params: StackParams, draft: Draft) -> None:
    """Raise AcceleratorError if the policy cannot work as it will be, whoever set its fields."""
    preconditions.check_final(params.pools, draft.after, draft.installed)
    preconditions.check_references(api, params, draft.live, draft.after)
    refuse_unmade(api, params, draft.live or {}, draft.after["spec"])
    with contextlib.suppress(ForbiddenError):
        if gpudirect.is_asked(draft.after):
            _check_gpudirect(api, draft.after)


def _check_gpudirect(api: Api, policy: KubeObject) -> None:
    problem = gpudirect.refusal(policy, consent.nic_policies(api))
    if problem and problem.code == "GPU-RDMA-HOST":
        raise problem
    slow = api.list_if_served(known("NodeFeature"), keep=gpudirect.translated)
    nodes = sorted(map(name, slow))
    code, shown = "GPU-RDMA-IOMMU", ", ".join(nodes)
    by_iommu = AcceleratorError(code, node=nodes[0], nodes=shown) if nodes else None
    # In check mode an earlier task would bring the NIC driver.
    for one in filter(None, (None if api.check_mode else problem, by_iommu)):
        api.warn(f"{one.message} {one.remedy}")


def write(api: Api, params: StackParams, draft: Draft) -> Foreign | None:
    """Apply the policy; return a foreign one with its differences, changed only with adopt: take."""
    live = draft.live
    if draft.other is None or live is None:
        api.apply(draft.wanted, force_conflicts=live is not None, live=live)
        return None
    return draft.other._replace(differs=settle_foreign(api, params.adopt, POLICY, draft.wanted, live))


def compare(params: StackParams, live: KubeObject) -> Foreign:
    """Return the differences between a foreign policy and the options."""
    return foreign(live, manifest.wished(params, live), f"ClusterPolicy {params.name}")


def _policies(api: Api, params: StackParams) -> list[KubeObject]:
    """Return all policies; none in check mode if the kind is not served: an earlier task may install it.

    Raise KindNotServedError else. Without OLM raise the error OLM-ABSENT, in check mode too.
    """
    try:
        return api.list(POLICY)
    except KindNotServedError as exc:
        if not api.served(known("Subscription")):
            from ..._olm import helm_values

            wishes = manifest.wished(params, {})
            raise helm_values.without_olm(api, helm_values.PACKAGE, wishes) from exc
        if not api.check_mode:
            from .. import diagnose

            diagnose.explain_absent(api, params.name, params.namespace, CHAIN, exc)
            raise
        return []


def observe_policy(api: Api, params: LookParams, also: ExtraCauses | None = None) -> Snapshot:
    """Wait until the stack works, and return the last snapshot.

    also: queries and judge of a backend that builds on this one.
    """
    queries = {"policies": Query(POLICY), **stack_queries(params), "streams": toolkit_query()}
    if any(map(virtual_machines.has_vgpus, params.pools)):
        configs = virtual_machines.config_map(params.pools)
        queries["vgpu_configs"] = Query(known("ConfigMap"), params.namespace, configs)
    judge = Judge(params, api.clock)

    def result(seen: Snapshot, findings: list[Finding]) -> dict[str, t.Any]:
        return summarize({**seen, **_monitoring(api, params.namespace)}, params.name, params.pools, findings)

    wait = Wait("GPU stack", {**queries, **(also.queries if also else {})}, judge, PODS, result)
    snapshot = observe(api, params, wait, also.over(judge) if also else None)
    if judge.looks < 2:
        # The stack worked already: no further request.
        return snapshot
    snapshot = {**snapshot, **_monitoring(api, params.namespace)}
    if "monitors" in snapshot:
        found = judge_metrics(snapshot, named(snapshot["policies"], params.name))
        if found.verdict == FAILED:
            said = "; ".join(found.evidence)
            api.warn(f"The GPUs' metrics do not reach the cluster's monitoring: {said}.")
    return snapshot


def _monitoring(api: Api, object_name: str) -> dict[str, list[KubeObject]]:
    """Return the objects that collect metrics, by two small requests; empty if a request fails."""
    with contextlib.suppress(AcceleratorError):
        namespace = api.get(known("Namespace"), object_name)
        monitors = api.list(known("ServiceMonitor"), object_name)
        return {"namespaces": [namespace] if namespace else [], "monitors": monitors}
    return {}


def absent(api: Api, params: StackParams) -> dict[str, t.Any]:
    if params.only_pools:
        return virtual_machine_steps.give_back(api, params)
    ends = consent.ask(api, removal(api, params.name), params.on_busy, BUSY)
    return remove(api, params, ends)


def removal(api: Api, object_name: str) -> list[Question]:
    try:
        live = api.get(POLICY, object_name)
    except KindNotServedError:
        return []
    if not owned(live):
        return []
    cause = f"ClusterPolicy {object_name} is deleted, and with it driver and device plugin"
    by = "the garbage collector"
    driven = Question(cause, by, driver.DRIVEN, is_certain=False, order="all nodes at once")
    return [driven, *([virtual_machines.removal()] if at(live, "spec.sandboxWorkloads.enabled") else [])]


def remove(api: Api, params: StackParams, ends: list[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Delete the policy of this collection, and wait until no operand is left. Return the result."""
    virtual_machine_steps.remove(api, params)
    if api.delete(POLICY, params.name):
        wait_gone(api, params, "GPU stack leaves")
    virtual_machine_steps.forget(api, params.pools)
    remove_labels(api, params)
    return {
        "name": params.name,
        "state": "absent",
        "reason": "",
        "driver_version": "",
        "nodes": [],
        "ends": ends,
    }


def remove_labels(api: Api, params: StackParams) -> None:
    """Take away the labels that the GPU operator leaves, if the task asks for it.

    They stay, with a warning, while a foreign stack uses them. The labels by which an interrupted upgrade of
    ours holds nodes back go in any case: without a stack that ends nothing.
    """
    held = [one for one in api.list(known("Node"), labels=f"{upgrade.SKIP}=true") if upgrade.is_held(one)]
    if not held and not params.remove_labels:
        return
    kinds = [kind for kind in (POLICY, known("GPUCluster")) if api.served(kind)]
    foreign = [one for kind in kinds for one in api.list(kind) if not owned(one)]
    for node in held:
        if foreign:
            api.warn(f"{name(node)}: {upgrade.holder(node)} holds the driver back. {upgrade.GO_ON}")
        else:
            api.merge_patch(known("Node"), name(node), None, upgrade.FREE)
    if not params.remove_labels:
        return
    if foreign:
        named = ", ".join(f"{one['kind']} {name(one)}" for one in foreign)
        api.warn(f"The labels of the GPU operator stay: {named} uses them.")
        return
    for node in api.list(known("Node")):
        if keys := left_labels.of_node(node):
            api.merge_patch(known("Node"), name(node), None, left_labels.without(keys))
    space = api.get(known("Namespace"), params.namespace)
    if space is not None and (keys := left_labels.of_namespace(space)):
        api.merge_patch(known("Namespace"), name(space), None, left_labels.without(keys))


def wait_gone(api: Api, params: StackParams, object_name: str) -> None:
    """Wait until no operand of the GPU operator and no pod of a DaemonSet is left."""
    queries = {kind: one for kind, one in stack_queries(params).items() if kind in ("daemonsets", "pods")}
    api.wait(queries, judge_gone, object_name)
