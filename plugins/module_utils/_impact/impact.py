# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a write ends: which pods with devices, on which nodes, why, by whom, and in what order.

A write that may end pods counts as one that ends them.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, number_of
from .._nodes import drain
from .._nodes.devices import count, is_device, is_gpu
from .._nodes.labels import labels
from .._nodes.taints import matches

FAIL: t.Final = "fail"
DRAIN: t.Final = "drain"
WAIT: t.Final = "wait"
REMEDY: t.Final = (
    "Set gpu_on_busy: wait (module option on_busy) to write only when these pods have ended, "
    "or gpu_on_busy: drain to let them end now."
)
_SHOWN: t.Final = 200


@dataclass(frozen=True)
class Ending:
    """A pod that a write ends.

    owner: kind and name of its controller, or empty. devices: such as `2 GPU`; none if the pod ends only with
    its gang.
    """

    node: str
    namespace: str
    pod: str
    owner: str
    devices: tuple[str, ...]

    @property
    def object_name(self) -> str:
        """Return namespace/name of the pod."""
        return f"{self.namespace}/{self.pod}"

    @property
    def line(self) -> str:
        """Return node, pod, controller and devices as one line."""
        by = f" of {self.owner}" if self.owner else ""
        return f"{self.node}: pod {self.object_name}{by}: {', '.join(self.devices) or 'no device'}"


@dataclass(frozen=True)
class Impact:
    """What one write ends.

    cause: why, as a clause. by: who ends the pods. nodes: the nodes that the write reaches. order: in what
    order. is_certain: False if the write only may end them. kept: pods that `by` cannot end.
    """

    cause: str
    by: str
    nodes: tuple[str, ...]
    endings: tuple[Ending, ...]
    is_certain: bool
    order: str = "node by node"
    kept: tuple[Kept, ...] = ()

    @property
    def line(self) -> str:
        """Return one sentence: how many pods end, why, by whom, and in what order."""
        spaces = len({ending.namespace for ending in self.endings})
        nodes = len({ending.node for ending in self.endings})
        others = sum(not ending.devices for ending in self.endings)
        more = f" and {number_of(others, 'other pod')} of their gangs" if others else ""
        are_gpus = all(map(_has_gpu, self.endings))
        pods = number_of(len(self.endings) - others, "GPU pod" if are_gpus else "pod")
        pods += "" if are_gpus else " with devices"
        what = f"{pods}{more} of {number_of(spaces, 'namespace')}"
        verb = "end" if len(self.endings) > 1 else "ends"
        doing = verb if self.is_certain else "may end"
        return (
            f"{what} on {number_of(nodes, 'node')} {doing}, because {self.cause}; by: {self.by}; "
            f"order: {self.order}"
        )


@dataclass(frozen=True)
class Question:
    """What to find out before a write: the pods with devices on the nodes that it reaches.

    labels: the selector of these nodes. node_selector: further labels that they have. reaches: whether the
    write reaches a node with these labels; None for every node. counts: which pods end. rules: the
    upgradePolicy by which the GPU operator's upgrade controller ends them, if it does.
    """

    cause: str
    by: str
    labels: str
    node_selector: t.Mapping[str, str] = field(default_factory=dict)
    is_certain: bool = True
    order: str = "node by node"
    reaches: t.Callable[[t.Mapping[str, str]], bool] | None = None
    counts: t.Callable[[KubeObject], bool] = drain.uses_gpus
    rules: t.Mapping[str, t.Any] | None = None

    def is_about(self, pod: KubeObject) -> bool:
        """Return True if such a pod ends on a node that the write reaches."""
        return drain.ends_with_driver(pod) if self.rules is not None else self.counts(pod)

    def answer(self, nodes: t.Iterable[KubeObject], pods: t.Iterable[KubeObject]) -> Impact | None:
        """Return the impact on these nodes, which `labels` selects; None if nothing ends."""
        names = sorted(
            node["metadata"]["name"]
            for node in nodes
            if matches(self.node_selector, labels(node))
            and (self.reaches is None or self.reaches(labels(node)))
        )
        here = [pod for pod in drain.busy(pods, self.is_about) if drain.node_of(pod) in names]
        if not here:
            return None
        found = tuple(endings(here, names, self.is_about))
        rules, order = self.rules or {}, self.order
        kept = () if self.rules is None else stuck(here, rules)
        if (rules.get("drain") or {}).get("enable") and stuck(here, {**rules, "drain": None}):
            order += ", and where it cannot delete one of them, it drains the node of all pods"
        return Impact(self.cause, self.by, tuple(names), found, self.is_certain, order, kept)


