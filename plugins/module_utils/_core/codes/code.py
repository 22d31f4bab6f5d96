# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""One error code, as docs/errors.md describes it."""

from __future__ import annotations

import typing as t

from ..errors import layer_of


class Code(t.NamedTuple):
    """An error code.

    code: what a failed task returns as C(code). when: what happened. remedy: one command or one setting.
    """

    code: str
    when: str
    remedy: str

    @property
    def layer(self) -> str:
        """The layer that a failure with this code returns."""
        return layer_of(self.code)
