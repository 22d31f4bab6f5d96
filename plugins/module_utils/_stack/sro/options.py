# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of backend sro in special_resource."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.options import read

OPTIONS: t.Final = read("""
sro
  special_resource str
  chart
    name str required
    version str required
    repository dict required
      name str required
      url str required
  set map
  node_selector map
  management_state Managed|Unmanaged|Force|Removed
  migrate_to kmm|clusterpolicy
  remove bool =false
""")
