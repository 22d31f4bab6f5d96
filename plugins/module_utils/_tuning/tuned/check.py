# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what TuneD, the kernel or the machine would not take in a pool's tuning, before any write."""

from __future__ import annotations

import configparser
import difflib
import re
import typing as t
from dataclasses import replace

from ..._core.input import Problems
from ..._core.objects import KubeObject
from ..._nodes.labels import labels
from .. import topology
from ..entries import left_out
from ..options import Tuning
from ..profiles.shipped import SHIPPED, near
from . import kernel_names, profile

_WRONG: t.Final = "POOL-TUNING"
# Plugins of TuneD 2.20 that a Tuned object may use: its sections, or their key `type`.
PLUGINS: t.Final = (
    *("audio", "bootloader", "cpu", "disk", "eeepc_she", "irqbalance", "modules", "mounts", "net", "rtentsk"),
    *(
        "scheduler",
        "script",
        "scsi_host",
        "selinux",
        "service",
        "sysctl",
        "sysfs",
        "systemd",
        "usb",
        "video",
        "vm",
    ),
)
# Profiles of the node tuning operator for nodes.
_NODE_PROFILES: t.Final = ("openshift", profile.NODE, "openshift-control-plane")
_NO_PLUGINS: t.Final = ("main", "variables")
# Folders of /proc/sys.
_SYSCTL_FOLDERS: t.Final = ("abi", "crypto", "debug", "dev", "fs", "kernel", "net", "sunrpc", "user", "vm")
_SYSCTL: t.Final = re.compile(r"[a-z0-9_]+([./][A-Za-z0-9_*@-]+)+")
# TuneD refuses these (DEPRECATED_SYSCTL_OPTIONS in plugin_sysctl.py).
_OLD_SYSCTLS: t.Final = ("base_reachable_time", "retrans_time")
# Kubelet and network of OpenShift set these, and a node without them does not work.
_PLATFORM_SYSCTLS: t.Final = (
    *("net.ipv4.ip_forward", "vm.overcommit_memory", "kernel.panic", "kernel.panic_on_oops"),
    *("kernel.keys.root_maxkeys", "kernel.keys.root_maxbytes"),
)
_ARGUMENT: t.Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(=[!-~]+)?")
_OF_PLATFORM: t.Final = "belongs to the kubelet and the network of OpenShift."
# Kernel argument -> the option of `tuning` that sets it, or empty for arguments of the platform.
_OTHERS: t.Final = {
    **dict.fromkeys(("hugepages", "hugepagesz", "default_hugepagesz"), "huge_pages"),
    **dict.fromkeys(("isolcpus", "nohz_full", "rcu_nocbs", "systemd.cpu_affinity"), "isolate"),
    **dict.fromkeys(("root", "rootflags", "ostree", "boot", "rw", "ro", "ignition.platform.id", "init"), ""),
}
_ARCHITECTURE: t.Final = "kubernetes.io/arch"
_ONLY_ON: t.Final = {"intel_iommu": "amd64", "amd_iommu": "amd64", "iommu": "amd64"}


def check(tuning: Tuning, problems: Problems) -> None:
    """Add a problem for each option of the tuning that would fail on the nodes."""
    _profile(tuning, problems)
    _data(tuning, problems)
    _sysctls(tuning, problems)
    _arguments(tuning, problems)
    topology.check(tuning, problems)


def check_nodes(tuning: Tuning, nodes: t.Iterable[KubeObject], problems: Problems) -> None:
    """Add a problem if the pool has nodes of another architecture than its profile is for."""
    found = {labels(node).get(_ARCHITECTURE, "") for node in nodes} - {""}
    for arch in sorted(found):
        of_nodes = replace(tuning, arch=arch)
        _profile(of_nodes, problems)
        _arguments(of_nodes, problems)


def warning(tuning: Tuning) -> str:
    """Return the sentence about what the profile advises and the run leaves out, or ""."""
    without = left_out(tuning)
    if not without:
        return ""
    return (
        f"pool {tuning.name}: profile {tuning.profile} also advises {', '.join(without)}. That reboots the "
        "nodes, so it is left out; set reboot: planned in tuning of the pool to have it"
    )


def _profile(tuning: Tuning, problems: Problems) -> None:
    path, name = f"{tuning.path}.profile", tuning.profile
    shipped = SHIPPED.get(name)
    if shipped and tuning.data:
        other = "data: a profile of this collection has its own text"
        remedy = "Remove data, or give the profile another name."
        problems.add("POOL-CONFLICT", path, remedy=remedy, other=other)
    elif shipped and tuning.arch and tuning.arch not in shipped.architectures:
        message = f"{name} is for {' and '.join(shipped.architectures)}, the nodes are {tuning.arch}."
        problems.add(_WRONG, path, message, f"Set one of {', '.join(_fitting(tuning.arch))}.")
    elif name and not shipped and not tuning.data:
        close = near(name)
        did = f"Did you mean {close}? " if close else ""
        message = f"{name} is no profile of this collection, and data is not set."
        remedy = f"{did}Set one of {', '.join(SHIPPED)}, or give the text of the profile in data."
        problems.add(_WRONG, path, message, remedy)


def _fitting(arch: str) -> list[str]:
    return [one.name for one in SHIPPED.values() if arch in one.architectures]


def _data(tuning: Tuning, problems: Problems) -> None:
    path = f"{tuning.path}.data"
    if not tuning.data:
        return
    try:
        sections = profile.parse(tuning.data)
    except configparser.Error as exc:
        text = " ".join(str(exc).split())
        problems.add(_WRONG, path, f"TuneD cannot read it: {text}.", "Write it as in tuned.conf(5).")
        return
    _main(sections, path, problems)
    for section, found in sections.items():
        _plugin(section, found.get("type", section), path, problems)
    for name in sections.get("sysctl", {}):
        if name.replace("/", ".") in _PLATFORM_SYSCTLS:
            problems.add(_WRONG, path, f"{name} {_OF_PLATFORM}", "Remove it.")


