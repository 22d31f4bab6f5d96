# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of backend custom in special_resource."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.options import read

OPTIONS: t.Final = read("""
custom
  definition map required
  ready str
  failed str
  says str
  expected map
""")
