# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Is the kernel module of a KMM Module on every node of the pools? A Module has no conditions: nodes, their configuration and pods tell."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import diff
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
    ready,
    worst,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    pool_nodes,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import untolerated
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    devices,
    images,
    kernels,
    manifest as kmm_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import recognise

Data = dict[str, t.Any]
ACTION: t.Final = f"{kmm_manifest.PREFIX}/worker-action"
ROLE: t.Final = f"{kmm_manifest.PREFIX}/role"
_ROLES: t.Final = {"dra": "DRA driver"}
_PASSING: t.Final = (
    "GPU-IMAGE",
    "GPU-KMM-BUILD",
    "GPU-KMM-SIGN",
    "GPU-KMM-LOAD",
    "GPU-KMM-PLUGIN",
    "GPU-KMM-SELECTOR",
)
# Once the module is loaded, devices come within moments or never.
_LAST: t.Final = ("GPU-ALLOC", "GPU-DRA-SLICES")


def entry(config: Data | None, part: str, module: Data) -> Data | None:
    """What the NodeModulesConfig of a node says about the Module in its spec or status."""
    place = (module["metadata"]["namespace"], module["metadata"]["name"])
    entries = ((config or {}).get(part) or {}).get("modules") or []
    return next((one for one in entries if (one["namespace"], one["name"]) == place), None)


class Judge:
    """The verdict on nodes of pools, or without pools on what the Module's own numbers say."""

    def __init__(self, params: Data, clock: t.Callable[[], float], only: str = "") -> None:
        self._params, self._only, self._driver = params, only, devices.driver(params)
        self._patience = Grace(clock, params["grace"], (*_PASSING, *_LAST))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        first, last = self._parts(snapshot)
        loaded = worst(first).is_ready
        return worst(
            self._patience.harden([*first, *last]) if loaded else [*self._patience.harden(first), *last]
        )

    def _parts(self, snapshot: Snapshot) -> tuple[list[Readiness], list[Readiness]]:
        """What brings the module to the nodes, and the devices that come of it."""
        if not snapshot.get("modules"):
            return [
                pending(
                    "Missing",
                    f"Module {self._params['name']} is not there.",
                    code="GPU-KMM-PENDING",
                    remedy="See who deletes it.",
                )
            ], []
        module, pools = snapshot["modules"][0], self._params["pools"]
        nodes = [node for node in snapshot["nodes"] if self._only in ("", node["metadata"]["name"])]
        first = [] if self._only else [pool_nodes.judge_size(nodes, pool) for pool in pools]
        wanted = (
            [node for pool in pools for node in pool_nodes.nodes_of(nodes, pool)]
            if pools
            else nodes
            if self._only
            else []
        )
        first += [part for node in wanted for part in judge_node(node, module, snapshot)]
        if not self._only:
            first += [judge_numbers(module)]
        return first, [
            part
            for pool in pools
            for part in devices.judge(nodes, pool, self._driver, snapshot.get("slices", ()))
        ]

    def summarize(self, snapshot: Snapshot) -> Data:
        first, last = self._parts(snapshot)
        verdict = worst([*first, *last])
        module = next(iter(snapshot.get("modules") or []), dict[str, t.Any]())
        status = module.get("status") or {}
        nodes = devices.summarize(
            snapshot.get("nodes", ()), self._params["pools"], self._driver, snapshot.get("slices", ())
        )
        return {
            "name": self._params["name"],
            "state": verdict.verdict,
            "reason": verdict.reason,
            "nodes": [{**node, **_told(node["name"], module, snapshot)} for node in nodes]
            if module
            else nodes,
            "numbers": {key: status[key] for key in ("moduleLoader", "devicePlugin", "dra") if key in status},
        }


def _told(name: str, module: Data, snapshot: Snapshot) -> Data:
    node = next(one for one in snapshot["nodes"] if one["metadata"]["name"] == name)
    loaded = entry(_config(node, snapshot), "status", module) or {}
    config = loaded.get("config") or {}
    return {
        "kernel": kernels.kernel_of(node),
        "image": config.get("containerImage", ""),
        "version": loaded.get("version", ""),
    }


