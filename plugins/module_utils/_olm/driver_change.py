# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of the GPU driver by an upgrade of the GPU operator: find them, and do what driver_change says.

A ClusterPolicy without a driver image gets the one of the operator's release, so an upgrade replaces the
driver.
An NVIDIADriver must name its image, so its driver stays.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue.well_known import DRIVER_VERSION
from .._core.errors import AcceleratorError, KindNotServedError, NotReadyError
from .._core.objects import KubeObject, Snapshot, number_of
from .._core.ownership import owned
from .._impact import consent
from .._impact.driver import DRIVEN
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import drain
from . import busy, csv as olm_csv, plans
from .helm_values import PACKAGE
from .settings import assignment
from .subscription import OperatorParams

PIN: t.Final = "pin"
ASK: t.Final = "ask"
ALLOW: t.Final = "allow"
_TRIPLE: t.Final = ("repository", "image", "version")
_SHOWN: t.Final = 10
_POLICY: t.Final = known("ClusterPolicy")
_NAME_IT: t.Final = (
    "Name driver.repository, driver.image and driver.version in the ClusterPolicy, then run again."
)


@dataclass(frozen=True)
class Change:
    """Change that an InstallPlan would make.

    plan: its name; empty while OLM has not made it. to: the new driver image; empty if the plan does not
    contain the next CSV. policies: the ClusterPolicies that leave the driver image to the operator.
    """

    plan: str
    csv: str
    next_csv: str
    image: str
    to: str
    policies: tuple[KubeObject, ...]

    @property
    def text(self) -> str:
        """Return the change as the beginning of a message, without a full stop."""
        names = ", ".join(policy["metadata"]["name"] for policy in self.policies)
        what, where = (f"InstallPlan {self.plan}", "plan") if self.plan else ("The upgrade", "catalogue")
        return (
            f"{what} replaces {self.csv} by {self.next_csv}, "
            f"and ClusterPolicy {names} sets no driver image, so the operator's default replaces the driver: "
            f"{self.image or 'unknown'} -> {self.to or f'unknown (the {where} does not show it)'}"
        )


def decide(
    api: Api, plan: KubeObject, seen: Snapshot, params: OperatorParams
) -> tuple[list[KubeObject], list[dict[str, t.Any]]]:
    """Do what driver_change and on_busy say.

    Return the facts about a change of the driver, and what the approval ends (the result's key `ends`).
    Raise OLM-DRIVER-CHANGE if driver_change is ask and the driver changes, OLM-BUSY if on_busy is fail and
    pods end. Both come before the first write.
    """
    try:
        policies = api.list(_POLICY)
    except KindNotServedError:
        return [], []
    running = olm_csv.named(seen["csvs"], plans.status(seen, "installedCSV"))
    following = busy.next_csv(api, plan)
    change = find(plan, running, following, policies)
    is_pinned = change is not None and params["driver_change"] == PIN
    if change is not None and is_pinned:
        check_pin(change, owned, params["adopt"] == "take")
        triple(change.image)
    facts = [] if change is None or is_pinned else [_accept(api, change, params["driver_change"])]
    drivers = busy.drivers(api, policies)
    asked = busy.about_drivers(plan, running, following, [*policies, *drivers])
    disruption = consent.ask(api, asked, params["on_busy"], busy.CODE)
    if change is not None and is_pinned:
        facts = [_pin(api, change)]
    return facts, disruption


def _accept(api: Api, change: Change, answer: str) -> KubeObject:
    """Return the facts about a change that is allowed; raise OLM-DRIVER-CHANGE if the task has to ask."""
    nodes = api.list(known("Node"), labels=DRIVEN)
    pods = api.list(known("Pod"), keep=at_work) if nodes else []
    if answer == ASK:
        raise refuse(change, nodes, pods)
    api.warn(f"{change.text} (driver_change: allow).")
    return {**summarize(change, nodes, pods), "action": ALLOW}


def _pin(api: Api, change: Change) -> KubeObject:
    driver = triple(change.image)
    for policy in change.policies:
        api.merge_patch(_POLICY, policy["metadata"]["name"], None, {"spec": {"driver": driver}})
    return {**summarize(change, [], []), "action": PIN, "to": change.image}


def at_work(pod: KubeObject) -> KubeObject | None:
    """Return the pod if it uses devices, else None."""
    return pod if drain.busy([pod], drain.ends_with_driver) else None


def default(csv: KubeObject | None) -> str:
    """Return the driver image that this CSV of the operator uses by default; empty if it names none."""
    spec = (csv or {}).get("spec") or {}
    deployments = ((spec.get("install") or {}).get("spec") or {}).get("deployments") or []
    containers = [
        container
        for deployment in deployments
        for container in deployment["spec"]["template"]["spec"].get("containers") or []
    ]
    for entry in (entry for container in containers for entry in container.get("env") or []):
        if entry.get("name") == "DRIVER_IMAGE" and entry.get("value"):
            return str(entry["value"])
    return next(
        (
            str(image["image"])
            for image in spec.get("relatedImages") or []
            if image.get("name") == "driver-image"
        ),
        "",
    )


