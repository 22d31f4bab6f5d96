# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer operators: what OLM says of the operators, their own pods, and nodes that lack a stack.

An operator that is installed and works is in order, also while its upgrade waits: notes say so.
"""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU_CLASS
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, at, name, named, number_of, oldest
from .._core.ownership import owned, pool_of
from .._core.readiness import Readiness
from .._kube.kinds import known
from .._kube.session import Query
from .._monitoring.judge import stack
from .._nodes.labels import has_nvidia_pci, labels
from .._olm import catalogue, csv as olm_csv, observed, plans, progress, unpack
from .._olm.settings import assignment
from .._olm.subscription import NEVER, Ask
from .._stack import olm_stages, pods
from .._stack.operands import pod_is_ready, ready_since
from . import model, seen as reads
from .model import Layer, Seen, Trouble

GPU, NFD = "gpu-operator-certified", "nfd"
# Package -> how the names of its operator's pods begin, and the layers that wait for it.
_PACKAGES: t.Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    GPU: ("gpu-operator-", model.above(model.OPERATORS, model.NFD, model.NIC)),
    NFD: ("nfd-controller-manager-", (model.NFD,)),
    "nvidia-network-operator": ("nvidia-network-operator-controller-manager-", (model.NIC,)),
    "kernel-module-management": ("kmm-operator-", ("modules",)),
    "kueue-operator": ("openshift-kueue-operator-", ("queues",)),
}
# The operators without which no GPU works: their CSVs are always read, unless a NIC stack needs the requests.
_WITH_CSV: t.Final = (GPU, NFD)
# Seconds that an installation takes, and after which a complaint of OLM counts that often passes.
_INSTALLS, _PASSES = 600.0, 60.0
_PASSING: t.Final = ("ResolutionFailed", observed.UNPACKING, "CatalogSourcesUnhealthy")
_MOST: t.Final = 3


def _package(live: KubeObject) -> str:
    return str(at(live, "spec.name"))


def _place(obj: KubeObject) -> str:
    return str(obj["metadata"].get("namespace") or "")


def _subscriptions(seen: Seen) -> list[KubeObject]:
    return [one for one in seen.of("subscriptions") if _package(one) in _PACKAGES]


def _csv(live: KubeObject, field: str = "installedCSV") -> str:
    """Return the name under which the walk has the CSV of this field; empty if OLM has chosen none."""
    csv = at(live, f"status.{field}")
    return f"CSV {_place(live)}/{csv}" if csv else ""


def _works(live: KubeObject, seen: Seen) -> bool:
    """Return whether the operator is installed, and its CSV has succeeded or was not read."""
    key = _csv(live)
    return bool(key) and (key not in seen.objects or olm_csv.phase(_first(seen, key)) == "Succeeded")


def _first(seen: Seen, key: str) -> KubeObject | None:
    return next(iter(seen.of(key)), None)


def _is_settled(live: KubeObject, seen: Seen) -> bool:
    """Return whether OLM has installed what it chose and complains of nothing, as far as was read."""
    complains = any(plans.condition(live, one) for one in (*_PASSING, observed.FAILED, "InstallPlanFailed"))
    is_here = _package(live) == GPU and "pods" in seen.objects and _place(live) == _home(seen)
    is_down = is_here and not any(map(pod_is_ready, _pods(seen, GPU)))
    return _works(live, seen) and _csv(live) == _csv(live, "currentCSV") and not complains and not is_down


def _home(seen: Seen) -> str:
    return next((name(one) for one in seen.of("namespaces")), reads.GPU)


def _pods(seen: Seen, package: str) -> list[KubeObject]:
    """Return the operator's own pods, without those of the NFD that the GPU operator's chart brings."""
    places = {f"pods of {_place(one)}" for one in _subscriptions(seen)}
    every = [*seen.of("pods"), *(pod for key in sorted(places) for pod in seen.of(key))]
    own = [one for one in every if name(one).startswith(_PACKAGES[package][0])]
    own = [one for one in own if "node-feature-discovery" not in name(one)]
    return [one for one in own if at(one, "status.phase") != "Succeeded"]  # a hook of the chart has ended


def more(seen: Seen) -> dict[str, Query]:
    """Return what explains an operator that is not settled, and what may serve nodes without a stack."""
    found = {"classes": Query(known("DeviceClass"))} if _bare(seen) else {}
    late = [one for one in _subscriptions(seen) if not _is_settled(one, seen)][:_MOST]
    for live in _subscriptions(seen):
        place, status, spec = _place(live), live.get("status") or {}, live["spec"]
        is_wanted = live in late or (_package(live) in _WITH_CSV and not seen.of("nics"))
        for key in filter(None, (_csv(live), _csv(live, "currentCSV")) if is_wanted else ()):
            found[key] = Query(known("ClusterServiceVersion"), place, key.rpartition("/")[2])
        if live not in late:
            continue
        if plan := at(status, "installPlanRef.name"):
            found[f"InstallPlan {place}/{plan}"] = Query(known("InstallPlan"), place, plan)
        found[f"groups of {place}"] = Query(known("OperatorGroup"), place)
        if place != _home(seen):
            found[f"pods of {place}"] = Query(known("Pod"), place)
        source = spec["sourceNamespace"]
        if plans.condition(live, observed.UNPACKING) or plans.condition(live, observed.FAILED):
            found |= {"jobs": Query(known("Job"), source), "job_pods": Query(known("Pod"), source)}
        if source != reads.MARKET:
            found[f"catalogs of {source}"] = Query(known("CatalogSource"), source)
        elif not named(seen.of("catalogs"), spec["source"]):
            found["hub"] = Query(known("OperatorHub"), None, "cluster")
    return found


def judge(seen: Seen) -> t.Iterator[Trouble]:
    """Yield a trouble for each operator that is not installed or does not run; a crash comes before OLM."""
    late = {_package(one): found for one in _subscriptions(seen) if (found := _late(one, seen))}
    down = {package: found for package in _PACKAGES if (found := _down(package, seen))}
    every = late | down
    yield from every.values()
    if GPU not in every:
        yield from _without_stack(seen)


def _late(live: KubeObject, seen: Seen) -> Trouble | None:
    """Return why the operator is not installed or does not work; None if it works, or nothing is known."""
    package, place = _package(live), _place(live)
    csvs = {key: _first(seen, key) for key in (_csv(live), _csv(live, "currentCSV"))}
    plan = seen.of(f"InstallPlan {place}/{at(live, 'status.installPlanRef.name')}")
    snapshot = {"subscription": [live], "plans": plan, "csvs": [one for one in csvs.values() if one]}
    if _works(live, seen):
        return None
    state = _state(live, snapshot, seen)
    if isinstance(state, Readiness) and state.is_ready:
        return None
    catalogs = [one for one in _catalogs(live, seen) or () if name(one) == live["spec"]["source"]]
    told = olm_stages.judge({**snapshot, "subscriptions": [live], "catalogs": catalogs}, package)
    stamps = [str(live["metadata"].get("creationTimestamp") or "")]
    stamps += [str(at(one, "status.lastTransitionTime") or "") for one in snapshot["csvs"]]
    since = max(stamps + [one.since for one in told if one.verdict != "ready"])
    limit, error = 0.0, state
    if isinstance(error, Readiness):
        limit = _PASSES if error.reason in _PASSING else 0.0 if error.is_failed else _INSTALLS
        error = AcceleratorError(error.code, error.message, error.remedy, error.details)
    if error.code == "OLM-UNPACK":
        stuck = unpack.stuck_jobs(seen.of("jobs"), seen.of("job_pods"))
        error = unpack.with_jobs(error, stuck, live["spec"]["sourceNamespace"])
    error.evidence += [
        f"{one.name}{f' since {one.since}' * bool(one.since)}: {line}"
        for one in told
        for line in one.evidence
    ]
    more = {"since": since, "is_busy": seen.is_recent(since, limit)}
    about = f"Subscription {place}/{name(live)}"
    return model.of_error(model.OPERATORS, about, error, explains=_PACKAGES[package][1], **more)


def _catalogs(live: KubeObject, seen: Seen) -> list[KubeObject] | None:
    """Return the catalogues of the Subscription's source namespace, None if they were not read."""
    source = live["spec"]["sourceNamespace"]
    return seen.objects.get("catalogs" if source == reads.MARKET else f"catalogs of {source}")


