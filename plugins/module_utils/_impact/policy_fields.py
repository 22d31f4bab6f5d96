# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operators take away when a field of their custom resource changes: a table, and the questions.

A field that the tables do not have may end every pod with devices.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._catalogue.well_known import (
    DRIVER_UPGRADE,
    FEATURE,
    GPU_PRESENT,
    MIG_CONFIG,
    MIG_STATE,
    NVIDIA,
    PLUGIN_CONFIG,
    WORKLOAD,
)
from .._core.objects import KubeObject, at, name
from .._nodes import drain
from .._nodes.labels import has_nvidia_pci
from .._nodes.taints import GPU_TOLERATION
from . import driver
from .impact import Question

OPERATOR: t.Final = "the GPU operator"
NIC_OPERATOR: t.Final = "the network operator"
# Pods with network devices, and with GPUs, which send through them.
_DEVICES: t.Final = drain.uses_devices
_DEPLOY: t.Final = f"{NVIDIA}gpu.deploy."
_ALL: t.Final = f"{GPU_PRESENT}=true"
_AT_ONCE: t.Final = "all nodes at once"


class Effect(t.NamedTuple):
    """What a change ends. consequence: what the operator does, as a verb phrase; empty if it ends nothing.

    nodes: the selector of the nodes. source: how we know it.
    """

    consequence: str
    nodes: str
    source: str
    is_certain: bool = False
    order: str = "node by node"


# Sources are files of NVIDIA/gpu-operator at v26.7.0 (2026-11).
_OBJECTS: t.Final = "controllers/object_controls.go"
_LABELS: t.Final = "controllers/state_manager.go"
UNKNOWN: t.Final = Effect("changes what we do not know, so pods may end", _ALL, "none")
# The template of the driver's DaemonSet: driver.template_changes says what ends.
ROLLS: t.Final = Effect("", "", f"{_OBJECTS}: TransformDriver; the DaemonSet is OnDelete")
HARMLESS: t.Final = Effect(
    "", "", f"{_OBJECTS}: restarts only a pod that no pod with a GPU needs (metrics, labels, validation)"
)
# A restart by itself ends nothing: conmon keeps containers while CRI-O restarts, and the kubelet keeps the
# devices of running pods while a device plugin restarts (Kubernetes, device plugins). MPS servers end.
MPS: t.Final = Effect(
    "restarts the MPS control daemon, and the CUDA contexts of its clients end",
    f"{NVIDIA}mps.capable=true",
    f"{_OBJECTS}: TransformMPSControlDaemon; RollingUpdate",
)
DRIVER_OFF: t.Final = Effect(
    "takes the driver off",
    driver.DRIVEN,
    f"{_OBJECTS}: DaemonSet deletes the one of a state that is off",
    is_certain=True,
    order=_AT_ONCE,
)
DRIVER_ON: t.Final = Effect(
    "brings a driver to nodes that have one already", driver.DRIVEN, f"{_OBJECTS}: DaemonSet"
)
DRIVER_SETS: t.Final = Effect(
    "replaces the driver's DaemonSets by others",
    driver.DRIVEN,
    f"{_OBJECTS}: cleanupUnusedDriverDaemonSets deletes the old ones, without the upgrade controller",
    is_certain=True,
    order=_AT_ONCE,
)
UPGRADE: t.Final = Effect(
    "changes the upgrade of drivers that is under way",
    f"{DRIVER_UPGRADE},{DRIVER_UPGRADE}!=upgrade-done",
    "controllers/upgrade_controller.go: the policy of each look; nodes that are done stay",
)
TOOLKIT_OFF: t.Final = Effect(
    "takes the container toolkit off, and CRI-O starts no container with a GPU any more",
    f"{_DEPLOY}container-toolkit=true",
    f"{_OBJECTS}: DaemonSet deletes the one of a state that is off",
    is_certain=True,
    order=_AT_ONCE,
)
TOOLKIT: t.Final = Effect(
    "restarts the container toolkit, which configures CRI-O anew and restarts it",
    f"{_DEPLOY}container-toolkit=true",
    f"{_OBJECTS}: TransformToolkit; RollingUpdate",
)
PLUGIN_OFF: t.Final = Effect(
    "takes the device plugin off, so the nodes offer no GPU any more",
    f"{_DEPLOY}device-plugin=true",
    f"{_OBJECTS}: DaemonSet deletes the one of a state that is off",
    is_certain=True,
    order=_AT_ONCE,
)
PLUGIN: t.Final = Effect(
    "restarts the device plugin with another configuration",
    f"{_DEPLOY}device-plugin=true",
    f"{_OBJECTS}: TransformDevicePlugin; RollingUpdate",
)
PROFILE: t.Final = Effect(
    "gives nodes without a profile of their own another one of the device plugin",
    f"{_DEPLOY}device-plugin=true,!{PLUGIN_CONFIG}",
    f"{_OBJECTS}: transformConfigManagerSidecarContainer, DEFAULT_CONFIG",
)
STRATEGY: t.Final = Effect(
    "lets the device plugin offer the partitions of GPUs as other resources",
    f"{MIG_CONFIG},{MIG_CONFIG}!=all-disabled",
    f"{_OBJECTS}: applyMIGConfiguration; whole GPUs have one name in each strategy",
)
MIG_MANAGER: t.Final = Effect(
    "restarts the MIG manager, which tries a change again that has not succeeded (with WITH_REBOOT it "
    "reboots the node)",
    f"{MIG_CONFIG},{MIG_STATE}!=success",
    "mig-parted (2026-08), deployments/container: a layout that the GPUs have already is left alone",
)
LAYOUTS: t.Final = Effect(
    "gives the MIG manager other layouts of GPUs",
    f"{MIG_CONFIG},{MIG_CONFIG}!=all-disabled",
    "mig-parted (2026-08): the label's layout is applied when the manager starts",
)
LAYOUT_OF_REST: t.Final = Effect(
    "has the MIG manager give nodes without a layout the default",
    f"{NVIDIA}mig.capable=true,!{MIG_CONFIG}",
    "controllers/nodelabeling_controller.go: updateGPUStateLabels",
)
FEATURES: t.Final = Effect(
    "takes the labels of GPU feature discovery off, by which drivers, MPS daemons and queues select nodes",
    _ALL,
    f"{_OBJECTS}: DaemonSet deletes the one of a state that is off",
)
RUNTIME: t.Final = Effect(
    "gives operands another RuntimeClass, and restarts them", _ALL, f"{_OBJECTS}: setRuntimeClassName"
)
PATHS: t.Final = Effect(
    "restarts the operands with other paths of the host",
    _ALL,
    f"{_OBJECTS}: transformForHostRoot, transformForDriverInstallDir",
)


