# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeFeatureDiscovery: its manifest, the completion of a foreign instance, and its state."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.adoption import other_manager, taking
from .._core.errors import AcceleratorError, KindNotServedError, text_of
from .._core.objects import KubeObject
from .._core.readiness import Readiness, pending, ready
from . import rules
from .config import merge_config, pci_of, with_fields
from .params import NfdLabelsParams

API_VERSION: t.Final = "nfd.openshift.io/v1"
# Labels that the Helm chart of upstream's NFD sets.
UPSTREAM: t.Final = {"app.kubernetes.io/name": "node-feature-discovery"}
# What `oc logs` reads of the operator.
_LOG: t.Final = "-n openshift-nfd deployment/nfd-controller-manager"
_TAKING: t.Final = taking("NodeFeatureDiscovery")


def choose(instances: t.Sequence[KubeObject], name: str, namespace: str) -> KubeObject | None:
    """Return the named instance, else the existing one of the namespace, or None.

    Two instances in one namespace would overwrite each other's DaemonSet.
    """
    by_name = {
        entry["metadata"]["name"]: entry for entry in instances if entry["metadata"]["namespace"] == namespace
    }
    return by_name.get(name) or (by_name[min(by_name)] if by_name else None)


def build(params: NfdLabelsParams, live: KubeObject | None) -> KubeObject:
    """Return the whole manifest of an instance of this collection.

    operand.image stays unset: a pinned image would be outdated after the next update.
    """
    operand: dict[str, t.Any] = {"servicePort": 12000}
    if params.worker_tolerations:
        operand["workerTolerations"] = _tolerations(params)
    taints = {"enableTaints": True} if wants_taints(params) or _enabled(live) else {}
    return _manifest(
        params.name,
        params.namespace,
        {"operand": operand, "workerConfig": {"configData": _config(params, live)}, **taints},
    )


def without_config(manifest: KubeObject) -> KubeObject:
    """Return the manifest without the workers' configuration, which keeps what others wrote into it."""
    spec = {key: value for key, value in manifest["spec"].items() if key != "workerConfig"}
    return {**manifest, "spec": spec}


def adopted(params: NfdLabelsParams, live: KubeObject) -> KubeObject:
    """Return the manifest with the fields to take over from the manager of the instance."""
    config = with_fields(_config(params, live), params.label_fields)
    spec: KubeObject = {"workerConfig": {"configData": config}}
    there = _operand(live).get("workerTolerations") or []
    if missing := [one for one in _tolerations(params) if one not in there]:
        spec["operand"] = {"workerTolerations": [*there, *missing]}
    if wants_taints(params) and not _enabled(live):
        spec["enableTaints"] = True
    return _manifest(live["metadata"]["name"], live["metadata"]["namespace"], spec)


def difference(params: NfdLabelsParams, live: KubeObject) -> KubeObject:
    """Return the merge patch that completes the configuration of a foreign instance, or an empty one.

    Raise NFD-TAINTS or NFD-MANAGED if its manager would revert the patch or has to agree first.
    """
    name, config = live["metadata"]["name"], _config(params, live)
    if wants_taints(params) and not _enabled(live):
        raise AcceleratorError("NFD-TAINTS", name=name)
    if config == _config_of(live):
        return {}
    if manager := other_manager(live):
        raise AcceleratorError("NFD-MANAGED", name=name, manager=manager, evidence=config.splitlines())
    return {"spec": {"workerConfig": {"configData": config}}}


def wants_taints(params: NfdLabelsParams) -> bool:
    """Return True if a rule of the parameters sets taints."""
    return rules.has_taints(params.rules or [])


def warnings(params: NfdLabelsParams, instances: t.Sequence[KubeObject], live: KubeObject) -> list[str]:
    """Return warnings about an existing instance, and about other instances."""
    name, namespace, texts = live["metadata"]["name"], live["metadata"]["namespace"], []
    if name != params.name:
        texts.append(
            f"NodeFeatureDiscovery {name} is already in {namespace}; it is used instead of {params.name}."
        )
    fields = pci_of(_config_of(live)).get("deviceLabelFields")
    if fields is not None and list(fields) != params.label_fields and params.adopt != "take":
        texts.append(
            f"NodeFeatureDiscovery {name} has deviceLabelFields {fields}, "
            f"which stay ({_TAKING} changes them). "
            f"The NVIDIA Network Operator needs {params.label_fields}."
        )
    if image := _operand(live).get("image"):
        texts.append(
            f"NodeFeatureDiscovery {name} pins operand.image to {image}: "
            "it stays at that release when the operator is updated. Remove the field."
        )
    others = [entry["metadata"] for entry in instances if entry["metadata"]["uid"] != live["metadata"]["uid"]]
    if here := sorted(entry["name"] for entry in others if entry["namespace"] == namespace):
        texts.append(
            f"{namespace} has {len(here) + 1} NodeFeatureDiscoveries, {name} and {', '.join(here)}: "
            "the operator makes one DaemonSet nfd-worker for all of them, "
            "with the configuration of the one that changed last. Keep one."
        )
    if away := sorted(
        f"{entry['namespace']}/{entry['name']}" for entry in others if entry["namespace"] != namespace
    ):
        texts.append(
            f"NodeFeatureDiscovery {', '.join(away)} exists as well: "
            "its nfd-master writes the labels of the same nodes. Keep one."
        )
    return texts