def _state(
    live: KubeObject, snapshot: dict[str, list[KubeObject]], seen: Seen
) -> Readiness | AcceleratorError:
    """Return what OLM waits for: its groups and its catalogue come before what it says itself."""
    package, place, plan = _package(live), _place(live), plans.current_plan(snapshot)
    groups = seen.of(f"groups of {place}")
    if len(groups) != 1 and f"groups of {place}" in seen.objects:
        kept = next(filter(owned, groups), oldest(groups))
        others = [name(one) for one in groups if one is not kept]
        every = ", ".join(map(name, groups)) or "none"
        why = f"there are {len(groups)} ({every}), and OLM works only with exactly one"
        do = f"oc delete operatorgroup {' '.join(others)} -n {place}" if groups else model.INSTALL
        remedy = f"Run `{do}`. No pod ends."
        return AcceleratorError(
            "OLM-GROUP", remedy=remedy, package=package, namespace=place, why=why, setting="", place=""
        )
    if not plans.status(snapshot, "installedCSV"):
        catalogs, source = _catalogs(live, seen), live["spec"]["source"]
        catalog = named(catalogs or (), source)
        is_served = catalog and catalogue.catalog_state(catalog) in plans.USABLE
        if catalogs is not None and not is_served:
            return catalogue.missing(package, source, [], catalogs, _first(seen, "hub"))
        if plan and plans.awaits_approval(plan):
            path = frozenset({str(at(live, "status.currentCSV"))})
            where = f"InstallPlan {place}/{name(plan)}"
            patch = f"oc patch installplan {name(plan)} -n {place} --type merge -p"
            remedy = f'Run `{patch} \'{{"spec":{{"approved":true}}}}\'`.'
            waits = AcceleratorError("OLM-PENDING", remedy=remedy, state=f"{where} waits for an approval")
            return progress.refuse(plan, Ask(package, path=path)) or waits
    return progress.judge(snapshot, Ask(package, NEVER))


