# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifest of a KMM Module: the options checked, and the object that they describe."""

from __future__ import annotations

import typing as t

from ..._core.errors import InputError
from ..._core.objects import KubeObject, at, merge
from ..._nodes.taints import merge_tolerations, tolerating
from ..clusterpolicy.options import camel
from ..params import StackParams
from . import admission, devices, kernels
from .kernels import PREFIX

# The value of option kmm, or of one of its suboptions.
Options = dict[str, t.Any]
API_VERSION: t.Final = "kmm.sigs.x-k8s.io/v1beta1"
# Label of the objects that we create for a Module, so that we can delete them with it.
PART_OF: t.Final = "accelerators.openshift/module"


def version_label(namespace: str, name: str) -> str:
    """Return the node label that says which version of the Module the node gets."""
    return f"{PREFIX}/version-module.{namespace}.{name}"


def ready_label(namespace: str, name: str) -> str:
    """Return the node label that KMM sets once the kernel module is loaded."""
    return f"{PREFIX}/{namespace}.{name}.ready"


def is_preflight_only(params: StackParams) -> bool:
    """Return whether the task only verifies Modules for a kernel, and applies none."""
    kmm = params.kmm or {}
    is_loaded = kmm.get("module_name") or kmm.get("kernel_mappings") or params.spec
    return bool(kmm.get("preflight")) and not is_loaded


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work, before the first request."""
    kmm = params.kmm or {}
    if is_preflight_only(params):
        return
    if not params.name:
        why = ": a Module of KMM has no usual name"
        raise InputError("INPUT-REQUIRED", option="name", example="my-driver", also=why)
    if params.state == "absent":
        return
    _check_images(kmm, at(params.spec, "moduleLoader.container") or {})
    has_plugin = kmm.get("device_plugin") or params.spec.get("devicePlugin")
    if has_plugin and (kmm.get("dra") or params.spec.get("dra")):
        raise InputError("INPUT-EXCLUSIVE", option="kmm.device_plugin", other="kmm.dra")
    devices.check(params)
    if not selector(params):
        why = ", and the pools have no node_selector in common" if params.pools else ""
        labels = "{accelerators.openshift/pool: fpga}"
        raise InputError("INPUT-REQUIRED", option="kmm.selector", example=labels, also=why)
    admission.check(build(params))


def _check_images(kmm: Options, loader: Options) -> None:
    if not kmm.get("kernel_mappings") and not loader.get("kernelMappings"):
        raise InputError("INPUT-REQUIRED", option="kmm.kernel_mappings", example=kernels.EXAMPLE)
    if not kmm.get("module_name") and not loader.get("modprobe"):
        why = ": modprobe gets this name"
        raise InputError("INPUT-REQUIRED", option="kmm.module_name", example="my_driver", also=why)
    kernels.check(kmm.get("kernel_mappings") or [], "kmm.kernel_mappings")
    for path, mapping in places(kmm)[1:]:
        if not mapping.get("container_image") and not kmm.get("container_image"):
            option, why = f"{path}.container_image", ", and kmm.container_image for all mappings too"
            example = "registry.example.com/card:${KERNEL_FULL_VERSION}"
            raise InputError("INPUT-REQUIRED", option=option, example=example, also=why)
    _check_signing(kmm)
    for path, build in _each(kmm, "build"):
        if bool(build.get("dockerfile")) == bool(build.get("dockerfile_config_map")):
            message = f"{path} needs either dockerfile or dockerfile_config_map."
            remedy = "dockerfile is the text, the other a ConfigMap that exists."
            raise InputError("INPUT-VALUE", message, remedy)


def _check_signing(kmm: Options) -> None:
    root = str(kmm.get("dir_name") or "/opt").rstrip("/")
    for path, sign in _each(kmm, "sign"):
        if not sign.get("files_to_sign"):
            example = f"[{root}/lib/modules/*/*.ko]"
            raise InputError("INPUT-REQUIRED", option=f"{path}.files_to_sign", example=example)
        if strange := [file for file in sign["files_to_sign"] if not file.startswith(f"{root}/")]:
            message = f"{path}.files_to_sign has {strange[0]}, which is not below {root}."
            raise InputError("INPUT-VALUE", message, "Set kmm.dir_name, or correct the path.")
    for path, mapping in places(kmm)[1:]:
        sign = {**(kmm.get("sign") or {}), **(mapping.get("sign") or {})}
        if sign and not (mapping.get("build") or kmm.get("build") or sign.get("unsigned_image")):
            option, why = f"{path}.sign.unsigned_image", ", and build too: there is no image to sign"
            example = "registry.example.com/card:unsigned"
            raise InputError("INPUT-REQUIRED", option=option, example=example, also=why)


def places(kmm: Options) -> list[tuple[str, Options]]:
    """Return the options for all mappings, then those of each single one, with their paths."""
    mappings = enumerate(kmm.get("kernel_mappings") or [])
    return [("kmm", kmm), *((f"kmm.kernel_mappings[{at}]", one) for at, one in mappings)]


def _each(kmm: Options, key: str) -> list[tuple[str, Options]]:
    return [(f"{path}.{key}", one[key]) for path, one in places(kmm) if one.get(key)]


def selector(params: StackParams) -> dict[str, str]:
    """Return the Module's selector: as given, else the labels that the selectors of all pools share."""
    given = (params.kmm or {}).get("selector") or params.spec.get("selector")
    if given or not params.pools:
        return dict(given or {})
    first, *others = [pool["node_selector"] for pool in params.pools]
    return {
        key: str(value) for key, value in first.items() if all(other.get(key) == value for other in others)
    }


