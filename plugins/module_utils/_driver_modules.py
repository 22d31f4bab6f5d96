# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which kernel modules a GPU takes: from Blackwell on, and beside Grace, only open ones; before Turing only proprietary ones."""

from __future__ import annotations

import typing as t

OPEN: t.Final = "open"
PROPRIETARY: t.Final = "proprietary"
# By the start of the catalogue's model, and of the label nvidia.com/gpu.product without NVIDIA's name.
_ONLY: t.Final = {
    OPEN: ("B200", "B300", "GB200", "GB300", "GH200", "RTX-PRO-"),
    PROPRIETARY: ("V100", "P100", "P40", "P4", "M60", "M40", "TESLA-V100", "TESLA-P100", "TESLA-P4", "TESLA-M60"),
}


def only(model: str) -> str:
    """C(open) or C(proprietary) where nothing else works, empty where both do."""
    name = model.upper().replace(" ", "-").removeprefix("NVIDIA-")
    return next((kind for kind, starts in _ONLY.items() if name.startswith(starts)), "")


def contradiction(wanted: str | None, models: t.Iterable[str]) -> str:
    """What is wrong with modules of that kind on these GPUs; empty when they fit or the operator chooses."""
    wrong = sorted({model for model in models if only(model) not in ("", wanted)}) if wanted in (OPEN, PROPRIETARY) else []
    return f"{' and '.join(wrong)} GPUs take {only(wrong[0])} kernel modules only" if wrong else ""