def _config(node: Data, snapshot: Snapshot) -> Data | None:
    return next(
        (one for one in snapshot["configs"] if one["metadata"]["name"] == node["metadata"]["name"]), None
    )


def judge_node(node: Data, module: Data, snapshot: Snapshot) -> list[Readiness]:
    """Causes first: what keeps KMM off the node, an image that cannot be had, pods that failed, then where the module is."""
    found = [_judge_reach(node, module), _judge_version(node, module), *_judge_image(node, module, snapshot)]
    found += [*_judge_pods(node, module, snapshot), _judge_loaded(node, module, snapshot)]
    return [part for part in found if part is not None]


def _part(
    make: t.Callable[..., Readiness], node: Data, reason: str, what: str, code: str, remedy: str
) -> Readiness:
    name = node["metadata"]["name"]
    return make(
        f"{reason}:{name}", f"Node {name}: {what}.", code=code, remedy=remedy, details=(f"{name}: {what}",)
    )


def _judge_reach(node: Data, module: Data) -> Readiness | None:
    name, marks = node["metadata"]["name"], labels(node)
    lacking = [
        f"{key}={value}" for key, value in module["spec"]["selector"].items() if marks.get(key) != value
    ]
    if lacking:
        what = f"lacks {', '.join(lacking)}, which the Module selects by"
        return _part(
            pending,
            node,
            "Selector",
            what,
            "GPU-KMM-SELECTOR",
            "Change kmm.selector, or look at what sets that label.",
        )
    if taints := untolerated(node, module["spec"].get("tolerations") or []):
        what = f"taint {', '.join(taints)} is not tolerated by the Module, and KMM leaves such nodes out of its numbers"
        return _part(
            failed,
            node,
            "Taint",
            what,
            "GPU-TAINT",
            f"Add it to tolerations of special_resource, or take it off node {name}.",
        )
    mappings = ((module["spec"].get("moduleLoader") or {}).get("container") or {}).get("kernelMappings") or []
    if any(kernels.fits(one, kernels.kernel_of(node)) for one in mappings) or not mappings:
        return None
    what = f"no kernel mapping fits its kernel {kernels.kernel_of(node)}"
    return _part(
        failed,
        node,
        "Kernel",
        what,
        "GPU-KMM-KERNEL",
        "Add a mapping for that kernel to kmm.kernel_mappings.",
    )


def _judge_version(node: Data, module: Data) -> Readiness | None:
    version = (
        module["spec"]["moduleLoader"]["container"].get("version")
        if module["spec"].get("moduleLoader")
        else None
    )
    label = kmm_manifest.version_label(module["metadata"]["namespace"], module["metadata"]["name"])
    there = labels(node).get(label)
    if not version or there == version:
        return None
    what = (
        f"is to have version {there}, the Module is at {version}"
        if there
        else f"has no label {label}, without which KMM loads nothing there"
    )
    return _part(
        pending,
        node,
        "Version",
        what,
        "GPU-KMM-VERSION",
        f"oc label node {node['metadata']['name']} {label}={version} --overwrite",
    )


def _judge_image(node: Data, module: Data, snapshot: Snapshot) -> list[Readiness]:
    """Nothing of what went wrong with an image that the node has by now."""
    kernel, wanted = kernels.kernel_of(node), entry(_config(node, snapshot), "spec", module)
    if wanted is not None and wanted["config"]["containerImage"] == kernels.image_for(module, kernel):
        return []
    return [
        images.as_part(node["metadata"]["name"], one) for one in images.troubles(kernel, module, snapshot)
    ]


