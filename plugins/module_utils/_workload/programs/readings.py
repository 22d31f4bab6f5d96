# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nvidia-smi says about the GPUs while a program runs: the reasons why one is slow.

Fields and bits are those of `nvidia-smi --help-query-gpu` and of NVML's clocks event reasons.
"""

from __future__ import annotations

import re
import typing as t

from .program import Finding

_FIELDS: t.Final = (
    "uuid,{reasons}.active,temperature.gpu,power.draw,ecc.errors.uncorrected.volatile.total,"
    "pcie.link.width.current,pcie.link.width.max"
)
_ROWS: t.Final = "gpu_uuid,remapped_rows.pending,remapped_rows.failure"
_QUERY: t.Final = "nvidia-smi --query-{what}={fields} --format=csv,noheader,nounits"
# Drivers before 535 call the event reasons throttle reasons.
_NEW, _OLD = (
    _QUERY.format(what="gpu", fields=_FIELDS.format(reasons=name))
    for name in ("clocks_event_reasons", "clocks_throttle_reasons")
)
_REMAPPED: t.Final = _QUERY.format(what="remapped-rows", fields=_ROWS)
# Shell functions. `sample` reads until it is killed; `links` is for the end.
FUNCTIONS: t.Final = f"""\
readings() {{
  lines=$({_NEW} 2>/dev/null) || lines=$({_OLD} 2>/dev/null) || lines=
  printf '%s\\n' "$lines" | sed -n 's/^GPU-/reading gpu GPU-/p'
}}
sample() {{ while :; do sleep 4; readings; done; }}
links() {{
  {_REMAPPED} 2>/dev/null | sed -n 's/^GPU-/reading rows GPU-/p'
  nvidia-smi -q 2>/dev/null | awk -F ' +: ' '/^    GPU UUID/ {{ uuid = $2 }}
    /^    [A-Z]/ {{ fabric = /^    Fabric/ }}
    fabric && /^        State/ {{ state = $2 }}
    fabric && /^        Status/ {{ print "reading fabric " uuid ", " state ", " $2 }}'
  nvidia-smi nvlink --status 2>/dev/null | sed -n 's/^\\(GPU [0-9].*\\|.*Link [0-9].*\\)/reading link \\1/p'
}}
"""


def beside(command: str) -> str:
    """Return a script that runs the command, reads the GPUs beside it, and ends as the command does."""
    return f"{FUNCTIONS}sample &\nsampler=$!\n{command}\ncode=$?\nkill $sampler\nlinks\n(exit $code)"


# Bit of the reasons -> what it says. Power caps are the everyday limit of a GPU under full load.
_REASONS: t.Final = {
    0x04: ("power", "it is held at its power limit"),
    0x08: ("slowdown", "the hardware slows it down, because of heat or power"),
    0x20: ("heat", "the driver slows it down because of heat"),
    0x40: ("heat", "the hardware slows it down because of heat"),
    0x80: ("power brake", "the power supply of the machine makes it slow (power brake)"),
}
_GPU: t.Final = re.compile(
    r"^reading gpu (?P<uuid>GPU-[\w-]+), *(?P<reasons>0x[0-9a-fA-F]+|\S+), *(?P<heat>\S+), *(?P<power>\S+), *"
    r"(?P<errors>\S+), *(?P<width>\S+), *(?P<widest>\S+)$",
    re.MULTILINE,
)
_REMAPS: t.Final = re.compile(
    r"^reading rows (?P<uuid>GPU-[\w-]+), *(?P<pending>\S+), *(?P<failure>\S+)$", re.MULTILINE
)
_FABRIC: t.Final = re.compile(
    r"^reading fabric (?P<uuid>GPU-[\w-]+), (?P<state>[^,\n]+), (?P<status>.+)$", re.MULTILINE
)
_LINK_OWNER: t.Final = re.compile(r"^reading link GPU \d+: .*\(UUID: (GPU-[\w-]+)\)")
_LINK_DOWN: t.Final = re.compile(r"^reading link .*Link (\d+): *<?inactive", re.IGNORECASE)
_LINK_UP: t.Final = re.compile(r"^reading link .*Link \d+: *[\d.]+ *GB/s")


def parse(log: str) -> tuple[Finding, ...]:
    """Return what the readings in a log say, each once."""
    found: list[Finding] = []
    for one in _GPU.finditer(log):
        found += _of_gpu(one)
    for one in _REMAPS.finditer(log):
        if _is_set(one["failure"]):
            text = "a memory row could not be remapped"
            found.append(Finding("remapped rows", "fail", text, one["uuid"], "replace"))
        elif _is_set(one["pending"]):
            text = "a memory row is remapped at the next reset of the GPU"
            found.append(Finding("remapped rows", "warn", text, one["uuid"], "reset"))
    for one in _FABRIC.finditer(log):
        if one["state"] not in ("N/A", "Not Supported") and (one["state"], one["status"]) != (
            "Completed",
            "Success",
        ):
            text = f"the GPU did not join the NVLink fabric: state {one['state']}, status {one['status']}"
            found.append(Finding("fabric", "fail", text, one["uuid"], code="WORK-FABRIC"))
    return tuple(dict.fromkeys([*found, *_links(log)]))


def _of_gpu(one: re.Match[str]) -> t.Iterator[Finding]:
    uuid = one["uuid"]
    bits = int(one["reasons"], 16) if one["reasons"].startswith("0x") else 0
    for bit, (test, text) in _REASONS.items():
        if bits & bit:
            yield Finding(test, "warn", text, uuid)
    if one["errors"].isdigit() and int(one["errors"]):
        text = "memory errors (ECC) since the driver was loaded that could not be corrected"
        yield Finding("ECC", "warn", text, uuid, "reset")
    if one["width"].isdigit() and one["widest"].isdigit() and int(one["width"]) < int(one["widest"]):
        text = f"its PCIe link has {one['width']} of {one['widest']} lanes"
        yield Finding("PCIe", "warn", text, uuid)


def _is_set(text: str) -> bool:
    return text.lower() in ("yes", "true") or (text.isdigit() and int(text) > 0)


def _links(log: str) -> t.Iterator[Finding]:
    """Return the NVLinks that are down; a GPU without any link that is up is one that uses none."""
    owner, down, up = "", dict[str, list[str]](), set[str]()
    for line in log.splitlines():
        if not line.startswith("reading link "):
            continue
        if named := _LINK_OWNER.match(line):
            owner = named[1]
        elif lost := _LINK_DOWN.match(line):
            down.setdefault(owner, []).append(lost[1])
        elif _LINK_UP.match(line):
            up.add(owner)
    for uuid in sorted(down.keys() & up):
        text = f"NVLinks {', '.join(dict.fromkeys(down[uuid]))} are down"
        yield Finding("NVLink", "warn", text, uuid)
