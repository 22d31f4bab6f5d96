# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of backend kmm in special_resource."""

from __future__ import annotations

import typing as t

_TEXT: t.Final = {"type": "str"}
_TEXTS: t.Final = {"type": "list", "elements": "str"}
_MAP: t.Final = {"type": "dict"}
_MAPS: t.Final = {"type": "list", "elements": "dict"}
# Names of Secrets are no secrets.
_NAME: t.Final = {"type": "str", "no_log": False}
_NAMES: t.Final = {"type": "list", "elements": "str", "no_log": False}


def _nested(**options: t.Any) -> dict[str, t.Any]:
    return {"type": "dict", "options": options}


_TLS: t.Final = _nested(insecure={"type": "bool"}, insecure_skip_tls_verify={"type": "bool"})
_BUILD: t.Final = _nested(
    dockerfile=_TEXT,
    dockerfile_config_map=_TEXT,
    build_args=_MAP,
    secrets=_NAMES,
    base_image_registry_tls=_TLS,
)
_SIGN: t.Final = _nested(
    key_secret={**_NAME, "required": True},
    cert_secret={**_NAME, "required": True},
    files_to_sign=_TEXTS,
    unsigned_image=_TEXT,
    unsigned_image_registry_tls=_TLS,
)
_MAPPING: t.Final[dict[str, t.Any]] = {
    "literal": _TEXT,
    "regexp": _TEXT,
    "container_image": _TEXT,
    "in_tree_modules_to_remove": _TEXTS,
    "build": _BUILD,
    "sign": _SIGN,
    "registry_tls": _TLS,
}
_PLUGIN: t.Final[dict[str, t.Any]] = {
    "image": {"type": "str", "required": True},
    "args": _TEXTS,
    "command": _TEXTS,
    "env": _MAPS,
    "volumes": _MAPS,
    "volume_mounts": _MAPS,
    "service_account": _TEXT,
}

OPTIONS: t.Final[dict[str, t.Any]] = {
    "kmm": _nested(
        selector=_MAP,
        module_name=_TEXT,
        version=_TEXT,
        parameters=_TEXTS,
        firmware_path=_TEXT,
        dir_name=_TEXT,
        modules_loading_order=_TEXTS,
        in_tree_modules_to_remove=_TEXTS,
        container_image=_TEXT,
        image_pull_policy={"type": "str", "choices": ["Always", "IfNotPresent", "Never"]},
        image_repo_secret=_NAME,
        registry_tls=_TLS,
        kernel_mappings={"type": "list", "elements": "dict", "options": _MAPPING},
        build=_BUILD,
        sign=_SIGN,
        service_account=_TEXT,
        create_service_accounts={"type": "bool", "default": False},
        device_plugin=_nested(**_PLUGIN),
        dra=_nested(**_PLUGIN, driver_name={"type": "str", "required": True}, device_classes=_MAPS),
        preflight=_nested(
            kernel_version={"type": "str", "required": True},
            dtk_image=_TEXT,
            push_built_image={"type": "bool"},
        ),
    ),
}
