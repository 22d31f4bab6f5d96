# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the module preflight_update: look at everything that an update needs, and write nothing."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import AcceleratorError, ForbiddenError, KindNotServedError
from .._core.objects import KubeObject, oldest
from .._frame.argspec import WaitParams
from .._impact import consent, driver
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import drain
from .._nodes.labels import has_nvidia_pci, labels
from .._olm import versions
from .._stack.drivers import image, kernel
from .._stack.drivers.steps import look_up
from .._stack.drivers.toolkit import BY_IMAGE, NAMESPACE, STREAM
from . import drivers, modules, operator_support, release as update_release, rollout
from .check import UNKNOWN, Check, refusal, table, worst
from .release import Target


class PreflightUpdateParams(WaitParams):
    """The options of preflight_update. version, kernel, rhcos: of the release to update to."""

    version: str
    kernel: str | None
    rhcos: str | None
    driver_images: list[str] | None
    namespaces: list[str]
    gpu_namespace: str
    fail_on: t.Literal["blocking", "warning", "unknown", "never"]


KMM: t.Final = "kmm.sigs.x-k8s.io"
# Kinds by which KMM verifies its Modules for a kernel.
VALIDATIONS: t.Final = ("PreflightValidation", "PreflightValidationOCP")


def check(api: Api, params: PreflightUpdateParams) -> dict[str, t.Any]:
    """Return running, version, checks, verdict and table.

    Raises AcceleratorError, with the same facts, if a check is as severe as fail_on.
    """
    version = params["version"]
    images = None if params["driver_images"] is None else frozenset(params["driver_images"])
    kernel_, rhcos = params["kernel"] or "", params["rhcos"] or ""
    target = Target(version, update_release.release(version), kernel_, rhcos, images)
    cluster = api.get(known("ClusterVersion"), "version")
    if cluster is None:
        remedy = "Only OpenShift has it: this module cannot check the update of another distribution."
        raise AcceleratorError("UPDATE-CLUSTER", "There is no ClusterVersion named version.", remedy)
    checks = all_checks(api, params, target, cluster)
    facts = {
        "running": update_release.current(cluster),
        "version": version,
        "checks": [one.as_result() for one in checks],
        "verdict": worst(checks),
        "table": table(checks),
    }
    if error := refusal(checks, params["fail_on"]):
        error.facts.update(facts)
        raise error
    return facts


def all_checks(api: Api, params: PreflightUpdateParams, target: Target, cluster: KubeObject) -> list[Check]:
    """Return every check, in the order of the table. cluster: the ClusterVersion."""
    now = update_release.current(cluster)
    checks = update_release.checks(cluster, api.list_if_served(known("ClusterOperator")), target.version)
    csvs = [
        csv
        for namespace in params["namespaces"]
        for csv in api.list_if_served(known("ClusterServiceVersion"), namespace)
    ]
    running = update_release.release(now) if now else target.release
    checks += operator_support.checks(csvs, running, target.release)
    target = target._replace(operator=versions.gpu_operator(csvs))
    gpus = [node for node in api.list(known("Node")) if has_nvidia_pci(labels(node))]
    checks += driver_checks(api, params, gpus, target)
    checks += or_unknown("NIC driver image", "UPDATE-DRIVER", lambda: nic_checks(api, target))
    checks += or_unknown("modules", "UPDATE-KMM", lambda: module_checks(api, target))
    return checks + rollout_checks(api, gpus)


def or_unknown(name: str, code: str, look: t.Callable[[], list[Check]]) -> list[Check]:
    """Return the checks, or one unknown check if the identity may not read what they need."""
    try:
        return look()
    except ForbiddenError as exc:
        return [Check(name, UNKNOWN, exc.message, exc.remedy, code)]


def driver_checks(
    api: Api, params: PreflightUpdateParams, gpus: list[KubeObject], target: Target
) -> list[Check]:
    """Return the checks of the GPU drivers. The operator uses only the oldest ClusterPolicy."""
    policy = oldest(api.list_if_served(known("ClusterPolicy")))
    if not policy or not gpus:
        return drivers.checks([], [], target, {})
    namespace = params["gpu_namespace"]
    stream = api.get(known("ImageStream"), STREAM, NAMESPACE)
    snapshot = {
        "daemonsets": api.list(known("DaemonSet"), namespace),
        "pods": api.list(known("Pod"), namespace),
        "streams": [stream] if stream else [],
    }
    matches = [kernel.match(node, policy, snapshot) for node in gpus]
    return drivers.checks(matches, snapshot["streams"], target, known_of(api, matches, target, namespace))


def known_of(api: Api, matches: t.Sequence[kernel.Match], target: Target, namespace: str) -> drivers.Answers:
    """Return what is known of the images: from the user's list for precompiled drivers, else the cluster."""
    by_user = [one for one in matches if target.images is not None and one.source == BY_IMAGE]
    asked = drivers.driver_images([one for one in matches if one not in by_user], target)
    found = look_up(api, (image for names in asked for image in names), namespace)
    return {**found, **drivers.given(drivers.driver_images(by_user, target), target.images or ())}


def nic_checks(api: Api, target: Target) -> list[Check]:
    """Return the check of the network adapters' driver images; empty without such a driver."""
    found = consent.nic_policies(api)
    policies = found if driver.has_nic_driver(found) else []
    live = api.list(known("DaemonSet"), labels=drivers.NIC_DRIVER) if policies else []
    needs = drivers.nic_driver_images(live, policies, target)
    if not needs:
        return []
    answers = look_up(api, (image for names in needs for image in names), live[0]["metadata"]["namespace"])
    return [drivers.judged("NIC driver image", needs, answers, "UPDATE-DRIVER", drivers.kernel_of(target))]


def module_checks(api: Api, target: Target) -> list[Check]:
    """Return a check for each Module of KMM."""
    live = api.list_if_served(known("Module"))
    validations = [one for kind in VALIDATIONS for one in proofs(api, kind)] if live else []
    answers: dict[str, image.Answer] = {}
    for namespace in sorted({one["metadata"]["namespace"] for one in live}):
        mine = (
            image
            for one in live
            if one["metadata"]["namespace"] == namespace
            for image in drivers.module_image(one, target)
        )
        answers |= look_up(api, mine, namespace)
    return modules.checks(live, validations, target, answers)


def proofs(api: Api, kind: str) -> list[KubeObject]:
    """Return the validations of this kind. Older releases of KMM serve only the older version."""
    for version in ("v1beta2", "v1beta1"):
        with contextlib.suppress(KindNotServedError):
            return api.list(api.resolve(f"{KMM}/{version}", kind))
    return []


def rollout_checks(api: Api, gpus: list[KubeObject]) -> list[Check]:
    """Return the checks of the rollout: pools, GPU nodes, their pods, and disruption budgets."""
    names = frozenset(node["metadata"]["name"] for node in gpus)

    def covered(budget: KubeObject) -> list[KubeObject]:
        wanted = rollout.selector(budget)
        if wanted is None:
            return []
        return api.list(known("Pod"), budget["metadata"]["namespace"], labels=wanted or None)

    def of_gpus(pod: KubeObject) -> KubeObject | None:
        return pod if drain.node_of(pod) in names else None

    pods = api.list(known("Pod"), keep=of_gpus) if names else []
    return [
        *rollout.pools(api.list_if_served(known("MachineConfigPool"))),
        *([rollout.nodes(gpus), rollout.workloads(pods)] if gpus else []),
        *rollout.budgets(api.list(known("PodDisruptionBudget")), covered),
    ]