def tolerations(params: StackParams) -> list[dict[str, t.Any]]:
    """Return the user's tolerations, and one for each taint of the pools."""
    taints = [taint for pool in params.pools for taint in pool.get("taints") or []]
    return merge_tolerations(params.tolerations, map(tolerating, taints))


def build(params: StackParams) -> KubeObject:
    """Return the Module to apply: the options, with the raw spec merged over them."""
    kmm, name, namespace = params.kmm or {}, params.name, params.namespace
    container = {
        **_picked(kmm, "version image_pull_policy in_tree_modules_to_remove registry_tls"),
        "modprobe": _picked(kmm, "module_name dir_name firmware_path parameters modules_loading_order"),
        "build": _build(kmm.get("build"), f"{name}-dockerfile"),
        "sign": _sign(kmm.get("sign")),
        "kernelMappings": [
            _mapping(one, kmm.get("container_image"), f"{name}-{at}-dockerfile")
            for at, one in enumerate(kmm.get("kernel_mappings") or [])
        ],
    }
    loader = {"serviceAccountName": kmm.get("service_account"), "container": _given(container)}
    spec: dict[str, t.Any] = {
        "selector": selector(params),
        "tolerations": tolerations(params),
        "imageRepoSecret": {"name": kmm["image_repo_secret"]} if kmm.get("image_repo_secret") else None,
        "moduleLoader": _given(loader),
        "devicePlugin": _plugin(kmm.get("device_plugin")),
        "dra": _plugin(kmm.get("dra")),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Module",
        "metadata": {"name": name, "namespace": namespace},
        "spec": merge(_given(spec), params.spec),
    }


def _given(values: Options) -> dict[str, t.Any]:
    return {key: value for key, value in values.items() if value not in (None, {}, [])}


def _picked(values: Options | None, names: str) -> dict[str, t.Any]:
    """Return the options of these names that are not empty, under the API's names."""
    found = {name: (values or {}).get(name) for name in names.split()}
    return _given(
        {
            camel(name): _picked(one, "insecure insecure_skip_tls_verify") if name.endswith("_tls") else one
            for name, one in found.items()
        }
    )


def _build(values: Options | None, own: str) -> dict[str, t.Any]:
    if not values:
        return {}
    arguments = [
        {"name": key, "value": str(value)} for key, value in (values.get("build_args") or {}).items()
    ]
    found = {
        "dockerfileConfigMap": {"name": values.get("dockerfile_config_map") or own},
        "buildArgs": arguments,
        "secrets": [{"name": one} for one in values.get("secrets") or []],
    }
    return _given({**found, **_picked(values, "base_image_registry_tls")})


def _sign(values: Options | None) -> dict[str, t.Any]:
    if not values:
        return {}
    names = {"keySecret": {"name": values["key_secret"]}, "certSecret": {"name": values["cert_secret"]}}
    return names | _picked(values, "files_to_sign unsigned_image unsigned_image_registry_tls")


def _mapping(values: Options, image: str | None, own: str) -> dict[str, t.Any]:
    found = _picked(values, "literal regexp in_tree_modules_to_remove registry_tls") | {
        "containerImage": values.get("container_image") or image,
        "build": _build(values.get("build"), own),
        "sign": _sign(values.get("sign")),
    }
    return _given(found)


def _plugin(values: Options | None) -> dict[str, t.Any]:
    if not values:
        return {}
    found = _picked(values, "volumes driver_name device_classes") | {
        "container": _picked(values, "image args command env volume_mounts"),
        "serviceAccountName": values.get("service_account"),
    }
    return _given(found)
