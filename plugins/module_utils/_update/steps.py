# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Before an update of OpenShift: everything that it needs is looked at, and nothing is written."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ForbiddenError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import (
    has_nvidia_pci,
    labels,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import kernel, lookup
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.steps import (
    look_up,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.toolkit import (
    BY_IMAGE,
    NAMESPACE,
    STREAM,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update import (
    drivers,
    images as update_images,
    operator_support,
    release as update_release,
    rollout,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    UNKNOWN,
    Check,
    refusal,
    table,
    worst,
)

Data = dict[str, t.Any]
KMM: t.Final = "kmm.sigs.x-k8s.io"
# The kinds of a proof that there is what a kernel needs.
VALIDATIONS: t.Final = ("PreflightValidation", "PreflightValidationOCP")


def ensure(api: Api, params: Data) -> Data:
    version = params["version"]
    release = update_release.release(version)
    images = None if params["driver_images"] is None else frozenset(params["driver_images"])
    target = drivers.Target(version, release, params["kernel"] or "", params["rhcos"] or "", images)
    cluster = api.get(known("ClusterVersion"), "version")
    if cluster is None:
        remedy = (
            "On other clusters the update is not OpenShift's, and this module has nothing to say about it."
        )
        raise AcceleratorError("UPDATE-CLUSTER", "There is no ClusterVersion named version.", remedy)
    now = update_release.current(cluster)
    checks = update_release.checks(cluster, listed(api, "ClusterOperator"), version)
    csvs = [
        csv for namespace in params["namespaces"] for csv in listed(api, "ClusterServiceVersion", namespace)
    ]
    checks += operator_support.checks(csvs, update_release.release(now) if now else release, release)
    gpus = [node for node in api.list(known("Node")) if has_nvidia_pci(labels(node))]
    checks += driver_checks(api, params, gpus, target)
    checks += or_unknown("NIC driver image", "UPDATE-DRIVER", lambda: nic_checks(api, target))
    checks += or_unknown("modules", "UPDATE-KMM", lambda: module_checks(api, target))
    checks += rollout_checks(api, gpus)
    facts = {
        "version": now,
        "target": version,
        "checks": [check.to_dict() for check in checks],
        "verdict": worst(checks),
        "table": table(checks),
    }
    if error := refusal(checks, params["fail_on"]):
        error.facts.update(facts)
        raise error
    return facts


def listed(api: Api, kind: str, namespace: str | None = None) -> list[Data]:
    """What a cluster without that kind has none of."""
    with contextlib.suppress(KindNotServedError):
        return api.list(known(kind), namespace)
    return []


def or_unknown(name: str, code: str, look: t.Callable[[], list[Check]]) -> list[Check]:
    """Operators that most clusters lack, and that an identity may not be allowed to look for."""
    try:
        return look()
    except ForbiddenError as exc:
        return [Check(name, UNKNOWN, exc.message, exc.remedy, code)]


def driver_checks(api: Api, params: Data, gpus: list[Data], target: drivers.Target) -> list[Check]:
    """The operator counts the oldest ClusterPolicy alone."""
    policies = sorted(
        listed(api, "ClusterPolicy"), key=lambda one: str(one["metadata"].get("creationTimestamp"))
    )
    if not policies or not gpus:
        return drivers.checks([], [], target, {})
    namespace = params["gpu_namespace"]
    stream = api.get(known("ImageStream"), STREAM, NAMESPACE)
    snapshot = {
        "daemonsets": api.list(known("DaemonSet"), namespace),
        "pods": api.list(known("Pod"), namespace),
        "streams": [stream] if stream else [],
    }
    matches = [kernel.match(node, policies[0], snapshot) for node in gpus]
    return drivers.checks(matches, snapshot["streams"], target, known_of(api, matches, target, namespace))


def known_of(
    api: Api, matches: t.Sequence[kernel.Match], target: drivers.Target, namespace: str
) -> update_images.Answers:
    """What the user says of precompiled drivers goes before what the cluster finds out."""
    told = [one for one in matches if target.images is not None and one.source == BY_IMAGE]
    asked = update_images.of_drivers([one for one in matches if one not in told], target)
    found = look_up(api, (image for names in asked for image in names), namespace)
    return {**found, **update_images.given(update_images.of_drivers(told, target), target.images or ())}


def nic_checks(api: Api, target: drivers.Target) -> list[Check]:
    policies = [one for one in listed(api, "NicClusterPolicy") if (one.get("spec") or {}).get("ofedDriver")]
    live = api.list(known("DaemonSet"), labels=update_images.NIC_DRIVER) if policies else []
    needs = update_images.of_nic_drivers(live, policies, target)
    if not needs:
        return []
    answers = look_up(api, (image for names in needs for image in names), live[0]["metadata"]["namespace"])
    return [
        update_images.judged(
            "NIC driver image", needs, answers, "UPDATE-DRIVER", update_images.kernel_of(target)
        )
    ]


def module_checks(api: Api, target: drivers.Target) -> list[Check]:
    modules = listed(api, "Module")
    validations = [one for kind in VALIDATIONS for one in proofs(api, kind)] if modules else []
    answers: dict[str, lookup.Answer] = {}
    for namespace in sorted({one["metadata"]["namespace"] for one in modules}):
        mine = (
            image
            for one in modules
            if one["metadata"]["namespace"] == namespace
            for image in update_images.of_module(one, target)
        )
        answers |= look_up(api, mine, namespace)
    return drivers.modules(modules, validations, target, answers)


def proofs(api: Api, kind: str) -> list[Data]:
    """Older releases of KMM serve the older version alone."""
    for version in ("v1beta2", "v1beta1"):
        with contextlib.suppress(KindNotServedError):
            return api.list(api.resolve(f"{KMM}/{version}", kind))
    return []


def rollout_checks(api: Api, gpus: list[Data]) -> list[Check]:
    names = frozenset(node["metadata"]["name"] for node in gpus)

    def covered(budget: Data) -> list[Data]:
        wanted = rollout.selector(budget)
        return (
            []
            if wanted is None
            else api.list(known("Pod"), budget["metadata"]["namespace"], labels=wanted or None)
        )

    pods = (
        api.list(known("Pod"), keep=lambda pod: pod if drain.node_of(pod) in names else None) if names else []
    )
    return [
        *rollout.pools(listed(api, "MachineConfigPool")),
        *([rollout.nodes(gpus), rollout.workloads(pods)] if gpus else []),
        *rollout.budgets(api.list(known("PodDisruptionBudget")), covered),
    ]
