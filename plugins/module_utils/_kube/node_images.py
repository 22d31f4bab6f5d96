# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The images that a node's status lists: most of a long list of nodes, and nobody asks for them, so they are cut out before the text is parsed."""

from __future__ import annotations

import typing as t

# Within a text the quotes would be escaped, so this is always a key and its value.
_START: t.Final = b'"images":[{"names":['
_END: t.Final = b"}]"
_NONE: t.Final = b'"images":[]'


def cut(text: bytes) -> bytes:
    """The JSON of a list of nodes without their status.images; as it was where one of them is not plain names and sizes."""
    parts: list[bytes] = []
    done = 0
    while (start := text.find(_START, done)) >= 0:
        end = text.find(_END, start) + len(_END)
        if end < start or not _is_whole(text[start:end]):
            return text
        parts += text[done:start], _NONE
        done = end
    return b"".join((*parts, text[done:]))


def _is_whole(images: bytes) -> bool:
    return (
        b"\\" not in images
        and images.count(b"[") == images.count(b"]")
        and images.count(b"{") == images.count(b"}")
    )
