# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Functions that search the collection's own catalogue of GPU instance types."""

from __future__ import annotations

import typing as t

from .catalogue import AS_OF, BUILT_IN, CLOUDS, Catalogue
from .types import InstanceType

__all__ = [
    "AS_OF",
    "BUILT_IN",
    "CLOUDS",
    "Catalogue",
    "InstanceType",
    "attached",
    "clouds_with",
    "everything",
    "find",
    "nearest",
]

find: t.Final = BUILT_IN.find
attached: t.Final = BUILT_IN.attached
everything: t.Final = BUILT_IN.everything
clouds_with: t.Final = BUILT_IN.clouds_with
nearest: t.Final = BUILT_IN.nearest