def _main(sections: profile.Sections, path: str, problems: Problems) -> None:
    named = [one.lstrip("-") for one in profile.includes(sections)]
    if not any(one.startswith("openshift") for one in named):
        message = "includes no profile of OpenShift: the nodes would lose the settings that OpenShift needs."
        problems.add(_WRONG, path, message, f"Write include={profile.NODE} into the section [main].")
    for one in named:
        close = difflib.get_close_matches(one, _NODE_PROFILES, n=1, cutoff=0.9)
        if close and close[0] != one:
            message = f"includes {one}, which is no profile of OpenShift."
            problems.add(_WRONG, path, message, f"Did you mean {close[0]}?")
    for key in sections.get("main", {}):
        if "." in key:
            message = f"{key} is in the section [main], where TuneD ignores it."
            problems.add(_WRONG, path, message, "Write a line [sysctl] before it.")


def _plugin(section: str, plugin: str, path: str, problems: Problems) -> None:
    where = f"the section [{section}]"
    if plugin == "bootloader":
        message = f"{where} sets kernel arguments, which take effect only with a MachineConfigPool."
        problems.add(_WRONG, path, message, "Remove it, and set kernel_arguments of the same tuning.")
    elif plugin == "script":
        message = f"{where} runs a script beside the profile, and a Tuned object has only the text."
        problems.add(_WRONG, path, message, "Remove the section.")
    elif plugin not in (*PLUGINS, *_NO_PLUGINS):
        close = difflib.get_close_matches(plugin, PLUGINS, n=1)
        did = f"Did you mean {close[0]}? " if close else ""
        problems.add(
            _WRONG, path, f"{where} names no plugin of TuneD.", f"{did}Set one of {', '.join(PLUGINS)}."
        )


def _sysctls(tuning: Tuning, problems: Problems) -> None:
    seen: set[str] = set()
    for name, value in tuning.sysctl.items():
        path, plain = f"{tuning.path}.sysctl.{name}", name.replace("/", ".")
        _sysctl_name(name, plain, path, problems)
        if plain in seen:
            problems.add("POOL-DUPLICATE", path, name=plain)
        seen.add(plain)
        if not value or "#" in value or "${" in value:
            message = f"{value!r} is empty, or has a character that means something else to TuneD (#, ${{)."
            problems.add(_WRONG, path, message, "Give a number or plain text.")
        elif takes := kernel_names.taken(plain, value):
            problems.add(_WRONG, path, f"the kernel refuses {value!r}.", f"Give {takes}.")


def _sysctl_name(name: str, plain: str, path: str, problems: Problems) -> None:
    folder, last = plain.partition(".")[0], plain.rpartition(".")[2]
    if not _SYSCTL.fullmatch(name) or folder not in _SYSCTL_FOLDERS:
        close = difflib.get_close_matches(folder, _SYSCTL_FOLDERS, n=1)
        did = f"Did you mean {plain.replace(folder, close[0], 1)}? " if close and close[0] != folder else ""
        message = f"{name!r} is not the name of a sysctl."
        problems.add(_WRONG, path, message, f"{did}Write a name such as net.core.rmem_max.")
    elif last in _OLD_SYSCTLS:
        problems.add(_WRONG, path, "TuneD refuses this old name.", f"Write {plain}_ms.")
    elif plain in _PLATFORM_SYSCTLS:
        problems.add(_WRONG, path, _OF_PLATFORM, "Remove it.")
    elif near := kernel_names.near_sysctl(plain):
        message = "the kernel has no sysctl of this name."
        problems.add(_WRONG, path, message, f"Did you mean {near}? A newer kernel's sysctl goes into data.")


def _arguments(tuning: Tuning, problems: Problems) -> None:
    for index, argument in enumerate(tuning.kernel_arguments):
        path, name = f"{tuning.path}.kernel_arguments[{index}]", argument.partition("=")[0]
        plain = kernel_names.plain(name)
        if not _ARGUMENT.fullmatch(argument) or any(mark in argument for mark in "\"'`$\\"):
            message = f"{argument!r} is not one kernel argument."
            problems.add(_WRONG, path, message, "Write NAME or NAME=VALUE, without spaces and quotes.")
        elif plain in _OTHERS:
            option = _OTHERS[plain]
            message = f"{name} belongs to {option or 'the platform'}."
            problems.add(_WRONG, path, message, f"Set {option} instead." if option else "Remove it.")
        elif tuning.arch and _ONLY_ON.get(plain, tuning.arch) != tuning.arch:
            message = f"{name} is an argument of {_ONLY_ON[plain]}, the nodes are {tuning.arch}."
            problems.add(_WRONG, path, message, "Write iommu.passthrough=1, or remove it.")
        elif argument in tuning.kernel_arguments[:index]:
            problems.add("POOL-DUPLICATE", path, name=argument)
        else:
            _argument(argument, path, problems)


def _argument(argument: str, path: str, problems: Problems) -> None:
    """Add a problem for an argument that the kernel would ignore without a word."""
    name, equals, value = argument.partition("=")
    known = kernel_names.values(name)
    wrong = [part for part in value.split(",") if part and part not in known]
    if near := kernel_names.near_argument(name):
        message = f"the kernel has no argument {name}, and ignores it."
        problems.add(_WRONG, path, message, f"Did you mean {near}{equals}{value}?")
    elif known and (wrong or not value):
        message = f"the kernel ignores {argument}: it is not a value of {name}."
        problems.add(_WRONG, path, message, f"Set one of {', '.join(known)}.")
