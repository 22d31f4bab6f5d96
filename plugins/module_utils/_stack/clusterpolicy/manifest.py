# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a ClusterPolicy from the options, and read its status."""

from __future__ import annotations

import re
import typing as t

from ..._catalogue import driver_branches, driver_modules
from ..._core import fields, references
from ..._core.conditions import find
from ..._core.errors import InputError, NotReadyError
from ..._core.objects import KubeObject, at, merge, name, oldest
from ..._nodes.taints import GPU_TOLERATION, merge_tolerations, operand_tolerations
from ..params import StackParams, StackPool, Values
from . import options
from .default_spec import REQUIRED

API_VERSION: t.Final = "nvidia.com/v1"
# How the user of a playbook, and of the module, returns to the driver of the policy.
_IMAGE: t.Final = ("version", "repository", "image")


def refuse_second(policies: t.Iterable[KubeObject], object_name: str) -> None:
    """Raise NotReadyError if another ClusterPolicy is older: the operator ignores all but the oldest."""
    there = list(policies)
    if not there or name(oldest(there)) == object_name:
        return
    older, names = name(oldest(there)), sorted(map(name, there))
    left = [older, *(one for one in names if one == object_name)]
    evidence = [f"clusterpolicy/{one}" for one in names]
    raise NotReadyError(
        "GPU-CP-IGNORED", older=older, policy=object_name, names=" ".join(left), evidence=evidence
    )


def goes_back(params: StackParams) -> bool:
    """Return whether the user wants the policy's own driver again, by the driver's option or by `spec`."""
    paths = ("driver.use_nvidia_driver_crd", "spec.driver.useNvidiaDriverCRD")
    return any(at(vars(params), path) is False for path in paths)