def _of_machines(what: str, component: str) -> Effect:
    source = f"{_LABELS}: isStateEnabled, gpuStateLabels"
    return Effect(
        f"restarts or removes {what}, which virtual machines need", f"{_DEPLOY}{component}=true", source
    )


# Path below spec, or path and value -> what its change ends; the longest path that fits counts.
POLICY: t.Final[t.Mapping[str, tuple[Effect, ...]]] = {
    "driver": (ROLLS,),
    "driver.enabled: false": (DRIVER_OFF,),
    "driver.enabled: true": (DRIVER_ON,),
    "driver.usePrecompiled": (DRIVER_SETS,),
    "driver.upgradePolicy": (UPGRADE,),
    "driver.upgradePolicy.autoUpgrade": (ROLLS,),
    "operator.use_ocp_driver_toolkit": (DRIVER_SETS,),
    "gds": (ROLLS, MPS),
    "gdrcopy": (ROLLS, MPS),
    "toolkit": (TOOLKIT,),
    "toolkit.enabled: false": (TOOLKIT_OFF,),
    "toolkit.resources": (HARMLESS,),
    "toolkit.imagePullPolicy": (HARMLESS,),
    "toolkit.imagePullSecrets": (HARMLESS,),
    "cdi": (TOOLKIT, MPS),
    "devicePlugin": (MPS,),
    "devicePlugin.enabled: false": (PLUGIN_OFF,),
    "devicePlugin.enabled: true": (PLUGIN,),
    "devicePlugin.env": (PLUGIN,),
    "devicePlugin.args": (PLUGIN,),
    "devicePlugin.config.default": (MPS, PROFILE),
    "mig.strategy": (STRATEGY, MPS),
    "migManager": (MIG_MANAGER,),
    "migManager.enabled: true": (LAYOUTS,),
    "migManager.config": (LAYOUTS, MIG_MANAGER),
    "migManager.config.default": (LAYOUT_OF_REST, MIG_MANAGER),
    "gfd": (MPS,),
    "gfd.enabled: false": (FEATURES,),
    "dcgm": (HARMLESS,),
    "dcgmExporter": (HARMLESS,),
    "nodeStatusExporter": (HARMLESS,),
    # its image runs in an init container of the other operands too
    "validator": (MPS,),
    "validator.plugin": (HARMLESS,),
    "validator.cuda": (HARMLESS,),
    "validator.driver": (HARMLESS,),
    "validator.toolkit": (HARMLESS,),
    "validator.resources": (HARMLESS,),
    "validator.args": (HARMLESS,),
    "daemonsets": (ROLLS, MPS),
    "daemonsets.updateStrategy": (HARMLESS,),
    "daemonsets.rollingUpdate": (HARMLESS,),
    "hostPaths": (ROLLS, PATHS),
    "operator.runtimeClass": (RUNTIME,),
    "operator.labels": (HARMLESS,),
    "operator.annotations": (HARMLESS,),
    "operator.metrics": (HARMLESS,),
    # on OpenShift the operator takes CRI-O, whatever this says
    "operator.defaultRuntime": (HARMLESS,),
    "psa": (HARMLESS,),
    "psp": (HARMLESS,),
    "vfioManager": (_of_machines("the VFIO manager", "vfio-manager"),),
    "vgpuManager": (_of_machines("the vGPU manager", "vgpu-manager"),),
    "vgpuDeviceManager": (_of_machines("the vGPU device manager", "vgpu-device-manager"),),
    "sandboxDevicePlugin": (_of_machines("the device plugin", "sandbox-device-plugin"),),
    "kataSandboxDevicePlugin": (_of_machines("the device plugin", "kata-sandbox-device-plugin"),),
    "kataManager": (_of_machines("the Kata manager", "kata-manager"),),
    "ccManager": (_of_machines("the manager of confidential computing", "cc-manager"),),
}
# Their question is that of DRIVER_SETS.
_AT_ONCE_TOO: t.Final = [f"spec.{path}" for path, effects in POLICY.items() if DRIVER_SETS in effects]
# What an operand is when the policy does not say; CDI is on by default since 25.10.
_ON: t.Final = ("driver", "toolkit", "devicePlugin", "dcgm", "dcgmExporter", "gfd", "migManager")
_CDI_ON: t.Final = (25, 10)
_CONTAINER: t.Final = "container"
_SANDBOX: t.Final = tuple(f"sandboxWorkloads.{key}" for key in ("enabled", "defaultWorkload", "mode"))
# Workload of a node -> what runs there for it.
_OPERANDS: t.Final = {
    _CONTAINER: "driver, container toolkit and device plugin",
    "vm-passthrough": "VFIO manager and device plugin of virtual machines",
    "vm-vgpu": "vGPU manager and device plugin of virtual machines",
}
# The profile of the device plugin that gpu_sharing makes for nodes that share nothing.
_WHOLE: t.Final = ("", None, "whole-gpus")

