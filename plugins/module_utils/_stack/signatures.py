# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Known texts of failures in logs, conditions and events, found with known_texts.py, and Xids with a remedy.

An Xid is the driver's number of a GPU error. The device plugin withdraws a GPU after every Xid except 13, 31,
43, 45, 68 and 109. After 109 the GPU needs a reset all the same, so only metrics, events and the driver's own
text tell of it; the others of these are errors of applications, and not here. The advice is from NVIDIA's
catalogue for Ampere and newer.
"""

from __future__ import annotations

import re
import typing as t

from .._core.errors import template_of
from .known_texts import (
    CRIO,
    DRIVER,
    EVENT,
    KERNEL,
    NAMES,
    OPERATOR,
    SIGNATURES,
    VALIDATOR,
    WEBHOOK,
    WORKLOAD,
    Signature,
)

# What else can stand in a place: an event quotes CRI-O, a driver's installer quotes the kernel.
_ALSO: t.Final = {
    DRIVER: (DRIVER, KERNEL),
    EVENT: (EVENT, CRIO, WEBHOOK),
    OPERATOR: (OPERATOR, WEBHOOK),
    VALIDATOR: (VALIDATOR, WORKLOAD),
}


def recognise(text: str, table: t.Iterable[Signature] = SIGNATURES, place: str = "") -> Signature | None:
    """Return the first signature that the text matches, or None; surer signatures come first.

    place: where the text stands, a name of known_texts.py; without it, the text may stand anywhere.
    """
    places = set(_ALSO.get(place, (place,)))
    entries = (entry for entry in table if not place or places.intersection(entry.where))
    found = next((entry for entry in entries if re.search(entry.pattern, text, re.MULTILINE)), None)
    return with_text(found) if found else None


def with_text(known: Signature) -> Signature:
    """Return the signature with the text of its code if it has none of its own."""
    if known.meaning and known.remedy:
        return known
    text = template_of(known.code)
    begin = text.message[:2]
    meaning = known.meaning or (begin if begin[1:].isupper() else begin.lower()) + text.message[2:-1]
    return known._replace(meaning=meaning, remedy=known.remedy or text.remedy)


def remedy_for(text: str, otherwise: str, **names: str) -> str:
    """Return the remedy for a known text, else the other one. names: of node, pod and namespace."""
    found = recognise(text)
    return found.advice(otherwise, **names) if found else otherwise


def spoken(known: Signature, log: str) -> str:
    """Return the line of the log in which a known text begins."""
    at = re.search(known.pattern, log, re.MULTILINE)
    begin = log.rfind("\n", 0, at.start()) + 1 if at else 0
    return log[begin:].partition("\n")[0].strip()


# What a runtime or a library for logs writes before the words of a program.
_PREFIX: t.Final = re.compile(
    r"(?:\d{4}-\d\d-\d\dT\S+ (?:std(?:out|err) [FP] )?)?"
    r"(?:[IWEF]\d{4} [\d:.]+ +\d+ \S+\] |time=\S+ level=\w+ msg=\"?)?"
)
# What a program prints while it ends, and what a shell or a compiler prints of its own work.
_NOISE: t.Final = re.compile(
    r"\++ |(?:Stopping|Unloading|Unmounting|Cleaning|Shutting|Terminating|Exiting|Restoring)\b"
    r"(?!.*(?:[Ff]ailed|error))"
    r"|Caught signal|[Ee]xiting\b|(?:Received|caught) (?:signal|SIG)|Done\b|#+$|[=+*-]{3,}|command terminated"
    r"|make(?:\[\d+\])?: (?:Entering|Leaving) |\s*(?:CC|LD|AR|MODPOST|BTF)\s"
    r"|Performing cleanup on failure|command failed, retrying after"
)
# Lines that look like errors in every healthy log.
_HARMLESS: t.Final = re.compile(
    r"tainting kernel|taints kernel|Unable to read consumer identity|not registered with an entitlement"
    r"|Unable to open .?kernel/dkms\.conf|rmmod: ERROR: Module \S+ is not currently loaded"
    r"|http: TLS handshake error|Skipping BTF generation|Neither --kubeconfig nor --master was specified"
    r"|Could not create symlink: .*: file exists|nvidia-drm module will not be installed"
    r"|Skipping non-nvmlEventTypeXidCriticalError|missing MODULE_DESCRIPTION|Not collecting DCP metrics"
    r"|(?i:No precompiled (?:kernel )?(?:interface|module|package)s? )"
)
_TRAP: t.Final = re.compile(
    r"(?:\++ (?:echo ')?)?(?:Stopping |Unloading |Unmounting |Shutting down|Caught signal|_shutdown)"
)
_ERROR: t.Final = re.compile(
    r"(?i:\b(?:error|fatal|fail(?:ed|ure|s)?|can(?:not|'t)|(?:could|did|does|is|was)(?: not|n't)|unable|"
    r"denied|no such|invalid|panic|unsupported|refused|reject(?:ed|s)?|timed out|timeout|missing|"
    r"unauthorized|forbidden|mismatch|exception|not found|no space|killed|incompatible|unknown)\b)"
    r"|^[EF]\d{4} "
)
_NO_ERROR: t.Final = re.compile(
    r"(?i:\b(?:no|0|zero|without(?: any)?) (?:errors?|failures?)\b"
    r"|\berr(?:or)?s?\"?[:=] ?(?:0|nil|null|none|<nil>|\"\"|\[\])"
    r"|\bfailed[:=] ?0\b)"
)
# Lines that may have an error for a consequence, or none at all.
_WEAK: t.Final = re.compile(
    r"(?i)\W*warn(?:ing)?\b|[WI]\d{4} |.*\blevel\"?[=:] ?\"?(?:warn|info|debug)(?!.*msg=\"?error)"
    r"|make(?:\[\d+\])?: "
)


def telling(log: str) -> tuple[str, bool]:
    """Return the line that says most likely why a program ended, and whether it looks like an error.

    It is the last line that looks like an error before the program began to clean up. Without one it is the
    last line that is no noise; empty if all is noise.
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = [line for line in lines if not _is_noise(line)]
    before = [line for line in lines[: _trap(lines)] if not _is_noise(line)]
    for place in (before, said):
        errors = [line for line in place if _ERROR.search(line) and not _NO_ERROR.search(line)]
        if found := [line for line in errors if not _WEAK.match(line)] or errors:
            return found[-1], True
    return (before or said or [""])[-1], False