def follows(policy: KubeObject) -> bool:
    """Return True if the ClusterPolicy leaves the driver image to the operator."""
    driver = (policy.get("spec") or {}).get("driver") or {}
    return (
        driver.get("enabled") is not False
        and not driver.get("useNvidiaDriverCRD")
        and not any(driver.get(key) for key in _TRIPLE)
    )


def find(
    plan: KubeObject,
    running: KubeObject | None,
    following: KubeObject | None,
    policies: t.Sequence[KubeObject],
) -> Change | None:
    """Return the change of the driver that the plan would make, or None.

    running, following: the installed CSV, and the next one if the plan contains it.
    """
    name = next((csv_name for csv_name in plans.names(plan) if csv_name.startswith(f"{PACKAGE}.")), "")
    followers = tuple(policy for policy in policies if follows(policy))
    before, after = default(running), default(following)
    if running is None or not name or not followers or (before == after and before):
        return None
    return Change(plan["metadata"]["name"], running["metadata"]["name"], name, before, after, followers)


def triple(image: str) -> dict[str, str]:
    """Return the image as repository, image and version, of which a ClusterPolicy needs all three."""
    path, at, version = image.partition("@")
    if not at:
        path, _colon, version = image.rpartition(":")
    elif ":" in path.rpartition("/")[2]:
        path = path.rpartition(":")[0]
    repository, _slash, name = path.rpartition("/")
    if not (repository and name and version):
        raise AcceleratorError(
            "OLM-DRIVER-PIN",
            why=f"its image cannot be read: {image or 'the operator has no driver image'}",
            remedy=_NAME_IT,
        )
    return {"repository": repository, "image": name, "version": version}


def check_pin(change: Change, ours: t.Callable[[KubeObject], bool], take: bool) -> None:
    """Raise OLM-DRIVER-PIN if a policy is foreign and the task may not take it over (take)."""
    theirs = [policy["metadata"]["name"] for policy in change.policies if not ours(policy)]
    if theirs and not take:
        raise AcceleratorError(
            "OLM-DRIVER-PIN",
            why=f"ClusterPolicy {', '.join(theirs)} was not created by this collection. {change.text}",
            remedy=f"Set {assignment(PACKAGE, 'adopt', 'take')} to let this module set it, or set "
            f"spec.driver there: {triple(change.image)}.",
            facts={"driver_change": summarize(change, [], [])},
        )


def refuse(change: Change, nodes: t.Sequence[KubeObject], pods: t.Sequence[KubeObject]) -> NotReadyError:
    """Return the failure of driver_change: ask, with the driver, the nodes and their pods."""
    facts = summarize(change, nodes, pods)
    names = [node["name"] for node in facts["nodes"]]
    pods_hit = f"{number_of(len(facts['pods']), 'pod')} with GPUs would have to end{_listed(facts['pods'])}"
    hit = f"{number_of(len(names), 'node')} would get it ({_some(names)}), and {pods_hit}"
    effect = hit if names else "No node has a driver now; the next one would get it"
    lines = [f"Node {node['name']}: driver {node['driver'] or 'unknown'}" for node in facts["nodes"]]
    evidence = [
        f"driver: {change.image or 'unknown'} -> {change.to or 'unknown'}",
        *lines,
        *(f"Pod {pod}" for pod in facts["pods"]),
    ]
    return NotReadyError(
        "OLM-DRIVER-CHANGE",
        change=change.text,
        effect=effect,
        evidence=evidence,
        facts={"driver_change": facts},
    )


def summarize(change: Change, nodes: t.Sequence[KubeObject], pods: t.Sequence[KubeObject]) -> KubeObject:
    """Return the facts about the change for the task's result."""
    names = {node["metadata"]["name"] for node in nodes}
    return {
        "from": change.image,
        "to": change.to,
        "csv": change.csv,
        "next_csv": change.next_csv,
        "policies": [policy["metadata"]["name"] for policy in change.policies],
        "nodes": [
            {
                "name": node["metadata"]["name"],
                "driver": (node["metadata"].get("labels") or {}).get(DRIVER_VERSION, ""),
            }
            for node in nodes
        ],
        "pods": [f"{drain.name(pod)} on {drain.node_of(pod)}" for pod in pods if drain.node_of(pod) in names],
    }


def _some(names: t.Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _listed(pods: t.Sequence[str]) -> str:
    return f" ({_some(pods)})" if pods else ""
