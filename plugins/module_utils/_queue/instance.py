# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The object Kueue of Red Hat's operator: what it says, whether it is available, why it cannot be made."""

from __future__ import annotations

import typing as t

from .._catalogue import kueue
from .._core import conditions
from .._core.errors import AcceleratorError, InputError, text_of
from .._core.objects import KubeObject, Snapshot, at
from .._core.readiness import Grace, Readiness, pending, ready, worst
from .options import GpuQueueParams

# All facts of this file are from github.com/openshift/kueue-operator at dc3b6577 (2026-08-22): the kind and
# its fields from pkg/apis/kueueoperator/v1/types.go, the rest from pkg/operator/target_config_reconciler.go.
# The operator makes nothing before the cluster serves this kind of cert-manager, at this version.
CERTIFICATES: t.Final = ("cert-manager.io/v1", "Issuer")
# Name of the Deployment of Kueue. Upstream's release calls it the same (config/default of sigs.k8s.io/kueue).
CONTROLLER: t.Final = "kueue-controller-manager"
# Reason of the condition Available without cert-manager.
_NO_CERTIFICATES: t.Final = "MissingDependency"
CODE: t.Final = "QUEUE-NOT-AVAILABLE"
PASSING: t.Final = ("QUEUE-NO-CERT-MANAGER",)
PATH: t.Final = "gpu_policy_queue_operator_frameworks"


class Instance(t.NamedTuple):
    """What the object is to say. frameworks: kinds of jobs. namespace: of the operator."""

    frameworks: tuple[str, ...]
    namespace: str


def read(params: GpuQueueParams) -> Instance | None:
    """Return the object that the task asks for, or None. Raises InputError; sends no request."""
    given = params["instance"]
    if given is None:
        return None
    frameworks = given["frameworks"]
    twice = [framework for framework in dict.fromkeys(frameworks) if frameworks.count(framework) > 1]
    if not frameworks or twice:
        fault = f"has {twice[0]} twice" if twice else "is empty, and Kueue would manage no job"
        remedy = f"Set {PATH}: [BatchJob] (module option instance.frameworks)."
        raise InputError("INPUT-VALUE", f"{PATH} {fault}.", remedy)
    return Instance(tuple(frameworks), given["namespace"])


def build(wanted: Instance, theirs: KubeObject | None = None) -> KubeObject:
    """Return the object to apply. theirs: that of others, whose frameworks stay."""
    held = at(theirs or {}, "spec.config.integrations.frameworks") or ()
    frameworks = list(dict.fromkeys((*held, *wanted.frameworks)))
    return {
        "apiVersion": kueue.RED_HATS,
        "kind": kueue.INSTANCE,
        "metadata": {"name": kueue.CLUSTER},
        "spec": {"managementState": "Managed", "config": {"integrations": {"frameworks": frameworks}}},
    }


class Judge:
    """Judge the object. The operator looks for cert-manager again when it has just been installed."""

    def __init__(self, wanted: Instance, clock: t.Callable[[], float], grace: float) -> None:
        self._wanted, self._grace = wanted, Grace(clock, grace, PASSING)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        live = next(iter(snapshot["instance"]), None)
        return worst(self._grace.harden([judge(live, self._wanted)]))


def judge(live: KubeObject | None, wanted: Instance) -> Readiness:
    """Return ready when Kueue answers. The operator says Available only after it has made Kueue's CRDs."""
    available = conditions.find(live, "Available")
    if live is not None and available.get("status") == "True":
        return ready("Available")
    if available.get("reason") == _NO_CERTIFICATES:
        return pending(
            _NO_CERTIFICATES, **text_of("QUEUE-NO-CERT-MANAGER", version=CERTIFICATES[0])._asdict()
        )
    why = str(available.get("message") or "its operator has not looked at it yet")
    text = text_of(CODE, name=kueue.CLUSTER, why=why, namespace=wanted.namespace)
    return pending(str(available.get("reason") or "NotSeen"), **text._asdict())


def degraded(live: KubeObject) -> str:
    """Return the warning about a Kueue that answers and lacks something, or ""."""
    found = conditions.find(live, "Degraded")
    if found.get("status") != "True":
        return ""
    return f"Kueue {kueue.CLUSTER} is degraded ({found.get('reason')}): {found.get('message')}"


def not_served(namespace: str) -> AcceleratorError:
    """Return the error for a Kueue that is to be there, and whose kinds the cluster does not serve."""
    why = f"the cluster does not serve its kinds ({kueue.GROUP}) yet"
    return AcceleratorError(CODE, name=kueue.CLUSTER, why=why, namespace=namespace)
