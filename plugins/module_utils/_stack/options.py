# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options that all backends of special_resource share."""

from __future__ import annotations

import typing as t

from .._core import adoption

OPTIONS: t.Final[dict[str, t.Any]] = {
    "backend": {
        "type": "str",
        "choices": ["clusterpolicy", "nvidiadriver", "dra", "nicclusterpolicy", "custom", "kmm", "sro"],
        "default": "clusterpolicy",
    },
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "tolerations": {"type": "list", "elements": "dict", "default": []},
    "spec": {"type": "dict", "default": {}},
    "pools": {"type": "list", "elements": "dict", "default": []},
    **adoption.OPTION,
    "settle": {"type": "float", "default": 0},
    "grace": {"type": "float", "default": 60},
}
