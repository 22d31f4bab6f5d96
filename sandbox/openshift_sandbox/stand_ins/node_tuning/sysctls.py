# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel of a node says to a sysctl: `sandbox/kernel/sysctls.yml` lists what it knows."""

from __future__ import annotations

import functools
import re
import typing as t

import yaml

from openshift_sandbox.sandbox import SOURCES

FILE: t.Final = SOURCES / "kernel/sysctls.yml"
TEXT: t.Final = "text"
PLUGIN: t.Final = " ERROR    tuned.plugins.plugin_sysctl: "
NUMBER: t.Final = re.compile(r"-?[0-9]+")
INTERFACE: t.Final = re.compile(r"^(net\.ipv[46]\.(?:conf|neigh))\.(.+)\.([^.]+)$")
CHOICES: t.Final = {
    "net.core.default_qdisc": ("fq", "fq_codel", "mq", "noqueue", "pfifo_fast", "sfq"),
    "net.ipv4.tcp_congestion_control": ("bbr", "cubic", "dctcp", "reno"),
}


def error(name: str, value: str) -> str | None:
    """Return the line that TuneD logs when the kernel does not take a value; None when it takes it."""
    takes = _known().get(INTERFACE.sub(r"\1.*.\3", name.replace("/", ".")))
    if takes is None:
        return f"{PLUGIN}sysctl option {name} will not be set, failed to read the original value."
    if "${" in value or _fits(takes, name, value.removeprefix(">").removeprefix("<").split()):
        return None
    return f"{PLUGIN}Failed to set sysctl parameter '{name}' to '{value}': [Errno 22] Invalid argument"


def _fits(takes: str, name: str, words: list[str]) -> bool:
    if takes == TEXT:
        return name not in CHOICES or (bool(words) and set(words) <= set(CHOICES[name]))
    return bool(words) and len(words) <= int(takes) and all(NUMBER.fullmatch(word) for word in words)


@functools.cache
def _known() -> dict[str, str]:
    return {name: str(takes) for takes, names in yaml.safe_load(FILE.read_text()).items() for name in names}