_NIC_SOURCE: t.Final = "Mellanox/network-operator 26.1, manifests: a DaemonSet for each state"
_NIC: t.Final = Effect(
    "changes what the network operator runs on the nodes, so pods may lose their network devices",
    driver.NIC_NODES,
    _NIC_SOURCE,
)
# ofedDriver and what it shares with the others: driver.nic_changes.
NIC: t.Final[t.Mapping[str, tuple[Effect, ...]]] = {
    "ofedDriver": (ROLLS,),
    "tolerations": (ROLLS,),
    "nodeAffinity": (ROLLS, _NIC),
    "nicFeatureDiscovery": (HARMLESS,),
    "docaTelemetryService": (HARMLESS,),
    **{
        f"{part}.{key}": (HARMLESS,)
        for part in ("rdmaSharedDevicePlugin", "sriovDevicePlugin", "nvIpam")
        for key in ("image", "repository", "version", "imagePullSecrets", "containerResources")
    },
}
_DRA: t.Final = Effect(
    "restarts the DRA driver with another configuration",
    f"{_DEPLOY}dra-driver=true",
    "internal/state/dra_driver.go; RollingUpdate of all nodes",
    order=_AT_ONCE,
)
CLUSTER: t.Final[t.Mapping[str, tuple[Effect, ...]]] = {
    "draDriver": (_DRA,),
    "hostPaths": (_DRA,),
    "dcgm": (HARMLESS,),
    "dcgmExporter": (HARMLESS,),
    # the DRA driver reads from a file which claims it prepared, after a restart too
    "daemonsets": (HARMLESS,),
}