@dataclass(frozen=True)
class Kept:
    """A pod with GPUs that the upgrade controller cannot delete, so that it fails the pod's node.

    is_lasting: nothing but its owner ends the pod. way_out: how that is done, or what of podDeletion lets the
    pod go.
    """

    ending: Ending
    why: str
    is_lasting: bool
    way_out: str


def stuck(pods: t.Iterable[KubeObject], rules: t.Mapping[str, t.Any]) -> tuple[Kept, ...]:
    """Return the pods, all with GPUs, that the GPU operator's upgrade controller cannot delete.

    It deletes them as `kubectl drain` does. If one of a node cannot go, it deletes none there, and the node
    stays at upgrade-failed; with upgradePolicy.drain it then drains the whole node. rules: the upgradePolicy.
    """
    deletion, whole = rules.get("podDeletion") or {}, rules.get("drain") or {}
    found = []
    for pod in pods:
        if drain.is_passed_over(pod):
            is_kept = not whole.get("enable")
        else:
            is_kept = drain.is_refused(pod, deletion) and (
                not whole.get("enable") or drain.is_refused(pod, whole)
            )
        if is_kept:
            found.append(_kept(pod, deletion))
    return tuple(found)


def _kept(pod: KubeObject, deletion: t.Mapping[str, t.Any]) -> Kept:
    if drain.is_passed_over(pod):
        return Kept(ending(pod), lasting(pod), True, end_of_lasting(pod))
    if drain.keeps_data(pod) and not deletion.get("deleteEmptyDir"):
        return Kept(ending(pod), "with data in an emptyDir", False, "deleteEmptyDir")
    return Kept(ending(pod), "without a controller", False, "force")


def lasting(pod: KubeObject) -> str:
    """Return what makes the pod one that no drain ends."""
    is_static = drain.MIRROR in (pod["metadata"].get("annotations") or {})
    return "static" if is_static else f"of {drain.owner(pod)}"


def end_of_lasting(pod: KubeObject) -> str:
    """Return the remedy that ends a pod which no drain ends."""
    space, node, why = pod["metadata"]["namespace"], drain.node_of(pod), lasting(pod)
    if why == "static":
        object_name = pod["metadata"]["name"].removesuffix(f"-{node}")
        command = f"oc debug node/{node} -- chroot /host grep -l {object_name} -r /etc/kubernetes/manifests"
        return f"Run `{command}`, and move that file away: this ends the pod."
    nowhere = '{"spec":{"template":{"spec":{"nodeSelector":{"gpu-driver-change":"done"}}}}}'
    command = f"oc patch daemonset {why.rpartition(' ')[2]} -n {space} --type merge -p '{nowhere}'"
    return (
        f"Run `{command}`: this ends the pods of the DaemonSet on all nodes without this label; take the "
        "nodeSelector away again after the change."
    )


def endings(
    pods: t.Iterable[KubeObject],
    nodes: t.Collection[str],
    counts: t.Callable[[KubeObject], bool] = drain.uses_devices,
) -> list[Ending]:
    """Return the pods that count and end when these nodes lose their devices, by node and name."""
    found = [ending(pod) for pod in drain.busy(pods, counts) if drain.node_of(pod) in nodes]
    return sorted(found, key=lambda entry: (entry.node, entry.namespace, entry.pod))


def ending(pod: KubeObject) -> Ending:
    """Return the pod as one that ends, whether it has devices or not."""
    place = (drain.node_of(pod), pod["metadata"]["namespace"], pod["metadata"]["name"])
    return Ending(*place, drain.owner(pod), tuple(_devices(pod)))