def _down(package: str, seen: Seen) -> Trouble | None:
    """Return why none of the operator's pods runs; None if one does, or may still start."""
    own = _pods(seen, package)
    if not own or any(map(pod_is_ready, own)):
        return None
    pod = min(own, key=lambda one: (pods.trouble(one) is None, name(one)))
    place, ill, since = _place(pod), pods.trouble(pod) or pods.refused(pod), ready_since(pod)
    if ill is None and seen.is_recent(since, _INSTALLS):
        return None
    why, do, log = pods.unscheduled(pod) or " is not Ready", f"oc describe pod {name(pod)} -n {place}", None
    if ill:
        why = f", container {ill.container}: {ill.reason}, {ill.restarts} restarts: {ill.message}"
        if ill.has_log:
            log = (place, name(pod), ill.container)
            do = f"oc logs {name(pod)} -n {place} -c {ill.container} --previous"
    facts = {"package": package, "why": f"pod {place}/{name(pod)}{why}", "todo": f"Run `{do}`."}
    if ill and ill.is_out_of_memory:
        setting = assignment(package, "config", "{resources: {limits: {memory: 2Gi}}}")
        facts["todo"] = f"Set {setting}, and run `{model.INSTALL}`."
    every = [
        end for one in at(pod, "status.containerStatuses") or [] if (end := at(one, "lastState.terminated"))
    ]
    more: dict[str, t.Any] = {"since": since, "log": log, "explains": _PACKAGES[package][1]}
    more["evidence"] = tuple(
        f"{end.get('finishedAt')}: {name(pod)} ended: {end.get('reason')}, exit code {end.get('exitCode')}"
        for end in every
    )
    return model.trouble(model.OPERATORS, "OLM-OPERATOR-DOWN", f"Pod {place}/{name(pod)}", facts, **more)


def _bare(seen: Seen) -> list[KubeObject]:
    """Return the nodes that should have GPUs, and have neither devices nor a stack that may bring them."""
    if stack(seen.of("policies"), seen.of("clusters")) or {"policies", "clusters"} & seen.unread.keys():
        return []
    nodes = [one for one in seen.of("nodes") if not any(map(_is_device, at(one, "status.allocatable") or {}))]
    return [one for one in nodes if pool_of(one) or (has_nvidia_pci(labels(one)) and not seen.of("nics"))]


def _is_device(resource: str) -> bool:
    return "/" in resource and not resource.startswith("devices.kubevirt.io/")


def _without_stack(seen: Seen) -> t.Iterator[Trouble]:
    nodes = _bare(seen)
    if not nodes or seen.of("modules") or named(seen.of("classes"), GPU_CLASS):
        return
    shown = ", ".join([*map(name, nodes[:_MOST]), *(["…"] if nodes[_MOST:] else [])])
    own = [at(one, "status.installedCSV") for one in _subscriptions(seen) if _package(one) == GPU]
    facts = {"nodes": f"{number_of(len(nodes), 'node')} ({shown})"}
    lines = (f"the GPU operator is installed: {own[0]}" if own else f"there is no Subscription to {GPU}",)
    yield model.trouble(model.OPERATORS, "GPU-NO-STACK", "the GPU stack", facts, evidence=lines)


def notes(seen: Seen) -> t.Iterator[str]:
    """Yield what keeps operators that work from an upgrade, and that no node has a GPU."""
    if not seen.of("nodes") and "nodes" not in seen.unread:
        yield "no node has a GPU or belongs to a pool, as far as its labels tell"
    packages = {_package(one) for one in _subscriptions(seen)}
    if seen.of("nfd") and GPU in packages and NFD not in packages:
        yield f"no Subscription to {NFD}: OLM does not keep the operator of the NodeFeatureDiscovery"
    for live in _subscriptions(seen):
        installed, where = at(live, "status.installedCSV"), f"Subscription {_place(live)}/{name(live)}"
        if not _works(live, seen):
            continue
        catalog, plan = (
            named(_catalogs(live, seen) or (), live["spec"]["source"]),
            at(live, "status.installPlanRef.name"),
        )
        if plans.awaits_approval(_first(seen, f"InstallPlan {_place(live)}/{plan}")):
            yield f"{where}: the upgrade to {at(live, 'status.currentCSV')} waits for your approval"
        elif catalog and catalogue.catalog_state(catalog) not in plans.USABLE:
            yield f"{where}: it gets no upgrade, because CatalogSource {name(catalog)} does not answer"
        elif bad := observed.trouble(live, _package(live)):
            yield f"{where}: {installed} works, and gets no upgrade: {bad.message}"


LAYER: t.Final = Layer(model.OPERATORS, ("subscriptions", "policies", "clusters"), judge, notes, more)