def of_policy(live: KubeObject, after: KubeObject, installed: tuple[int, ...]) -> list[Question]:
    """Return what to find out before a ClusterPolicy changes.

    installed: the operator's release, () if unknown.
    """
    before, then = (_normal(policy.get("spec") or {}, installed) for policy in (live, after))
    changes = driver.differences(before, then)
    asked = _workloads(live, after, changes)
    asked += _rolls(live, after, installed)
    rest = {path: value for path, value in changes.items() if path not in _SANDBOX}
    if driver.is_delegated(live) and driver.is_delegated(after):
        # NVIDIADriver objects have the drivers
        rest = {path: value for path, value in rest.items() if not path.startswith("driver.")}
    default = "devicePlugin.config.default"
    if {at(spec, default) for spec in (before, then)} <= {*_WHOLE}:
        rest.pop(default, None)
    return asked + questions(rest, POLICY, after, OPERATOR)


def of_new(policy: KubeObject) -> Question:
    """Return what to find out before the first ClusterPolicy: pods that have GPUs have them by other means.

    Such are a driver of the host, or what a policy that somebody deleted left. Nodes of which no label says
    what devices they have count too.
    """
    cause = f"{_object_name(policy)} is new, and its driver, toolkit and device plugin replace others"
    return Question(cause, OPERATOR, "", is_certain=False, order=_AT_ONCE, reaches=_may_have_gpus)


def _may_have_gpus(marks: t.Mapping[str, str]) -> bool:
    return has_nvidia_pci(marks) or not any(key.startswith(f"{FEATURE}pci-") for key in marks)


def of_nic(live: KubeObject, after: KubeObject) -> list[Question]:
    """Return what to find out before a NicClusterPolicy changes."""
    before, then = (driver.filled(policy.get("spec") or {}) for policy in (live, after))
    asked = []
    if changes := driver.nic_changes(live, after):
        cause = f"{', '.join(changes)} of {_object_name(after)} changes the NIC driver's pods"
        question = nic_upgrade(cause, [after])
        if not before.get("ofedDriver"):
            cause = f"{_object_name(after)} brings a NIC driver, which takes the place of the kernel's"
            question = replace(question, cause=cause, by=NIC_OPERATOR, order=_AT_ONCE)
        asked.append(question)
    # a component that is new takes nothing away
    rest = {
        path: value
        for path, value in driver.differences(before, then).items()
        if path.partition(".")[0] in before
    }
    return asked + [
        replace(each, counts=_DEVICES) for each in questions(rest, NIC, after, NIC_OPERATOR, _NIC)
    ]


def nic_upgrade(cause: str, policies: t.Sequence[KubeObject]) -> Question:
    """Return the question about NIC drivers that the operator may replace. policies: what brings them."""
    if keys := driver.forced(policies):
        cause += f" (its drain has {' and '.join(keys)}: it ends all pods of a node, with their data)"
    return Question(cause, driver.NIC_UPGRADE, driver.NIC_NODES, is_certain=False, counts=_DEVICES)


def of_cluster(live: KubeObject, after: KubeObject) -> list[Question]:
    """Return what to find out before a GPUCluster changes."""
    before, then = (driver.filled(policy.get("spec") or {}) for policy in (live, after))
    return questions(driver.differences(before, then), CLUSTER, after, OPERATOR)


def questions(
    changes: t.Mapping[str, t.Any],
    table: t.Mapping[str, tuple[Effect, ...]],
    after: KubeObject,
    by: str,
    unknown: Effect = UNKNOWN,
) -> list[Question]:
    """Return one question for each effect of these changes. changes: path below spec -> its new value."""
    paths: dict[Effect, list[str]] = {}
    for path, value in changes.items():
        for effect in _effects(path, value, table, unknown):
            if effect.consequence:
                paths.setdefault(effect, []).append(f"spec.{shown(path, value)}")
    return [
        Question(
            f"{', '.join(found)} of {_object_name(after)} {outcome.consequence}",
            by,
            outcome.nodes,
            is_certain=outcome.is_certain,
            order=outcome.order,
        )
        for outcome, found in paths.items()
    ]


def _effects(
    path: str, value: t.Any, table: t.Mapping[str, tuple[Effect, ...]], unknown: Effect
) -> tuple[Effect, ...]:
    keys = path.split(".")
    places = [shown(path, value), *(".".join(keys[:end]) for end in range(len(keys), 0, -1))]
    return next((table[place] for place in places if place in table), (unknown,))


def shown(path: str, value: t.Any) -> str:
    """Return the path with a switch's new value, as the user writes it; else the path alone."""
    if path.rpartition(".")[2] in ("enabled", "usePrecompiled", "useNvidiaDriverCRD"):
        return f"{path}: {str(bool(value)).lower()}"
    is_name = path.startswith(("sandboxWorkloads.", "mig.")) and isinstance(value, str)
    return f"{path}: {value}" if is_name else path


def _object_name(obj: KubeObject) -> str:
    return f"{obj['kind']} {name(obj)}"


