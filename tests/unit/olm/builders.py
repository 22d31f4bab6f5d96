"""Objects of OLM for its tests: Subscription, InstallPlan, CSV, and what a wait sees."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    subscription as olm_subscription,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.subscription import OperatorParams

Object = dict[str, t.Any]
V1, V2 = "nfd.v1.0.0", "nfd.v1.1.0"
OURS = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
ASK = olm_subscription.Ask("nfd", path=frozenset({V1, V2}), head=V2)


def subscription(
    name: str = "nfd",
    namespace: str = "openshift-nfd",
    package: str = "nfd",
    conditions: t.Sequence[Object] = (),
    **status: t.Any,
) -> Object:
    spec = {
        "name": package,
        "channel": "stable",
        "source": "redhat-operators",
        "sourceNamespace": "openshift-marketplace",
    }
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}"}
    return {
        "kind": "Subscription",
        "metadata": metadata,
        "spec": spec,
        "status": {**status, "conditions": list(conditions)},
    }


def at(installed: str, current: str, plan: str = "p", **more: t.Any) -> Object:
    return subscription(installedCSV=installed, currentCSV=current, installPlanRef={"name": plan}, **more)


def condition(kind: str, reason: str = "", message: str = "") -> Object:
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def plan(phase: str, *csvs: str, approved: bool = False, name: str = "p") -> Object:
    return {
        "metadata": {"name": name, "namespace": "n"},
        "spec": {"clusterServiceVersionNames": list(csvs), "approved": approved},
        "status": {"phase": phase},
    }


def csv(name: str, phase: str, reason: str = "", **status: t.Any) -> Object:
    metadata = {
        "name": name,
        "namespace": "openshift-nfd",
        "uid": name,
        "labels": {"operators.coreos.com/nfd.openshift-nfd": ""},
    }
    return {
        "kind": "ClusterServiceVersion",
        "metadata": metadata,
        "spec": {"version": name[-5:]},
        "status": {"phase": phase, "reason": reason, **status},
    }


def seen(live: Object | None, plans: t.Sequence[Object] = (), csvs: t.Sequence[Object] = ()) -> Snapshot:
    return {"subscription": [live] if live else [], "plans": plans, "csvs": csvs}


WAITING = plan("RequiresApproval", V2)
BOTH = condition(
    "ResolutionFailed",
    "ConstraintsNotSatisfiable",
    f"constraints not satisfiable: @existing/n//{V1} and @existing/n//{V2} originate from nfd, x",
)
GONE = condition(
    "ResolutionFailed",
    "ConstraintsNotSatisfiable",
    "constraints not satisfiable: @existing/n//nfd.v0.9.0 and y",
)
DONE = plan("Complete", V2, approved=True)
UPGRADE = replace(ASK, approve="upgrade")
V3 = "nfd.v1.2.0"
PAST = replace(UPGRADE, csv=V2, channel="stable", held=frozenset({V1, V2, V3}), leading=("v1",))
RESOLUTION = condition(
    "ResolutionFailed",
    "ConstraintsNotSatisfiable",
    "constraints not satisfiable: no operators found in channel x",
)


def params(**given: t.Any) -> OperatorParams:
    plain: OperatorParams = {
        "state": "present",
        "wait": True,
        "wait_timeout": 1800,
        "lock_timeout": 0,
        "name": "nfd",
        "namespace": "openshift-nfd",
        "namespace_labels": {},
        "channel": None,
        "csv": None,
        "config": None,
        "source": None,
        "source_namespace": "openshift-marketplace",
        "install_mode": None,
        "approve": "install",
        "approval": "Manual",
        "until": "installed",
        "allow_csvs": [],
        "adopt": "report",
        "driver_change": "ask",
        "on_busy": "fail",
        "grace": 60.0,
        "force": False,
        "remove_crds": False,
    }
    return t.cast(OperatorParams, {**plain, **given})