def _judge_pods(node: Data, module: Data, snapshot: Snapshot) -> t.Iterator[Readiness]:
    """While the node is not told of a change, its worker still fails at what is to be replaced."""
    late = behind(node, module, snapshot)
    for pod in snapshot["pods"]:
        found, marks = trouble(pod), pod["metadata"].get("labels") or {}
        if (
            found is None
            or pod["spec"].get("nodeName") != node["metadata"]["name"]
            or images.step_of(pod)
            or (late and marks.get(ACTION) == "Load")
        ):
            continue
        step, code = (
            ("loading", "GPU-KMM-LOAD")
            if ACTION in marks
            else (_ROLES.get(marks.get(ROLE, ""), "device plugin"), "GPU-KMM-PLUGIN")
        )
        if "Image" in found.reason:
            step, code = "image", "GPU-IMAGE"
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        known = recognise(found.message)
        remedy = known.remedy if known else f"oc logs -n {namespace} {name}"
        yield _part(
            pending,
            node,
            f"Pod:{step}",
            f"{step}: pod {name} is in {found.reason}: {found.message}",
            code,
            remedy,
        )


def behind(node: Data, module: Data, snapshot: Snapshot) -> str:
    """What the node is not told yet."""
    wanted, kernel = entry(_config(node, snapshot), "spec", module), kernels.kernel_of(node)
    image = kernels.image_for(module, kernel)
    container = (module["spec"].get("moduleLoader") or {}).get("container") or {}
    modprobe = {
        key: value
        for key, value in (container.get("modprobe") or {}).items()
        if key not in ("args", "rawArgs")
    }
    if wanted is None:
        return f"waits for the image of its kernel{images.progress(kernel, snapshot)}"
    config = wanted["config"]
    if config["kernelVersion"] != kernel:
        return f"is prepared for kernel {config['kernelVersion']}, and runs {kernel}{images.progress(kernel, snapshot)}"
    if (image and config["containerImage"] != image) or not diff.covers(config.get("modprobe"), modprobe):
        return f"is not told of the Module's change yet{images.progress(kernel, snapshot)}"
    return ""


def _judge_loaded(node: Data, module: Data, snapshot: Snapshot) -> Readiness | None:
    config, boot = _config(node, snapshot), (node.get("status", {}).get("nodeInfo") or {}).get("bootID", "")
    wanted, there = entry(config, "spec", module), entry(config, "status", module)
    what = behind(node, module, snapshot)
    if what or wanted is None:
        pass
    elif (
        there is None or there["config"] != wanted["config"] or there.get("version") != wanted.get("version")
    ):
        what = "the kernel module is being loaded"
    elif there.get("bootId", boot) != boot:
        what = "was rebooted, and the kernel module is not loaded again yet"
    elif kmm_manifest.ready_label(module["metadata"]["namespace"], module["metadata"]["name"]) not in labels(
        node
    ):
        what = "KMM has not labelled it ready"
    return (
        _part(
            pending,
            node,
            "Loading",
            what,
            "GPU-KMM-PENDING",
            "Look at the pods of the Module and at KMM's log.",
        )
        if what
        else None
    )


def judge_numbers(module: Data) -> Readiness:
    """A Module has nothing but these; a selector that finds no node is a Module that waits for one."""
    status = module.get("status") or {}
    for key in ("moduleLoader", "devicePlugin", "dra"):
        if key != "moduleLoader" and key not in module["spec"]:
            continue
        numbers = status.get(key) or {}
        available, desired = numbers.get("availableNumber", 0), numbers.get("desiredNumber", 0)
        if key not in status or (
            numbers.get("nodesMatchingSelectorNumber", 0) and (available != desired or not desired)
        ):
            line = f"{key}: {available} of {desired} available, {numbers.get('nodesMatchingSelectorNumber', 0)} nodes match"
            return pending(
                "Numbers",
                f"Module {module['metadata']['name']}: {line}.",
                code="GPU-KMM-PENDING",
                remedy="Look at KMM's log.",
                details=(line,),
            )
    return ready("Loaded", "The kernel module is loaded.")
