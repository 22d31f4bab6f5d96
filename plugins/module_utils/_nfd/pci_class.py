# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""PCI device classes, as NFD's deviceClassWhitelist means them: beginnings of four hexadecimal digits."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError

# What has to do with accelerators; the longest beginning that fits explains a class.
_WORDS: t.Final = {
    "01": "storage controllers",
    "0108": "NVMe drives",
    "02": "all network adapters: Ethernet (0200) and InfiniBand (0207)",
    "0200": "Ethernet adapters only: an InfiniBand adapter is 0207, which 0200 does not let through",
    "0207": "InfiniBand adapters only: an Ethernet adapter is 0200",
    "03": "all display and 3D controllers: GPUs with an output (0300) and without (0302)",
    "0300": "GPUs with a display output only: most data centre GPUs are 0302",
    "0302": "3D controllers: GPUs without a display output",
    "0b40": "co-processors",
    "12": "processing accelerators",
    "1200": "processing accelerators: AI accelerators, most FPGAs",
}
_CLASS: t.Final = re.compile(r"[0-9a-f]{1,6}")


def check(classes: t.Sequence[str]) -> None:
    for index, entry in enumerate(classes):
        if not _CLASS.fullmatch(entry):
            message = f"pci_classes[{index}] is {entry!r}, and a PCI class is a beginning of hexadecimal digits in lower case."
            raise InputError(
                "NFD-PCI",
                message,
                'Write it in quotes, for example "02", "0302" or "0b40": without them YAML takes some for numbers.',
            )


def explain(classes: t.Sequence[str]) -> list[dict[str, str]]:
    """Each class with what it lets through; one that another covers is said to be."""
    found = []
    for entry in dict.fromkeys(str(one) for one in classes):
        by = next((other for other in map(str, classes) if other != entry and entry.startswith(other)), "")
        key = max((known for known in _WORDS if entry.startswith(known)), key=len, default="")
        words = _WORDS.get(key, "a class that this collection has no word for")
        found.append({"class": entry, "lets_through": f"nothing more: {by} covers it" if by else words})
    return found
