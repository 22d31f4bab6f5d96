# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What TuneD makes of the texts of profiles: includes, sections, kernel arguments, and its errors.

TuneD reads a profile as Python's configparser does. The functions in a text (`${f:exec:…}`) are not called.
Unlike the real one it takes every plugin and every sysctl.
"""

from __future__ import annotations

import configparser
import functools
import re
import typing as t
from dataclasses import dataclass, field

SHIPPED: t.Final = frozenset(
    (
        *("accelerator-performance", "atomic-guest", "atomic-host", "aws", "balanced", "balanced-battery"),
        *("cpu-partitioning", "cpu-partitioning-powersave", "default", "desktop", "desktop-powersave"),
        *(
            "enterprise-storage",
            "hpc-compute",
            "intel-sst",
            "laptop-ac-powersave",
            "laptop-battery-powersave",
        ),
        *("latency-performance", "mssql", "network-latency", "network-throughput", "openshift"),
        *("openshift-control-plane", "openshift-node", "optimize-serial-console", "oracle", "postgresql"),
        *("powersave", "realtime", "realtime-virtual-guest", "realtime-virtual-host", "sap-hana"),
        *("sap-hana-kvm-guest", "sap-netweaver", "server-powersave", "spectrumscale-ece", "spindown-disk"),
        *("throughput-performance", "virtual-guest", "virtual-host"),
    )
)
"""The profiles in the image of the operand."""

DIRECTORIES: t.Final = "['/usr/lib/tuned', '/usr/lib/tuned/profiles', '/etc/tuned', '/etc/tuned/profiles']"
RELOAD_FAILED: t.Final = " ERROR    tuned.daemon.controller: Failed to reload TuneD: Cannot load profile(s) "
HEADER: t.Final = "magic_section_which_no_profile_has"
VARIABLE: t.Final = re.compile(r"\$\{(?!f:)([^}]+)\}")

Sections = dict[str, dict[str, str]]
Text = tuple[str, str]
"""Name and text of a profile."""


class NotLoaded(Exception):
    """TuneD refuses a profile; the text is the reason."""


@dataclass(frozen=True)
class Outcome:
    """What TuneD reports after a reload: whether it applied the profile, its last error, kernel arguments."""

    applied: bool
    error: str = ""
    bootcmdline: str = ""
    read: tuple[str, ...] = ()
    """The names of the profiles that it read."""


@dataclass
class _Reading:
    texts: t.Mapping[str, str]
    seen: set[str] = field(default_factory=set)
    sections: Sections = field(default_factory=dict)


@functools.lru_cache(maxsize=256)
def outcome(wanted: str, texts: tuple[Text, ...]) -> Outcome:
    """Return what happens when TuneD loads a profile; `texts` are the profiles of all Tuneds."""
    reading = _Reading(dict(texts))
    try:
        _load(wanted, reading)
    except NotLoaded as refused:
        return Outcome(False, f"{RELOAD_FAILED}'{wanted}': {refused}", read=tuple(sorted(reading.seen)))
    return Outcome(True, "", bootcmdline(reading.sections), tuple(sorted(reading.seen)))


def bootcmdline(sections: Sections) -> str:
    """Return the kernel arguments of section [bootloader]: all its keys that begin with `cmdline`."""
    variables = sections.get("variables", {})
    parts = [
        expanded(value.strip().removeprefix("+").strip(), variables)
        for section in sections.values()
        if _plugin(section) == "bootloader"
        for key, value in section.items()
        if key.startswith("cmdline")
    ]
    return " ".join(" ".join(parts).split())


def expanded(text: str, variables: t.Mapping[str, str]) -> str:
    """Return a text with its variables replaced; functions and unknown variables stay."""
    for _depth in range(5):
        text, before = VARIABLE.sub(lambda one: variables.get(one[1], one[0]), text), text
        if text == before:
            break
    return text


def parsed(name: str, text: str) -> Sections:
    """Return the sections of a profile. Raises NotLoaded."""
    parser = configparser.ConfigParser(
        delimiters=("=",), inline_comment_prefixes=("#",), strict=False, interpolation=None
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(f"[{HEADER}]\n{text}")
    except configparser.Error as error:
        raise NotLoaded(f"Cannot parse '/etc/tuned/{name}/tuned.conf'.") from error
    return {
        one: {key: value or "" for key, value in parser.items(one)}
        for one in parser.sections()
        if one != HEADER
    }


def _load(name: str, reading: _Reading) -> None:
    """Read a profile after those that it includes, so that its own settings win."""
    if name in reading.seen:
        return
    reading.seen.add(name)
    if name not in reading.texts:
        if name not in SHIPPED:
            raise NotLoaded(f"Cannot find profile '{name}' in '{DIRECTORIES}'.")
        return
    own = parsed(name, reading.texts[name])
    for include in re.split(r"\s*[,;]\s*", own.get("main", {}).get("include", "")):
        optional, wanted = include.startswith("-"), include.removeprefix("-").strip()
        if wanted and "${" not in wanted and (not optional or wanted in reading.texts):
            _load(wanted, reading)
    for section, options in own.items():
        replaced = options.get("replace", "").lower() in {"1", "true"}
        known = {} if replaced else reading.sections.get(section, {})
        reading.sections[section] = known | {"type": _type(section, options)} | options


def _type(section: str, options: t.Mapping[str, str]) -> str:
    return options.get("type") or section


def _plugin(options: t.Mapping[str, str]) -> str:
    enabled = options.get("enabled", "true").lower() not in {"0", "false"}
    return options["type"] if enabled else ""
