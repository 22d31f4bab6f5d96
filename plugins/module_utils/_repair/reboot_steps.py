# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of a reboot: choose the way before the first write, ask for the reboot once, wait for the node."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, ApiError
from .._core.objects import KubeObject, name
from .._core.readiness import Grace
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes import formatting as node_formatting, node as node_facts
from .._nodes.drain import on
from . import options, reboot
from .look_steps import SLICE
from .options import GpuNodeRepairParams
from .record import Record
from .seen import Seen

_NODE: t.Final = known("Node")
_POD: t.Final = known("Pod")


class Way(t.NamedTuple):
    """How the node is rebooted. pod: the privileged pod; None where a BareMetalHost is annotated."""

    kind: str
    pod: KubeObject | None = None


def choose(api: Api, seen: Seen, params: GpuNodeRepairParams) -> Way:
    """Return the way to reboot the node. Raise AcceleratorError if there is none."""
    if params["reboot_with"] == options.POD:
        return Way(options.POD, _pod(api, seen, params))
    if reboot.is_rebootable(seen.host):
        return Way(options.HOST)
    if seen.host is None:
        why = f"no BareMetalHost of its machine {name(seen.machine) if seen.machine else ''} can be read"
    else:
        why = f"its BareMetalHost {name(seen.host)} is not provisioned, or is detached"
    also = "Run `oc get baremetalhost -A`. " if params["reboot_with"] == options.HOST else ""
    faults = "; ".join(seen.faults)
    raise AcceleratorError("REPAIR-NO-REBOOT", node=seen.name, faults=faults, why=why, also=also)


def _pod(api: Api, seen: Seen, params: GpuNodeRepairParams) -> KubeObject:
    """Return the pod that reboots the node, after the API server has said that it would take it."""
    if not node_facts.is_ready(seen.node):
        why = node_formatting.why_not_ready(seen.node)
        raise AcceleratorError("REPAIR-NOT-READY", node=seen.name, why=why)
    image = params["reboot_image"] or reboot.daemon_image(api.list(_POD, fields=on(seen.name)))
    if not image:
        raise AcceleratorError("REPAIR-NO-IMAGE", node=seen.name)
    made = reboot.pod(seen.node, image)
    try:
        if api.get(_POD, name(made), reboot.NAMESPACE) is None:
            api.dry_run_create(made)
    except ApiError as exc:
        raise AcceleratorError(
            "REPAIR-POD", evidence=exc.evidence, node=seen.name, answer=exc.message
        ) from exc
    return made


def request(api: Api, way: Way, seen: Seen) -> None:
    """Ask for the reboot. A pod that an earlier run made stays; its boot id keeps it from a second reboot."""
    if way.pod is not None:
        if api.get(_POD, name(way.pod), reboot.NAMESPACE) is None:
            api.create(way.pod)
        return
    if seen.host is None:
        raise AssertionError("a node without a BareMetalHost is rebooted by a pod")
    host = seen.host
    body = {"metadata": {"annotations": {reboot.ANNOTATION: ""}}}
    api.merge_patch(known("BareMetalHost"), name(host), host["metadata"]["namespace"], body)


def wait(api: Api, seen: Seen, record: Record, grace: float) -> KubeObject:
    """Wait until the node is back with its devices, and return it.

    Raise NotReadyError with REPAIR-STAYS if it is as broken as before, WaitTimeoutError otherwise.
    """
    queries = {
        reboot.NODES: Query(_NODE, name=seen.name),
        reboot.PODS: Query(_POD, fields=on(seen.name)),
    }
    if seen.claims:
        queries[reboot.SLICES] = Query(SLICE)
    patience = Grace(api.clock, grace, (reboot.STAYS,))
    judge = reboot.Back(seen.name, record.boot, record.expected, seen.claims, patience)
    found = api.wait(queries, judge, f"reboot of {node_facts.short(seen.name)}", on_timeout_code=reboot.BOOT)
    return found[reboot.NODES][0]


def clean(api: Api, seen: Seen) -> None:
    """Delete the pods of ours that rebooted the node, also those of a killed run."""
    for one in api.list(_POD, reboot.NAMESPACE, fields=on(seen.name)):
        if name(one).startswith(reboot.PREFIX):
            api.delete(_POD, name(one), reboot.NAMESPACE)
