# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifest of a KMM Module: the options checked, and the object that they describe."""

from __future__ import annotations

import typing as t

from ..._core.errors import InputError
from ..._core.objects import KubeObject, merge
from ..._nodes.taints import merge_tolerations
from ..clusterpolicy.options import camel
from ..params import StackParams
from . import admission, devices, kernels

# The value of option kmm, or of one of its suboptions.
Options = dict[str, t.Any]
API_VERSION: t.Final = "kmm.sigs.x-k8s.io/v1beta1"
# Label of the objects that we create for a Module, so that we can delete them with it.
PART_OF: t.Final = "accelerators.openshift/module"
PREFIX: t.Final = "kmm.node.kubernetes.io"


def version_label(namespace: str, name: str) -> str:
    """Return the node label that says which version of the Module the node gets."""
    return f"{PREFIX}/version-module.{namespace}.{name}"


def ready_label(namespace: str, name: str) -> str:
    """Return the node label that KMM sets once the kernel module is loaded."""
    return f"{PREFIX}/{namespace}.{name}.ready"


def is_preflight_only(params: StackParams) -> bool:
    """Return whether the task only verifies Modules for a kernel, and applies none."""
    kmm = params["kmm"] or {}
    return bool(kmm.get("preflight")) and not (
        kmm.get("module_name") or kmm.get("kernel_mappings") or params["spec"]
    )


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work, before the first request."""
    kmm = params["kmm"] or {}
    if kmm.get("preflight") and is_preflight_only(params):
        return
    if not params["name"]:
        raise InputError(
            "INPUT-REQUIRED", "name is missing: a Module of KMM has no usual name.", "Give the Module a name."
        )
    if params["state"] == "absent":
        return
    loader = ((params["spec"].get("moduleLoader") or {}).get("container")) or {}
    _check_images(kmm, loader)
    if (kmm.get("device_plugin") or params["spec"].get("devicePlugin")) and (
        kmm.get("dra") or params["spec"].get("dra")
    ):
        raise InputError(
            "INPUT-OPTION", "kmm.device_plugin and kmm.dra exclude each other.", "Keep one of the two."
        )
    devices.check(params)
    if not selector(params):
        message = (
            "kmm.selector is missing, and the pools have no node_selector in common."
            if params["pools"]
            else "kmm.selector is missing."
        )
        raise InputError("INPUT-REQUIRED", message, "Give labels that all nodes of the pools have.")
    admission.check(build(params))


def _check_images(kmm: Options, loader: Options) -> None:
    if not kmm.get("kernel_mappings") and not loader.get("kernelMappings"):
        raise InputError(
            "INPUT-REQUIRED",
            "kmm.kernel_mappings is missing.",
            "Give at least one mapping from a kernel to an image.",
        )
    if not kmm.get("module_name") and not loader.get("modprobe"):
        raise InputError("INPUT-REQUIRED", "kmm.module_name is missing.", "Give the name that modprobe gets.")
    kernels.check(kmm.get("kernel_mappings") or [], "kmm.kernel_mappings")
    for index, mapping in enumerate(kmm.get("kernel_mappings") or []):
        if not mapping.get("container_image") and not kmm.get("container_image"):
            message = f"kmm.kernel_mappings[{index}].container_image is missing, and kmm.container_image too."
            raise InputError("INPUT-REQUIRED", message, "Give the image here, or once for all mappings.")
    _check_signing(kmm)
    for path, build in _each(kmm, "build"):
        if bool(build.get("dockerfile")) == bool(build.get("dockerfile_config_map")):
            raise InputError(
                "INPUT-VALUE",
                f"{path} needs either dockerfile or dockerfile_config_map.",
                "dockerfile is the text, the other a ConfigMap that exists.",
            )


def _check_signing(kmm: Options) -> None:
    """Raise InputError if nothing says which files to sign, or which image has them."""
    root = str(kmm.get("dir_name") or "/opt").rstrip("/")
    for path, sign in _each(kmm, "sign"):
        if not sign.get("files_to_sign"):
            raise InputError(
                "INPUT-REQUIRED",
                f"{path}.files_to_sign is missing.",
                f"Give the modules' paths in the image, such as {root}/lib/modules/*/*.ko.",
            )
        if strange := [file for file in sign["files_to_sign"] if not file.startswith(f"{root}/")]:
            raise InputError(
                "INPUT-VALUE",
                f"{path}.files_to_sign has {strange[0]}, which is not below {root}.",
                "Set kmm.dir_name, or correct the path.",
            )
    for index, mapping in enumerate(kmm.get("kernel_mappings") or []):
        sign = {**(kmm.get("sign") or {}), **(mapping.get("sign") or {})}
        if sign and not (mapping.get("build") or kmm.get("build") or sign.get("unsigned_image")):
            message = f"kmm.kernel_mappings[{index}] has sign, and neither build nor sign.unsigned_image."
            raise InputError(
                "INPUT-REQUIRED",
                message,
                "Give the image whose modules are signed; container_image names the signed one.",
            )


def _each(kmm: Options, key: str) -> list[tuple[str, Options]]:
    """Return an option of all mappings, and of each single one, with its path."""
    found = [
        (f"kmm.{key}", kmm.get(key)),
        *(
            (f"kmm.kernel_mappings[{at}].{key}", one.get(key))
            for at, one in enumerate(kmm.get("kernel_mappings") or [])
        ),
    ]
    return [(path, one) for path, one in found if one]


def selector(params: StackParams) -> dict[str, str]:
    """Return the Module's selector: as given, else the labels that the selectors of all pools share."""
    given = (params["kmm"] or {}).get("selector") or params["spec"].get("selector")
    if given or not params["pools"]:
        return dict(given or {})
    first, *others = [pool["node_selector"] for pool in params["pools"]]
    return {
        key: str(value) for key, value in first.items() if all(other.get(key) == value for other in others)
    }


