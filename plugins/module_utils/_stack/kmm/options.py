# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of backend kmm in special_resource."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.options import read

_PLUGIN: t.Final = """
image str required
args strs
command strs
env maps
volumes maps
volume_mounts maps
service_account str
"""
_GROUPS: t.Final = {
    "tls": "insecure bool\ninsecure_skip_tls_verify bool",
    "build": """
dockerfile str
dockerfile_config_map str
build_args map
secrets strs
base_image_registry_tls tls
""",
    "sign": """
key_secret str required
cert_secret str required
files_to_sign strs
unsigned_image str
unsigned_image_registry_tls tls
""",
    "plugin": _PLUGIN,
    "driver": f"{_PLUGIN}driver_name str required\ndevice_classes maps",
}

OPTIONS: t.Final = read(
    """
kmm
  selector map
  module_name str
  version str
  parameters strs
  firmware_path str
  dir_name str
  modules_loading_order strs
  in_tree_modules_to_remove strs
  container_image str
  image_pull_policy Always|IfNotPresent|Never
  image_repo_secret str
  registry_tls tls
  kernel_mappings list
    literal str
    regexp str
    container_image str
    in_tree_modules_to_remove strs
    build build
    sign sign
    registry_tls tls
  build build
  sign sign
  service_account str
  create_service_accounts bool =false
  device_plugin plugin
  dra driver
  preflight
    kernel_version str required
    dtk_image str
    push_built_image bool
""",
    _GROUPS,
)