def _rolls(live: KubeObject, after: KubeObject, installed: tuple[int, ...]) -> list[Question]:
    """Return the question about driver pods that the upgrade controller replaces.

    Without it they stay as they are: their DaemonSet is OnDelete.
    """
    changes = [change for change in driver.template_changes(live, after) if change not in _AT_ONCE_TOO]
    is_off = [at(policy, "spec.driver.enabled") is False for policy in (live, after)]
    if not changes or any(is_off) or not driver.replaces(after):
        return []
    if driver.effect(installed, changes) == driver.RESTARTS:
        return []
    cause = f"{', '.join(changes)} of {_object_name(after)} changes the driver's pods"
    return [Question(cause, driver.UPGRADE, driver.DRIVEN, rules=driver.upgrade_policy(after))]


def _workloads(live: KubeObject, after: KubeObject, changes: t.Mapping[str, t.Any]) -> list[Question]:
    """Return the questions about nodes that are to run virtual machines, or containers again."""
    if not any(path in _SANDBOX for path in changes):
        return []
    before, then = ((policy.get("spec") or {}).get("sandboxWorkloads") or {} for policy in (live, after))
    keys = [full.rpartition(".")[2] for full in _SANDBOX]
    settings = [
        f"spec.{shown(f'sandboxWorkloads.{key}', then.get(key))}"
        for key in keys
        if before.get(key) != then.get(key)
    ]
    object_name = f"{', '.join(settings)} of {_object_name(after)}"
    asked = [
        Question(
            f"{object_name} takes {operands} off",
            OPERATOR,
            _ALL,
            order=_AT_ONCE,
            reaches=_leaving(before, then, workload),
        )
        for workload, operands in _OPERANDS.items()
    ]
    # Which workload the operator gives nodes without the label is a variable of its process, which two of
    # its controllers share; and nodes whose driver upgrade is under way stay as they are.
    why = f"{object_name} switches the upgrade of drivers, and which operands run on nodes without {WORKLOAD}"
    switches = bool(before.get("enabled")) != bool(then.get("enabled"))
    selector = f"{_ALL},!{WORKLOAD}"
    may = Question(why, OPERATOR, selector, is_certain=False, reaches=_staying(before, then))
    return asked + ([may] if switches else [])


def workload(sandbox: t.Mapping[str, t.Any], marks: t.Mapping[str, str]) -> str:
    """Return what a node runs: container, vm-passthrough or vm-vgpu. marks: its labels."""
    if not sandbox.get("enabled"):
        return _CONTAINER
    own = marks.get(WORKLOAD, "")
    return own if own in _OPERANDS else str(sandbox.get("defaultWorkload") or _CONTAINER)


def _leaving(
    before: t.Mapping[str, t.Any], then: t.Mapping[str, t.Any], leaves: str
) -> t.Callable[[t.Mapping[str, str]], bool]:
    """Return whether a node with these labels stops to run the workload, or runs it in another mode."""
    modes = {spec.get("mode") or "kubevirt" for spec in (before, then)}

    def reaches(marks: t.Mapping[str, str]) -> bool:
        old, new = workload(before, marks), workload(then, marks)
        return old == leaves and (new != leaves or (leaves == "vm-passthrough" and len(modes) > 1))

    return reaches


def _staying(
    before: t.Mapping[str, t.Any], then: t.Mapping[str, t.Any]
) -> t.Callable[[t.Mapping[str, str]], bool]:
    return lambda marks: workload(before, marks) == workload(then, marks)


def _normal(spec: t.Mapping[str, t.Any], installed: tuple[int, ...]) -> dict[str, t.Any]:
    """Return the spec as the operator reads it: with its defaults, and nothing below what is off."""
    whole = {**spec, **{part: {"enabled": True, **_set(spec.get(part))} for part in _ON}}
    shared = whole.get("daemonsets") or {}
    whole["daemonsets"] = {**shared, "tolerations": shared.get("tolerations") or [GPU_TOLERATION]}
    whole["operator"] = {"use_ocp_driver_toolkit": True, **_set(spec.get("operator"))}
    cdi = _set(spec.get("cdi"))
    if installed:
        cdi = {"enabled": installed >= _CDI_ON, **cdi}
    found = driver.filled(whole)
    if cdi:
        # off and not said are not the same, if the release is not known
        found["cdi"] = {**driver.filled({**cdi, "enabled": True}), "enabled": cdi.get("enabled")}
    return found


def _set(part: t.Mapping[str, t.Any] | None) -> dict[str, t.Any]:
    return {key: value for key, value in (part or {}).items() if value is not None}