def refuse_switch(params: StackParams, live: KubeObject | None, wanted: KubeObject) -> None:
    """Raise NotReadyError if this would end the use of NVIDIADriver objects and no option asks for that."""
    before, after = (at(one, "spec.driver.useNvidiaDriverCRD") for one in (live, wanted))
    if before and not after and not goes_back(params):
        raise NotReadyError("GPU-NVD-MODE", policy=params.name)


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work, before the first request."""
    for option in options.FIELDS:
        check_image(getattr(params, option) or {}, option, is_driver=option == "driver")
    check_raw(params.spec, "spec")
    check_registry(params.registry)
    driver, pools = params.driver or {}, params.pools
    check_driver(driver, "driver")
    check_modules(driver.get("kernel_module_type"), pools, "driver")
    # Only objects NVIDIADriver serve a driver of the pool's own.
    is_shared = params.backend == "clusterpolicy"
    served = [pool for pool in pools if is_shared or not at(pool, "driver.version")]
    check_branch(driver.get("version"), served, "driver")
    check_storage(params.gds or {}, driver.get("kernel_module_type"), pools)
    strategy = at(params.spec, "mig.strategy")
    if strategy is not None and strategy not in ("none", "single", "mixed"):
        message = f"spec.mig.strategy is {strategy!r}."
        raise InputError("INPUT-VALUE", message, "Allowed are none, single and mixed.")


def check_registry(registry: str | None) -> None:
    """Raise InputError for a registry that is no host with a path."""
    if registry is not None and (fault := references.repository_fault(registry.removesuffix("/"))):
        remedy = "Write a host and a path without a scheme, such as mirror.example.com:5000/gpu."
        raise InputError("INPUT-VALUE", f"registry {registry!r} {fault}.", remedy)


def check_image(values: Values, path: str, *, is_driver: bool = False) -> None:
    """Raise InputError if only a part of version, repository and image is given, or if no registry has it."""
    check_reference(values, path, is_driver=is_driver)
    given = [key for key in _IMAGE if values.get(key)]
    if given and len(given) != len(_IMAGE):
        missing = " and ".join(f"{path}.{key}" for key in _IMAGE if key not in given)
        what = f"{path}.{given[0]} is given without {missing}"
        message = f"{what}: the operator calls that an invalid image specification."
        remedy = f"Give {path}.version, {path}.repository and {path}.image together, or none of them."
        raise InputError("INPUT-IMAGE", message, remedy)


def check_reference(values: Values, path: str, *, is_driver: bool = False) -> None:
    """Raise InputError if version, repository or image is none that a registry can have."""
    for key, fault in references.faults(values, is_driver=is_driver).items():
        message = f"{path}.{key} {values[key]!r} {fault}."
        raise InputError("INPUT-IMAGE", message, f"Correct {path}.{key}.")


def check_raw(values: Values, path: str, *, is_driver: bool = False) -> None:
    """Raise InputError for a reference in the raw spec that no registry can have.

    is_driver: the spec is that of an NVIDIADriver.
    """
    is_driver = is_driver or path.endswith(".driver")
    check_reference(values, path, is_driver=is_driver)
    for key, part in values.items():
        if isinstance(part, dict):
            check_raw(part, f"{path}.{key}")


def check_driver(driver: Values, path: str) -> None:
    """Raise InputError for an upgrade policy or a version of a driver that cannot work."""
    most = at(driver, "upgrade_policy.max_unavailable")
    if most is not None and not re.fullmatch(r"\d+|\d{1,2}%|100%", most):
        message = f"{path}.upgrade_policy.max_unavailable is {most!r}."
        raise InputError("INPUT-VALUE", message, "Write a number of nodes, or a percentage such as 25%.")
    if driver.get("use_precompiled") and str(driver.get("version") or "").startswith("sha256:"):
        message = f"{path}.version is a digest, and a precompiled driver has another image for each kernel."
        remedy = (
            "Give the driver's branch, such as 595, whose tag the operator completes by the node's kernel."
        )
        raise InputError("INPUT-VALUE", message, remedy)


def check_modules(wanted: str | None, pools: t.Sequence[StackPool], path: str) -> None:
    """Raise InputError if open or proprietary modules do not fit a GPU; with auto the driver chooses."""
    for pool in pools:
        if wrong := driver_modules.contradiction(wanted, pool.get("gpu_models") or []):
            message = f"{path}.kernel_module_type is {wanted}, and {wrong} (pool {pool.get('name')})."
            remedy = (
                f"Set {path}.kernel_module_type to auto, or give each pool its own driver with "
                "backend nvidiadriver."
            )
            raise InputError("INPUT-VALUE", message, remedy)


def check_branch(
    version: str | None, pools: t.Sequence[StackPool], path: str, installed: tuple[int, ...] = ()
) -> None:
    """Raise InputError if the branch of the driver no longer supports a GPU of the pools.

    installed: the operator's release, whose own driver counts without a version.
    """
    branch = version or driver_modules.default_branch(installed)
    for pool in pools:
        if wrong := driver_modules.outgrown(branch, pool.get("gpu_models") or []):
            said = (
                f"is {version}" if version else f"is not given, and the operator's own is of branch {branch}"
            )
            message = f"{path}.version {said}, and {wrong} (pool {pool.get('name')})."
            remedy = (
                f"Set driver of the pool to {driver_branches.as_option(driver_modules.LAST_FOR_OLD)}. Pools "
                "that need a newer one get a driver of their own too."
            )
            raise InputError("INPUT-VALUE", message, remedy)


def check_storage(gds: Values, wanted: str | None, pools: t.Sequence[StackPool]) -> None:
    """Raise InputError if GPUDirect Storage does not fit the modules; with auto the GPU decides them."""
    kinds = [
        (driver_modules.only(model), f" (pool {pool.get('name')}: {model})")
        for pool in pools
        for model in pool.get("gpu_models") or []
    ]
    remedy = "Switch gds off, or set driver.kernel_module_type to open where every GPU takes that."
    for kind, where in [(wanted, ""), *kinds]:
        if kind == driver_modules.PROPRIETARY and (wrong := driver_modules.storage(gds, kind)):
            raise InputError("INPUT-VALUE", f"{wrong}{where}.", remedy)


def asked(params: StackParams) -> dict[str, t.Any]:
    """Return the spec that typed options and raw spec ask for, without tolerations and defaults."""
    spec = options.spec(vars(params), options.FIELDS)
    if "driver" in spec:
        count_unavailable(spec["driver"])
    return dict(merge(spec, params.spec))


def count_unavailable(driver: dict[str, t.Any]) -> None:
    """Turn maxUnavailable into a number if it is digits: the API refuses digits as text."""
    rules = driver.get("upgradePolicy") or {}
    if str(rules.get("maxUnavailable", "")).isdigit():
        rules["maxUnavailable"] = int(rules["maxUnavailable"])


def build(params: StackParams, base: dict[str, t.Any], live: KubeObject | None) -> KubeObject:
    """Return the manifest of an owned policy: typed options, overridden by the raw spec, and its defaults.

    base: the operator's example. A new policy gets all of it; of a live one only what nobody else changed.
    """
    wishes = asked(params)
    spec = merge({key: {} for key in REQUIRED}, fields.with_defaults(base, wishes, live))
    spec["daemonsets"]["tolerations"] = wanted_tolerations(params, live)
    metadata = {"name": params.name, **fields.replaced(base, wishes)}
    return {"apiVersion": API_VERSION, "kind": "ClusterPolicy", "metadata": metadata, "spec": spec}


def remarks(params: StackParams, spec: dict[str, t.Any], installed: tuple[int, ...]) -> list[str]:
    """Return warnings about options that GPU operator 26.7 or later treats in another way."""
    if installed < (26, 7) or not params.kata_manager:
        return []
    return [
        "GPU operator 26.7 and later ignores kata_manager; set kata_sandbox_device_plugin, and "
        "sandbox_workloads.mode to kata."
    ]


def wished(params: StackParams, live: KubeObject) -> dict[str, t.Any]:
    """Return the spec for a foreign policy: what the options ask for, and the tolerations of the pools."""
    spec = asked(params)
    spec.setdefault("daemonsets", {})["tolerations"] = wanted_tolerations(params, live)
    return spec


def wanted_tolerations(params: StackParams, live: KubeObject | None) -> list[KubeObject]:
    """Return all tolerations, with the operator's default: the operator would drop that for this list."""
    theirs, raw = at(live, "spec.daemonsets.tolerations"), at(params.spec, "daemonsets.tolerations")
    taints = [taint for pool in params.pools for taint in pool.get("taints") or []]
    of_pools = operand_tolerations(taints)
    return merge_tolerations(theirs, [GPU_TOLERATION], params.tolerations, of_pools, raw)


def effective_tolerations(policy: KubeObject) -> list[KubeObject]:
    """Return the tolerations of this policy's operands."""
    return list(at(policy, "spec.daemonsets.tolerations") or [GPU_TOLERATION])


def state(policy: KubeObject) -> str:
    """Return status.state: ready, notReady, ignored, disabled, or an empty string."""
    return str(at(policy, "status.state") or "")


def reason(policy: KubeObject) -> str:
    """Return the reason of condition Error while that is True, else the reason of condition Ready."""
    error = find(policy, "Error")
    speaking = error if error.get("status") == "True" else find(policy, "Ready")
    return str(speaking.get("reason") or "")
