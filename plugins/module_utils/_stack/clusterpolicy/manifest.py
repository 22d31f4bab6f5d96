# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""ClusterPolicy: from options to a complete manifest, and what its status says."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import driver_modules
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import (
    GPU_TOLERATION,
    merge_tolerations,
    operand_tolerations,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    options as clusterpolicy_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.default_spec import (
    REQUIRED,
)

API_VERSION: t.Final = "nvidia.com/v1"
_IMAGE: t.Final = ("version", "repository", "image")


def refuse_second(policies: t.Iterable[dict[str, t.Any]], name: str) -> None:
    """The operator ignores every ClusterPolicy but the oldest, so a second one is never made."""
    names = sorted(entry["metadata"]["name"] for entry in policies)
    if names and name not in names:
        raise NotReadyError(
            "GPU-CP-IGNORED",
            f"ClusterPolicy {names[0]} exists already; another one named {name} would be ignored, since only the oldest counts.",
            f"Use name={names[0]}, or delete that one first.",
            evidence=[f"clusterpolicy/{entry}" for entry in names],
        )


def refuse_switch(params: dict[str, t.Any], live: dict[str, t.Any] | None, wanted: dict[str, t.Any]) -> None:
    """Back from NVIDIADriver objects to the policy's own driver: only when that is asked for by name."""
    before, after = (((policy or {}).get("spec") or {}).get("driver") or {} for policy in (live, wanted))
    asked_for = (params.get("driver") or {}).get("use_nvidia_driver_crd") is False
    if before.get("useNvidiaDriverCRD") and not after.get("useNvidiaDriverCRD") and not asked_for:
        raise NotReadyError(
            "GPU-NVD-MODE",
            f"ClusterPolicy {params['name']} leaves drivers to NVIDIADriver objects; with backend clusterpolicy it would bring one driver to all nodes again.",
            "Use backend nvidiadriver, or set driver.use_nvidia_driver_crd: false to go back.",
        )


def check(params: dict[str, t.Any]) -> None:
    """What cannot work is refused before the first request."""
    driver = params.get("driver") or {}
    for option in clusterpolicy_options.FIELDS:
        check_image(
            params.get(option) or {}, option, "INPUT-DRIVER-IMAGE" if option == "driver" else "INPUT-IMAGE"
        )
    registry = params.get("registry")
    if registry is not None and not re.fullmatch(
        r"[A-Za-z0-9][A-Za-z0-9.-]*(:\d+)?(/[a-z0-9._-]+)*/?", registry
    ):
        raise InputError(
            "INPUT-VALUE",
            f"registry is {registry!r}.",
            "Write a host and a path without a scheme, such as mirror.example.com:5000/gpu.",
        )
    check_driver(driver, "driver")
    pools = params.get("pools") or []
    check_modules(driver.get("kernel_module_type"), pools, "driver")
    check_branch(
        driver.get("version"),
        [pool for pool in pools if not (pool.get("driver") or {}).get("version")],
        "driver",
    )
    check_storage(params.get("gds") or {}, driver.get("kernel_module_type"), pools)
    strategy = ((params.get("spec") or {}).get("mig") or {}).get("strategy")
    if strategy is not None and strategy not in ("none", "single", "mixed"):
        raise InputError(
            "INPUT-VALUE", f"spec.mig.strategy is {strategy!r}.", "Allowed are none, single and mixed."
        )


def check_image(values: dict[str, t.Any], path: str, code: str = "INPUT-IMAGE") -> None:
    given = [key for key in _IMAGE if values.get(key)]
    if given and len(given) != len(_IMAGE):
        missing = [f"{path}.{key}" for key in _IMAGE if key not in given]
        raise InputError(
            code,
            f"{path}.{given[0]} is given without {' and '.join(missing)}: the operator calls that an invalid image specification.",
            f"Give {path}.version, {path}.repository and {path}.image together, or none of them.",
        )


def check_driver(driver: dict[str, t.Any], path: str) -> None:
    most = (driver.get("upgrade_policy") or {}).get("max_unavailable")
    if most is not None and not re.fullmatch(r"\d+|\d{1,2}%|100%", most):
        raise InputError(
            "INPUT-VALUE",
            f"{path}.upgrade_policy.max_unavailable is {most!r}.",
            "Write a number of nodes, or a percentage such as 25%.",
        )
    if driver.get("use_precompiled") and str(driver.get("version") or "").startswith("sha256:"):
        message = f"{path}.version is a digest, and a precompiled driver has another image for each kernel."
        raise InputError(
            "INPUT-VALUE",
            message,
            "Give the driver's branch, such as 595, whose tag the operator completes by the node's kernel.",
        )


def check_modules(wanted: str | None, pools: t.Sequence[dict[str, t.Any]], path: str) -> None:
    """open or proprietary has to fit every GPU that the driver is for; auto leaves it to the driver on each node."""
    for pool in pools:
        if wrong := driver_modules.contradiction(wanted, pool.get("gpu_models") or []):
            message = f"{path}.kernel_module_type is {wanted}, and {wrong} (pool {pool.get('name')})."
            raise InputError(
                "INPUT-VALUE",
                message,
                f"Set {path}.kernel_module_type to auto, or give each pool a driver of its own (backend nvidiadriver).",
            )


def check_branch(version: str | None, pools: t.Sequence[dict[str, t.Any]], path: str) -> None:
    for pool in pools:
        if wrong := driver_modules.outgrown(version, pool.get("gpu_models") or []):
            message = f"{path}.version is {version}, and {wrong} (pool {pool.get('name')})."
            raise InputError(
                "INPUT-VALUE",
                message,
                "Give these GPUs a driver of branch 580; where other pools want a newer one, with backend nvidiadriver.",
            )


def check_storage(gds: dict[str, t.Any], wanted: str | None, pools: t.Sequence[dict[str, t.Any]]) -> None:
    """The policy's driver, where it is auto, chooses by the GPU."""
    kinds = [
        (driver_modules.only(model), f" (pool {pool.get('name')}: {model})")
        for pool in pools
        for model in pool.get("gpu_models") or []
    ]
    for kind, where in [(wanted, ""), *kinds]:
        if kind == driver_modules.PROPRIETARY and (wrong := driver_modules.storage(gds, kind)):
            raise InputError(
                "INPUT-VALUE",
                f"{wrong}{where}.",
                "Switch gds off, or set driver.kernel_module_type to open where every GPU takes that.",
            )


def asked(params: dict[str, t.Any]) -> dict[str, t.Any]:
    """The spec that the typed options and the raw spec ask for, without tolerations and defaults."""
    spec = clusterpolicy_options.spec(params, clusterpolicy_options.FIELDS)
    if "driver" in spec:
        count_unavailable(spec["driver"])
    return t.cast("dict[str, t.Any]", merge(spec, params.get("spec") or {}))


def count_unavailable(driver: dict[str, t.Any]) -> None:
    """The API takes a number or a percentage, and a number as text for a broken percentage."""
    rules = driver.get("upgradePolicy") or {}
    if str(rules.get("maxUnavailable", "")).isdigit():
        rules["maxUnavailable"] = int(rules["maxUnavailable"])


def build(
    params: dict[str, t.Any], base: dict[str, t.Any], live: dict[str, t.Any] | None
) -> dict[str, t.Any]:
    """The whole manifest of a policy that is ours: base, then typed options, then the raw spec."""
    spec = merge({key: {} for key in REQUIRED}, merge(base, asked(params)))
    spec["daemonsets"]["tolerations"] = wanted_tolerations(params, live)
    return {
        "apiVersion": API_VERSION,
        "kind": "ClusterPolicy",
        "metadata": {"name": params["name"]},
        "spec": spec,
    }


def remarks(params: dict[str, t.Any], spec: dict[str, t.Any], installed: tuple[int, ...]) -> list[str]:
    """What a GPU operator of 26.7 or later makes of the spec, other than it seems: its default driver is of branch 595, before it was 580."""
    if installed < (26, 7):
        return []
    found, driver = [], spec.get("driver") or {}
    if params.get("kata_manager"):
        found.append(
            "kata_manager is ignored by the GPU operator from 26.7 on; see kata_sandbox_device_plugin, and sandbox_workloads.mode: kata."
        )
    if (
        driver.get("enabled") is not False
        and not driver.get("useNvidiaDriverCRD")
        and not driver.get("version")
    ):
        old = [
            (pool, wrong)
            for pool in params.get("pools") or []
            if (wrong := driver_modules.outgrown("595", pool.get("gpu_models") or []))
        ]
        said = "driver.version is not given, so the GPU operator brings its own, of branch 595"
        found += [f"{said}, and {wrong} (pool {pool.get('name')})." for pool, wrong in old]
    return found


def wished(params: dict[str, t.Any], live: dict[str, t.Any]) -> dict[str, t.Any]:
    """For a policy that somebody else made: only what was asked for, and the tolerations that the pools need."""
    spec = asked(params)
    spec.setdefault("daemonsets", {})["tolerations"] = wanted_tolerations(params, live)
    return spec


def wanted_tolerations(params: dict[str, t.Any], live: dict[str, t.Any] | None) -> list[dict[str, t.Any]]:
    """The operator replaces its own default by this list, so the default has to be in it."""
    theirs = (((live or {}).get("spec") or {}).get("daemonsets") or {}).get("tolerations")
    raw = ((params.get("spec") or {}).get("daemonsets") or {}).get("tolerations")
    of_pools = operand_tolerations(
        taint for pool in params.get("pools") or [] for taint in pool.get("taints") or []
    )
    return merge_tolerations(theirs, [GPU_TOLERATION], params.get("tolerations"), of_pools, raw)


def effective_tolerations(policy: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    """What operands of this policy tolerate."""
    given = ((policy.get("spec") or {}).get("daemonsets") or {}).get("tolerations")
    return list(given or [GPU_TOLERATION])


def condition(policy: dict[str, t.Any], kind: str) -> dict[str, t.Any]:
    conditions = (policy.get("status") or {}).get("conditions") or []
    return next((entry for entry in conditions if entry["type"] == kind), {})


def state(policy: dict[str, t.Any]) -> str:
    return str((policy.get("status") or {}).get("state") or "")


def reason(policy: dict[str, t.Any]) -> str:
    """Of the condition that speaks: Error while it is True, Ready otherwise."""
    error = condition(policy, "Error")
    speaking = error if error.get("status") == "True" else condition(policy, "Ready")
    return str(speaking.get("reason") or "")