def last_words(log: str, most: int) -> list[str]:
    """Return the last lines before the program began to clean up, without noise; else the last lines."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return ([line for line in lines[: _trap(lines)] if not _is_noise(line)] or lines)[-most:]


def _words(line: str) -> str:
    """Return the line without what stands before the words of the program."""
    return _PREFIX.sub("", line, count=1)


def _is_noise(line: str) -> bool:
    return bool(_NOISE.match(_words(line)) or _HARMLESS.search(line))


def _trap(lines: t.Sequence[str]) -> int:
    """Return the index at which the last clean-up begins; the number of lines if there is none."""
    starts = [at for at, line in enumerate(lines) if _TRAP.match(_words(line))]
    start = last = max(starts, default=len(lines))
    for at in range(last - 1, -1, -1):
        if at in starts:
            start = at
        elif not _is_noise(lines[at]):
            break
    return start


RESET, REBOOT, REPLACE, WATCH = "reset", "reboot", "replace", "watch"
_REPORT: t.Final = re.compile(r"XidCriticalError: Xid=(\d+)(?: on Device=([^\s;,]+))?")
# The same of the driver in the kernel's log.
_KERNEL: t.Final = re.compile(r"NVRM: Xid \((PCI:[0-9A-Fa-f:.]+)\): (\d+)\b")


class Xid(t.NamedTuple):
    """A GPU error. meaning: what happened. action: NVIDIA's advice, a key of REMEDIES."""

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
    109: Xid("a context switch timed out; the GPU needs a reset and stays allocatable", RESET),
    110: Xid("security fault", REBOOT),
    119: Xid("the GPU's system processor (GSP) does not answer", RESET),
    120: Xid("error in the GPU's system processor (GSP)", RESET),
    136: Xid("link training failed", RESET),
    140: Xid("ECC error that could not be recovered from", RESET),
    142: Xid("an error that NVIDIA's support has to look at", REPLACE),
    143: Xid("the GPU could not be initialized", RESET),
    144: Xid("NVLink error (SAW); the driver's log has the details", RESET),
    145: Xid("NVLink error (RLW); the driver's log has the details", RESET),
    146: Xid("NVLink error (TLW); the driver's log has the details", RESET),
    147: Xid("NVLink error (TREX); the driver's log has the details", RESET),
    148: Xid("NVLink error (NVLPW_CTRL); the driver's log has the details", RESET),
    149: Xid("NVLink error (NETIR); the driver's log has the details", RESET),
    150: Xid("NVLink error (MSE); the driver's log has the details", RESET),
    151: Xid("key rotation failed", REBOOT),
    154: Xid("the recovery action changed; the driver's log names it", REBOOT),
    155: Xid("NVLink error that the driver defines", RESET),
    156: Xid("a resource of the GPU was retired", RESET),
    158: Xid("fatal timeout", RESET),
}
# After these the device plugin leaves the GPU allocatable.
UNNOTICED: t.Final = frozenset({13, 31, 43, 45, 68, 109} & XIDS.keys())
_REPAIR: t.Final = "`ansible-playbook playbooks/repair_node.yml -e gpu_node={node}`"
_AGAIN: t.Final = "if the Xid comes back, have the GPU or the machine replaced"
REMEDIES: t.Final = {
    RESET: f"Run {_REPAIR} to reset the GPU: it drains, reboots and validates the node, and pods "
    f"there end; {_AGAIN}.",
    REBOOT: f"Run {_REPAIR} to drain and reboot the node, which ends its pods, and to validate it; {_AGAIN}.",
    REPLACE: (
        f"Run {_REPAIR} to drain and reboot the node once, which ends its pods; if the Xid comes back, "
        "have it replaced "
        "(the GPU, or the machine with `-e gpu_repair_replace=true`)."
    ),
    WATCH: f"Restart the application that was hit. When the other pods of the node may end, run {_REPAIR} "
    "to reset the GPU.",
}
_UNKNOWN: t.Final = Xid("not in our table; look it up in NVIDIA's catalogue of Xids", REBOOT)
_GRAVITY: t.Final = (REPLACE, REBOOT, RESET, WATCH)


def reported_xids(log: str) -> list[tuple[int, str]]:
    """Return each (Xid, device) in a log once; an empty device means every device.

    The device plugin names those after which it withdraws a GPU; the driver names all, also those of
    applications, which are left out.
    """
    found = [(int(number), device or "") for number, device in _REPORT.findall(log)]
    kernel = [(int(number), device) for device, number in _KERNEL.findall(log) if int(number) in XIDS]
    return list(dict.fromkeys([*found, *kernel]))


def xid(number: int) -> Xid:
    """Return the entry of an Xid; an unknown one has a default."""
    return XIDS.get(number, _UNKNOWN)


def advice(found: t.Sequence[tuple[int, str]], node: str) -> tuple[str, str]:
    """Return what happened, and the remedy for the gravest Xid of a node."""
    texts = [f"Xid {number} on {device or 'every device'}: {xid(number).meaning}" for number, device in found]
    return "; ".join(texts), NAMES.sub(node, REMEDIES[gravest(found)])


def gravest(found: t.Sequence[tuple[int, str]]) -> str:
    """Return the gravest action of these (Xid, device): a key of REMEDIES."""
    return min((xid(number).action for number, _device in found), key=_GRAVITY.index)
