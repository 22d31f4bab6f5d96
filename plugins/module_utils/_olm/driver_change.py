# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A change of the GPU driver that an upgrade of the GPU operator brings: an empty driver image in the ClusterPolicy means the operator's own.

An NVIDIADriver always names its image (the operator asks for it), so an upgrade of the operator leaves its driver as it is.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_VERSION,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import plans
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.helm_values import PACKAGE

DRIVEN: t.Final = "nvidia.com/gpu.deploy.driver=true"
PIN: t.Final = "pin"
ASK: t.Final = "ask"
ALLOW: t.Final = "allow"
_TRIPLE: t.Final = ("repository", "image", "version")
_SHOWN: t.Final = 10


@dataclass(frozen=True)
class Change:
    """What an InstallPlan would do to the nodes. to is empty where the plan does not show the next operator. policies: those that follow the operator."""

    plan: str
    csv: str
    next_csv: str
    image: str
    to: str
    policies: tuple[KubeObject, ...]

    @property
    def text(self) -> str:
        names = ", ".join(one["metadata"]["name"] for one in self.policies)
        return (
            f"InstallPlan {self.plan} replaces {self.csv} by {self.next_csv}, and ClusterPolicy {names} names no driver, so the operator's own changes: "
            f"{self.image or 'unknown'} -> {self.to or 'unknown (the plan does not show it)'}"
        )


def default(csv: KubeObject | None) -> str:
    """The driver image that this version of the operator takes when it is told none."""
    spec = (csv or {}).get("spec") or {}
    deployments = ((spec.get("install") or {}).get("spec") or {}).get("deployments") or []
    containers = [
        one
        for deployment in deployments
        for one in deployment["spec"]["template"]["spec"].get("containers") or []
    ]
    for entry in (entry for one in containers for entry in one.get("env") or []):
        if entry.get("name") == "DRIVER_IMAGE" and entry.get("value"):
            return str(entry["value"])
    return next(
        (str(one["image"]) for one in spec.get("relatedImages") or [] if one.get("name") == "driver-image"),
        "",
    )


def follows(policy: KubeObject) -> bool:
    """Whether the policy leaves the driver to the operator."""
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
    """running, following: the operator's CSV as it is and as the plan shows it; None where the plan does not."""
    name = next((one for one in plans.names(plan) if one.startswith(f"{PACKAGE}.")), "")
    followers = tuple(one for one in policies if follows(one))
    before, after = default(running), default(following)
    if running is None or not name or not followers or (before == after and before):
        return None
    return Change(plan["metadata"]["name"], running["metadata"]["name"], name, before, after, followers)


def triple(image: str) -> dict[str, str]:
    """The image as a ClusterPolicy names it; the operator wants all three."""
    path, at, version = image.partition("@")
    if not at:
        path, _colon, version = image.rpartition(":")
    elif ":" in path.rpartition("/")[2]:
        path = path.rpartition(":")[0]
    repository, _slash, name = path.rpartition("/")
    if not (repository and name and version):
        raise AcceleratorError(
            "OLM-DRIVER-PIN",
            f"The running driver image cannot be read: {image or 'the operator names none'}.",
            _NAME_IT,
        )
    return {"repository": repository, "image": name, "version": version}


def check_pin(change: Change, ours: t.Callable[[KubeObject], bool], take: bool) -> None:
    """Only a policy that is ours, or that we may take over, is written to."""
    theirs = [one["metadata"]["name"] for one in change.policies if not ours(one)]
    if theirs and not take:
        why = f"ClusterPolicy {', '.join(theirs)} was not created by this collection, so the driver was not pinned there, and nothing was approved."
        remedy = f"Set adopt: take to have it written, or set spec.driver there: {triple(change.image)}."
        raise AcceleratorError(
            "OLM-DRIVER-PIN",
            f"{change.text}. {why}",
            remedy,
            facts={"driver_change": summarize(change, [], [])},
        )


def refuse(change: Change, nodes: t.Sequence[KubeObject], pods: t.Sequence[KubeObject]) -> NotReadyError:
    """The question that `ask` puts: which driver, which nodes, whose pods."""
    facts = summarize(change, nodes, pods)
    names = [one["name"] for one in facts["nodes"]]
    hit = f"{len(names)} nodes would get it ({_some(names)}), and {len(facts['pods'])} pods with GPUs would have to end{_listed(facts['pods'])}"
    message = f"{change.text}. {hit if names else 'No node has a driver now; the next one would get it'}. Nothing was approved."
    lines = [f"Node {one['name']}: driver {one['driver'] or 'unknown'}" for one in facts["nodes"]]
    evidence = [
        f"driver: {change.image or 'unknown'} -> {change.to or 'unknown'}",
        *lines,
        *(f"Pod {one}" for one in facts["pods"]),
    ]
    return NotReadyError("OLM-DRIVER-CHANGE", message, _REMEDY, evidence, facts={"driver_change": facts})


def summarize(change: Change, nodes: t.Sequence[KubeObject], pods: t.Sequence[KubeObject]) -> KubeObject:
    """The facts that a task returns."""
    names = {one["metadata"]["name"] for one in nodes}
    return {
        "from": change.image,
        "to": change.to,
        "csv": change.csv,
        "next_csv": change.next_csv,
        "policies": [one["metadata"]["name"] for one in change.policies],
        "nodes": [
            {
                "name": one["metadata"]["name"],
                "driver": (one["metadata"].get("labels") or {}).get(DRIVER_VERSION, ""),
            }
            for one in nodes
        ],
        "pods": [f"{drain.name(one)} on {drain.node_of(one)}" for one in pods if drain.node_of(one) in names],
    }


def _some(names: t.Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _listed(pods: t.Sequence[str]) -> str:
    return f" ({_some(pods)})" if pods else ""


_REMEDY: t.Final = "Set driver_change: pin to keep the driver that runs, or driver_change: allow to have it replaced node by node."
_NAME_IT: t.Final = (
    "Name driver.repository, driver.image and driver.version in the ClusterPolicy, then run again."
)