def _devices(pod: KubeObject) -> t.Iterator[str]:
    counted: dict[str, int] = {}
    spec = pod["spec"]
    for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
        resources = container.get("resources") or {}
        for key, value in {**(resources.get("requests") or {}), **(resources.get("limits") or {})}.items():
            counted[key] = counted.get(key, 0) + count(value)
    # The name alone makes the upgrade controller end a pod that has no device.
    is_counted = drain.is_counted if not drain.uses_devices(pod) else lambda _key: False
    for key, number in sorted(counted.items()):
        if is_device(key) and (number or is_counted(key)):
            yield f"{number} {key}"
    yield from (f"claim {claim['name']}" for claim in spec.get("resourceClaims") or [])


def _has_gpu(ending: Ending) -> bool:
    """Return True if the pod has a GPU or a claim; a pod without a device only ends with its gang."""
    names = [device.partition(" ") for device in ending.devices]
    return not names or any(number == "claim" or is_gpu(key) for number, _blank, key in names)


def as_result(impacts: t.Iterable[Impact]) -> list[dict[str, t.Any]]:
    """Return the value of the result's key `ends`: one map for each impact."""
    return [
        {
            "because": impact.cause,
            "by": impact.by,
            "order": impact.order,
            "certain": impact.is_certain,
            "nodes": list(impact.nodes),
            "pods": [
                {
                    "node": ending.node,
                    "namespace": ending.namespace,
                    "name": ending.pod,
                    "owner": ending.owner,
                    "devices": list(ending.devices),
                }
                for ending in impact.endings
            ],
        }
        for impact in impacts
    ]


def lines(impacts: t.Iterable[Impact]) -> list[str]:
    """Return one sentence for each impact, then one line for each pod that ends."""
    given = list(impacts)
    pods = list(dict.fromkeys(ending.line for impact in given for ending in impact.endings))
    more = [f"and {len(pods) - _SHOWN} more pods"] if len(pods) > _SHOWN else []
    return [*(impact.line for impact in given), *pods[:_SHOWN], *more]


def refusal(impacts: t.Sequence[Impact], code: str, so_far: str = "Nothing was changed.") -> AcceleratorError:
    """Return the failure of `on_busy: fail`: it names nodes and pods, and its facts have the key `ends`.

    so_far: a sentence that says what the task has changed.
    """
    pods = list(dict.fromkeys(ending for impact in impacts for ending in impact.endings))
    named = [f"{ending.object_name} on {ending.node}" for ending in pods]
    shown = ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
    message = f"{'. '.join(reason.line for reason in impacts)}. The pods: {shown}. {so_far}"
    return AcceleratorError(code, message, REMEDY, lines(impacts), facts={"ends": as_result(impacts)})


def refuse_kept(
    kept: t.Sequence[Kept], on_busy: str, so_far: str = "Nothing was changed."
) -> AcceleratorError | None:
    """Return the failure for pods that the upgrade controller cannot end, or None.

    Pods of DaemonSets and static pods never end, whatever on_busy says. The others end with `wait`, and
    `fail` names them with all pods that end.
    """
    wrong = [pod for pod in kept if pod.is_lasting or on_busy == DRAIN]
    if not wrong:
        return None
    nodes = ", ".join(sorted({pod.ending.node for pod in wrong}))
    named = [f"{pod.ending.object_name} on {pod.ending.node} ({pod.why})" for pod in wrong]
    shown = ", ".join(named[:10]) + (f" and {len(named) - 10} more" if len(named) > 10 else "")
    return AcceleratorError(
        "GPU-UPG-KEPT",
        remedy=_way_out(wrong[0]),
        evidence=named,
        number=number_of(len(wrong), "pod"),
        pods=shown,
        nodes=nodes,
        so_far=so_far,
    )


def _way_out(kept: Kept) -> str:
    policy = "gpu_operator_spec: {driver: {upgradePolicy: {%s}}}"
    if not kept.is_lasting:
        setting = policy % f"podDeletion: {{{kept.way_out}: true}}"
        return f"Save what the pods hold, then set {setting}: the controller then deletes such pods."
    return (
        f"{kept.way_out} Or set {policy % 'drain: {enable: true}'}: the operator then drains the node, which "
        "ends all other pods there; while this pod uses the GPU, the old driver may not unload."
    )
