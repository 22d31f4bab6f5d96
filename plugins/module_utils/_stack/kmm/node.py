# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of a KMM Module: what keeps KMM off a node, its image, its pods, and whether the module is loaded."""

from __future__ import annotations

import typing as t

from ..._core import diff
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, at, name, named
from ..._core.readiness import FAILED, Readiness, about_node, at_node
from ..._nodes.labels import labels
from ..._nodes.taints import untolerated
from ..node import about_taints
from ..pods import how_to_cure, how_to_list, trouble
from . import images, kernels, manifest as kmm_manifest

ACTION: t.Final = f"{kernels.PREFIX}/worker-action"
ROLE: t.Final = f"{kernels.PREFIX}/role"
_ROLES: t.Final = {"dra": "DRA driver"}


def entry(node: KubeObject, section: str, module: KubeObject, snapshot: Snapshot) -> KubeObject | None:
    """Return the Module's entry in the node's NodeModulesConfig, or None. section: spec or status."""
    config = named(snapshot["configs"], name(node))
    entries: list[KubeObject] = (config.get(section) or {}).get("modules") or []
    place = (module["metadata"]["namespace"], name(module))
    return next((one for one in entries if (one["namespace"], one["name"]) == place), None)


def summarize(node: KubeObject, module: KubeObject, snapshot: Snapshot) -> dict[str, str]:
    """Return the node's kernel, and the image and version of the module that it has loaded."""
    loaded = entry(node, "status", module, snapshot) or {}
    return {
        "kernel": kernels.kernel_of(node),
        "image": at(loaded, "config.containerImage") or "",
        "version": loaded.get("version", ""),
    }


def judge_node(node: KubeObject, module: KubeObject, snapshot: Snapshot) -> list[Readiness]:
    """Return what is wrong on the node, causes first: labels and taints, image, pods, loading."""
    found = [_judge_reach(node, module), _judge_version(node, module), *_judge_image(node, module, snapshot)]
    found += [*_judge_pods(node, module, snapshot), _judge_loaded(node, module, snapshot)]
    return [part for part in found if part is not None]


def _judge_reach(node: KubeObject, module: KubeObject) -> Readiness | None:
    object_name, marks, kernel = name(node), labels(node), kernels.kernel_of(node)
    lacking = [
        f"{key}={value}" for key, value in module["spec"]["selector"].items() if marks.get(key) != value
    ]
    if lacking:
        text = about_node(
            "GPU-KMM-SELECTOR", node=object_name, lacking=", ".join(lacking), labels=" ".join(lacking)
        )
        return at_node(object_name, "Selector", *text)
    if taints := untolerated(node, module["spec"].get("tolerations") or []):
        who = "the Module, and KMM leaves such nodes out of its numbers"
        text = about_taints("GPU-TAINT", node, taints, who)
        return at_node(object_name, "Taint", *text, FAILED)
    mappings = kernels.mappings(module)
    if not mappings or any(kernels.fits(one, kernel) for one in mappings):
        return None
    text = text_of("GPU-KMM-KERNEL", nodes=f"kernel {kernel}")
    return at_node(
        object_name, "Kernel", f"no kernel mapping fits its kernel {kernel}", text.code, text.remedy, FAILED
    )


def _judge_version(node: KubeObject, module: KubeObject) -> Readiness | None:
    version = kernels.container(module).get("version")
    label = kmm_manifest.version_label(module["metadata"]["namespace"], name(module))
    there = labels(node).get(label)
    if not version or there == version:
        return None
    what = f"has no label {label}, without which KMM loads nothing there"
    if there:
        what = f"has version {there} in its label, and the Module has version {version}"
    text = about_node("GPU-KMM-VERSION", node=name(node), wrong_version=what, label=f"{label}={version}")
    return at_node(name(node), "Version", *text)


def _judge_image(node: KubeObject, module: KubeObject, snapshot: Snapshot) -> list[Readiness]:
    """Return the troubles of the node's image; none once the node has it, whatever went wrong before."""
    kernel, wanted = kernels.kernel_of(node), entry(node, "spec", module, snapshot)
    if wanted is not None and wanted["config"]["containerImage"] == kernels.image_for(module, kernel):
        return []
    found = images.troubles(kernel, module, snapshot)
    return [at_node(name(node), f"Pod:{one.step}", one.what, one.code, one.remedy) for one in found]


def _judge_pods(node: KubeObject, module: KubeObject, snapshot: Snapshot) -> t.Iterator[Readiness]:
    """Yield the node's broken pods.

    Until KMM has passed a change on, its worker may still fail at the old state.
    """
    is_late = bool(behind(node, module, snapshot))
    for pod in snapshot["pods"]:
        found, marks = trouble(pod), labels(pod)
        if found is None or pod["spec"].get("nodeName") != name(node) or images.step_of(pod):
            continue
        if is_late and marks.get(ACTION) == "Load":
            continue
        step, code = _ROLES.get(marks.get(ROLE, ""), "device plugin"), "GPU-KMM-PLUGIN"
        if ACTION in marks:
            step, code = "loading", "GPU-KMM-LOAD"
        if "Image" in found.reason:
            step, code = "image", "GPU-IMAGE"
        remedy = how_to_cure(pod, found)
        what = f"{step}: pod {name(pod)} is in {found.reason}: {found.message}"
        yield at_node(name(node), f"Pod:{step}", what, code, remedy)


def behind(node: KubeObject, module: KubeObject, snapshot: Snapshot) -> str:
    """Return what KMM has not passed on to the node's configuration yet, or an empty text."""
    wanted, kernel = entry(node, "spec", module, snapshot), kernels.kernel_of(node)
    image = kernels.image_for(module, kernel)
    # KMM leaves these two out of the node's configuration.
    modprobe = {
        key: value
        for key, value in (kernels.container(module).get("modprobe") or {}).items()
        if key not in ("args", "rawArgs")
    }
    if wanted is None:
        return f"waits for the image of its kernel{images.progress(kernel, snapshot)}"
    config = wanted["config"]
    if config["kernelVersion"] != kernel:
        what = f"is prepared for kernel {config['kernelVersion']}, and runs {kernel}"
        return f"{what}{images.progress(kernel, snapshot)}"
    if (image and config["containerImage"] != image) or not diff.covers(config.get("modprobe"), modprobe):
        return f"does not have the Module's change yet{images.progress(kernel, snapshot)}"
    return ""


def _judge_loaded(node: KubeObject, module: KubeObject, snapshot: Snapshot) -> Readiness | None:
    boot = at(node, "status.nodeInfo.bootID") or ""
    wanted, there = entry(node, "spec", module, snapshot), entry(node, "status", module, snapshot)
    namespace = module["metadata"]["namespace"]
    ready_label = kmm_manifest.ready_label(namespace, name(module))
    what = behind(node, module, snapshot)
    if what or wanted is None:
        pass
    elif there is None or any(there.get(key) != wanted.get(key) for key in ("config", "version")):
        what = "the kernel module is being loaded"
    elif there.get("bootId", boot) != boot:
        what = "was rebooted, and the kernel module is not loaded again yet"
    elif ready_label not in labels(node):
        what = "KMM has not labelled it ready"
    if not what:
        return None
    pods = f", and `{how_to_list(name(node), namespace)}` to check the pods of the Module"
    text = text_of("GPU-KMM-PENDING", object=f"node {name(node)}", progress=what, also=pods)
    return at_node(name(node), "Loading", what, text.code, text.remedy)