def no_rules() -> KindNotServedError:
    """Return the failure of a cluster that does not serve NodeFeatureRule."""
    groups = ", ".join(rules.GROUPS)
    return KindNotServedError(
        "API-KIND-NOT-SERVED",
        kind=f"NodeFeatureRule in any of the groups {groups}",
        also="; the operator nfd (Node Feature Discovery) provides it",
        provider="the operator nfd (Node Feature Discovery)",
        status=404,
        reason="NotServed",
    )


def is_available(instance: KubeObject) -> bool:
    """Return True if the instance is Available."""
    return conditions.is_true(instance, "Available")


def judge(instance: KubeObject | None, name: str) -> Readiness:
    """Return the state of the instance. It ignores the conditions' reasons: the operator misspells one."""
    if instance is None:
        return not_ready(f"NodeFeatureDiscovery {name}", "openshift-nfd", ": it does not exist")
    degraded, namespace = conditions.find(instance, "Degraded"), instance["metadata"]["namespace"]
    if degraded.get("status") == "True":
        what = f"{degraded.get('reason', '')} {degraded.get('message', '')}".rstrip()
        selector = _operand(instance).get("workerNodeSelector")
        if "desired nodes" in degraded.get("message", ""):
            where = (
                f"operand.workerNodeSelector {selector}"
                if selector
                else "its own rule (no control-plane node, or one with the role worker)"
            )
            what = f"{what}: nfd-worker has no node to run on by {where}"
        text = text_of("NFD-DEGRADED", name=name, why=what, namespace=namespace)
        line = text.message.removesuffix(".")
        return pending("Degraded", **text._asdict(), details=(line,))
    if is_available(instance):
        return ready("Available")
    progress = conditions.find(instance, "Progressing")
    said = f": {progress['message']}" if progress.get("message") else ""
    return not_ready(f"NodeFeatureDiscovery {name}", namespace, said)


def not_ready(object_name: str, namespace: str, also: str = "", log: str = _LOG) -> Readiness:
    """Return pending, with the log to read. also: what to say of the object."""
    text = text_of("NFD-NOT-READY", object=object_name, also=also, namespace=namespace, log=log)
    return pending("NotAvailable", **text._asdict())


def upstream(deployments: t.Sequence[KubeObject]) -> KubeObject | None:
    """Return the Deployment nfd-master that a Helm chart installed, or None."""
    return next((one for one in deployments if str(one["metadata"]["name"]).endswith("master")), None)


def judge_upstream(deployments: t.Sequence[KubeObject]) -> Readiness:
    """Return the state of the NFD that a Helm chart installed."""
    master = upstream(deployments)
    if conditions.is_true(master, "Available"):
        return ready("Available")
    place = master["metadata"] if master else {"namespace": "openshift-nfd", "name": "nfd-master"}
    name, namespace = str(place["name"]), str(place["namespace"])
    return not_ready(f"Deployment {namespace}/{name}", namespace, log=f"-n {namespace} deployment/{name}")


def worker_tolerations(instance: KubeObject | None) -> list[dict[str, t.Any]]:
    """Return the tolerations of nfd-worker: every NoSchedule taint, and those of the instance."""
    return [
        {"operator": "Exists", "effect": "NoSchedule"},
        *(_operand(instance).get("workerTolerations") or []),
    ]


def pci_classes(instance: KubeObject | None) -> list[str]:
    """Return the PCI classes that the instance turns into labels."""
    return [str(one) for one in pci_of(_config_of(instance)).get("deviceClassWhitelist") or []]


def _manifest(name: str, namespace: str, spec: KubeObject) -> KubeObject:
    return {
        "apiVersion": API_VERSION,
        "kind": "NodeFeatureDiscovery",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _config(params: NfdLabelsParams, live: KubeObject | None) -> str:
    return merge_config(_config_of(live), params.pci_classes, params.label_fields)


def _tolerations(params: NfdLabelsParams) -> list[KubeObject]:
    return [
        {key: value for key, value in entry.items() if value is not None}
        for entry in params.worker_tolerations or []
    ]


def _enabled(live: KubeObject | None) -> bool:
    return bool(((live or {}).get("spec") or {}).get("enableTaints"))


def _operand(live: KubeObject | None) -> KubeObject:
    operand: KubeObject = ((live or {}).get("spec") or {}).get("operand") or {}
    return operand


def _config_of(live: KubeObject | None) -> str:
    return (((live or {}).get("spec") or {}).get("workerConfig") or {}).get("configData") or ""
