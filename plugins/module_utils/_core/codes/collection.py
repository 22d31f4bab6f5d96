# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Error codes about the collection itself."""

from __future__ import annotations

import typing as t

from .code import Code

COLLECTION: t.Final = (
    Code(
        "INTERNAL",
        "The collection has a bug. The message shows no secret.",
        "Run the task again with `ansible-playbook -vvv`, and report the message.",
    ),
)
