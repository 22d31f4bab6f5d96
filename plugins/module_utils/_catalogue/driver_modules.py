# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernel modules a GPU supports: open, proprietary or both.

Blackwell, later GPUs and Grace support only open modules; GPUs before Turing support only proprietary ones.

Sources, checked 2026-11-22. NVIDIA's blog of 2024-07-17 on open modules: Grace Hopper and Blackwell need
them, Maxwell, Pascal and Volta cannot use them; Turing, Ampere, Ada and Hopper support both. NVIDIA's
deprecation schedule for Unix drivers: branch 580 is the last for Maxwell, Pascal and Volta. The GPU
operator's documentation: GPUDirect Storage 2.17.5 and later needs open modules; its source v26.7.0 treats
C(auto) of an NVIDIADriver as not open. GDRCopy works with both kinds. Precompiled drivers support neither
GPUDirect Storage nor GDRCopy.
"""

from __future__ import annotations

import re
import typing as t

OPEN: t.Final = "open"
PROPRIETARY: t.Final = "proprietary"
LAST_FOR_OLD: t.Final = 580
# Starts of the catalogue's models, and of the label nvidia.com/gpu.product without "NVIDIA-".
_ONLY: t.Final = {
    OPEN: ("B100", "B200", "B300", "GB10", "GB200", "GB300", "GH200", "RTX-PRO-", "GEFORCE-RTX-50"),
    PROPRIETARY: (
        *("V100", "P100", "P40", "P4", "M60", "M40", "M10", "TESLA-V100", "TESLA-P", "TESLA-M", "TITAN-V"),
        *("QUADRO-GV100", "QUADRO-P", "QUADRO-M"),
    ),
}


def only(model: str) -> str:
    """Return the only kind of modules that works, C(open) or C(proprietary), or "" if both work."""
    name = model.upper().replace(" ", "-").removeprefix("NVIDIA-")
    return next((kind for kind, starts in _ONLY.items() if name.startswith(starts)), "")


def contradiction(wanted: str | None, models: t.Iterable[str]) -> str:
    """Return why this kind of modules does not fit these GPUs, or "" if it fits or the operator chooses."""
    wrong = sorted({model for model in models if only(model) not in ("", wanted)})
    if not wrong or wanted not in (OPEN, PROPRIETARY):
        return ""
    return f"{' and '.join(wrong)} GPUs take {only(wrong[0])} kernel modules only"


def default_branch(release: t.Sequence[int]) -> str:
    """Return the branch of the driver that this release of the GPU operator brings; "" if it is unknown.

    Source: the component matrix of the operator's documentation.
    """
    if not release:
        return ""
    return "595" if tuple(release) >= (26, 7) else "580"


def outgrown(version: str | None, models: t.Iterable[str]) -> str:
    """Return why this driver version does not fit these GPUs, or "" if it fits or is a digest."""
    branch = re.match(r"\d+", version or "")
    old = sorted({model for model in models if only(model) == PROPRIETARY})
    if not old or not branch or int(branch[0]) <= LAST_FOR_OLD:
        return ""
    return f"{LAST_FOR_OLD} is the last branch with a driver for {' and '.join(old)} GPUs"


def storage(gds: dict[str, t.Any], kind: str) -> str:
    """Return why GPUDirect Storage does not work with these modules, or "" if it does, is off or unknown."""
    version = str(gds.get("version") or "")
    number = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    if (
        not gds.get("enabled")
        or kind == OPEN
        or not version
        or (number < (2, 17, 5) and not version.startswith("sha256"))
    ):
        return ""
    return f"gds.version {version} works with open kernel modules only, and kernel_module_type is {kind}"
