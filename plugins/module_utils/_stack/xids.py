# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Xids: the driver's numbers for what went wrong with a GPU, and what NVIDIA's catalogue advises for Ampere and newer.

The device plugin takes a GPU away for every Xid but those of applications (13, 31, 43, 45, 68 and 109), which therefore are not here.
"""

from __future__ import annotations

import re
import typing as t

RESET, REBOOT, REPLACE, WATCH = "reset", "reboot", "replace", "watch"
_REPORT: t.Final = re.compile(r"XidCriticalError: Xid=(\d+)(?: on Device=([^\s;,]+))?")


class Xid(t.NamedTuple):
    meaning: str
    action: str


XIDS: t.Final[dict[int, Xid]] = {
    46: Xid("the GPU stopped processing", RESET),
    48: Xid("double-bit ECC error, not correctable", RESET),
    54: Xid("the board's auxiliary power is not connected", REPLACE),
    62: Xid("an internal micro-controller halted", RESET),
    63: Xid("a memory row was remapped", WATCH),
    64: Xid("a memory row could not be remapped", REPLACE),
    74: Xid("NVLink error, here or at the other end of the link", RESET),
    79: Xid("the GPU has fallen off the bus", REBOOT),
    92: Xid("many single-bit ECC errors", WATCH),
    94: Xid("memory error, contained in one application", WATCH),
    95: Xid("memory error, not contained: every application on the GPU is affected", RESET),
    110: Xid("security fault", REBOOT),
    119: Xid("the GPU's system processor (GSP) does not answer", RESET),
    120: Xid("error in the GPU's system processor (GSP)", RESET),
    136: Xid("link training failed", RESET),
    140: Xid("ECC error that could not be recovered from", RESET),
    143: Xid("the GPU could not be initialized", RESET),
    154: Xid("the recovery action changed; the driver's log names it", REBOOT),
    158: Xid("fatal timeout", RESET),
}
_AGAIN: t.Final = "then delete the device plugin's pod of that node, so that it counts anew"
REMEDIES: t.Final = {
    RESET: f"Drain the node and reset the GPU (`nvidia-smi --gpu-reset` in the driver's pod) or reboot the node, {_AGAIN}; replace the GPU if it comes back.",
    REBOOT: f"Drain and reboot the node, {_AGAIN}; if it comes back, replace the GPU (or the machine: `replace_node.yml`).",
    REPLACE: "Drain the node, reset the GPU once, and have it replaced (or the machine: `replace_node.yml`) if it comes back.",
    WATCH: f"Restart the application that was hit and reset the GPU at the next chance, {_AGAIN}.",
}
_UNKNOWN: t.Final = Xid("not in our table; look it up in NVIDIA's catalogue of Xids", REBOOT)
_GRAVITY: t.Final = (REPLACE, REBOOT, RESET, WATCH)


def reported(log: str) -> list[tuple[int, str]]:
    """(Xid, device) as the device plugin logged them, each once; the device is empty where all were taken."""
    return list(dict.fromkeys((int(number), device or "") for number, device in _REPORT.findall(log)))


def known(number: int) -> Xid:
    return XIDS.get(number, _UNKNOWN)


def advice(found: t.Sequence[tuple[int, str]]) -> tuple[str, str]:
    """What happened, and what to do about the gravest of them."""
    texts = [
        f"Xid {number} on {device or 'every device'}: {known(number).meaning}" for number, device in found
    ]
    gravest = min((known(number).action for number, _device in found), key=_GRAVITY.index)
    return "; ".join(texts), REMEDIES[gravest]