def tolerations(params: StackParams) -> list[dict[str, t.Any]]:
    """Return the user's tolerations, and one for each taint of the pools."""
    taints = [taint for pool in params["pools"] for taint in pool.get("taints") or []]
    own = [
        {
            "key": one["key"],
            "operator": "Equal" if one.get("value") else "Exists",
            "value": one.get("value"),
            "effect": one["effect"],
        }
        for one in taints
    ]
    return merge_tolerations(params["tolerations"], own)


def build(params: StackParams) -> KubeObject:
    """Return the Module to apply: the options, with the raw spec merged over them."""
    kmm, name, namespace = params["kmm"] or {}, params["name"], params["namespace"]
    modprobe = {
        "moduleName": kmm.get("module_name"),
        "dirName": kmm.get("dir_name"),
        "firmwarePath": kmm.get("firmware_path"),
    }
    modprobe |= {camel(key): kmm.get(key) for key in ("parameters", "modules_loading_order")}
    container = {
        camel(key): kmm.get(key) for key in ("version", "image_pull_policy", "in_tree_modules_to_remove")
    }
    container |= {
        "modprobe": _given(modprobe),
        "registryTLS": _tls(kmm.get("registry_tls")),
        "build": _build(kmm.get("build"), f"{name}-dockerfile"),
        "sign": _sign(kmm.get("sign")),
        "kernelMappings": [
            _mapping(one, kmm.get("container_image"), f"{name}-{at}-dockerfile")
            for at, one in enumerate(kmm.get("kernel_mappings") or [])
        ],
    }
    spec: dict[str, t.Any] = {
        "selector": selector(params),
        "tolerations": tolerations(params),
        "imageRepoSecret": {"name": kmm["image_repo_secret"]} if kmm.get("image_repo_secret") else None,
        "moduleLoader": _given(
            {"serviceAccountName": kmm.get("service_account"), "container": _given(container)}
        ),
        "devicePlugin": _plugin(kmm.get("device_plugin")),
        "dra": _plugin(kmm.get("dra")),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Module",
        "metadata": {"name": name, "namespace": namespace},
        "spec": merge(_given(spec), params["spec"]),
    }


def _given(values: Options) -> dict[str, t.Any]:
    """Return the values without those that are empty."""
    return {key: value for key, value in values.items() if value not in (None, {}, [])}


def _tls(values: Options | None) -> dict[str, t.Any]:
    return _given(
        {
            "insecure": (values or {}).get("insecure"),
            "insecureSkipTLSVerify": (values or {}).get("insecure_skip_tls_verify"),
        }
    )


def _build(values: Options | None, own: str) -> dict[str, t.Any]:
    if not values:
        return {}
    arguments = [
        {"name": key, "value": str(value)} for key, value in (values.get("build_args") or {}).items()
    ]
    secrets = [{"name": one} for one in values.get("secrets") or []]
    found = {
        "dockerfileConfigMap": {"name": values.get("dockerfile_config_map") or own},
        "buildArgs": arguments,
        "secrets": secrets,
    }
    return _given({**found, "baseImageRegistryTLS": _tls(values.get("base_image_registry_tls"))})


def _sign(values: Options | None) -> dict[str, t.Any]:
    if not values:
        return {}
    names = {"keySecret": {"name": values["key_secret"]}, "certSecret": {"name": values["cert_secret"]}}
    more = {"filesToSign": values.get("files_to_sign"), "unsignedImage": values.get("unsigned_image")}
    return _given(
        {**names, **more, "unsignedImageRegistryTLS": _tls(values.get("unsigned_image_registry_tls"))}
    )


def _mapping(values: Options, image: str | None, own: str) -> dict[str, t.Any]:
    plain = {camel(key): values.get(key) for key in ("literal", "regexp", "in_tree_modules_to_remove")}
    plain |= {
        "containerImage": values.get("container_image") or image,
        "registryTLS": _tls(values.get("registry_tls")),
    }
    return _given({**plain, "build": _build(values.get("build"), own), "sign": _sign(values.get("sign"))})


def _plugin(values: Options | None) -> dict[str, t.Any]:
    if not values:
        return {}
    container = _given(
        {camel(key): values.get(key) for key in ("image", "args", "command", "env", "volume_mounts")}
    )
    more = {"serviceAccountName": values.get("service_account"), "volumes": values.get("volumes")}
    return _given(
        {
            **more,
            "container": container,
            "driverName": values.get("driver_name"),
            "deviceClasses": values.get("device_classes"),
        }
    )
