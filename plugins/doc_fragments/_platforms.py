# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of single platforms."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  aws:
    description: Options of AWS alone; a candidate may have its own.
    type: dict
  provider_spec_patch:
    description:
      - Merged into the provider's value of every machine set (RFC 7386), for what has no option here. V(null) removes a field.
      - On a platform whose fields are known an unknown field is refused, since the API would ignore it.
    type: dict
"""
