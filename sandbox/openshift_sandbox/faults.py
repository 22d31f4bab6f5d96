# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cause trouble in a running sandbox: scripted troubles for the stand-ins, or an API server that stops."""

from __future__ import annotations

import signal
import time
import typing as t

import yaml

from openshift_sandbox import lifecycle, scenario
from openshift_sandbox.programs import olm
from openshift_sandbox.sandbox import Sandbox, SandboxError, say

Trouble = dict[str, t.Any]

# These troubles are in the files of the catalogues, which opm reads only once.
IN_CATALOGUES: t.Final = {
    "bundle_image",
    "catalog_down",
    "csv_failed",
    "deprecated",
    "foreign_csv",
    "package_missing",
    "package_twice",
    "resolution_failed",
}


def parse(words: t.Sequence[str]) -> Trouble:
    """Return `key=value` words as a dictionary. Numbers, true, false and `[a, b]` are read as YAML.

    Any other value is text as it stands, such as a line of a log. Raises SandboxError for a word without key.
    """
    fields: Trouble = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator or not key:
            raise SandboxError(f"{word!r} is not of the form key=value")
        fields[key] = _read(value)
    return fields


def _read(value: str) -> t.Any:
    try:
        read = yaml.safe_load(value)
    except yaml.YAMLError:  # `NVRM: failed: 0x62` is a sentence
        return value
    is_list = isinstance(read, list) and value.lstrip().startswith("[")
    is_quoted = isinstance(read, str) and value.lstrip()[:1] in ("'", '"')
    is_nothing = read is None and value.strip().lower() in ("", "null", "~")
    plain = isinstance(read, bool | int | float) and ":" not in value  # YAML reads 1:30 as 90
    return read if plain or is_list or is_quoted or is_nothing else value


def add(sandbox: Sandbox, kind: str, fields: Trouble) -> None:
    """Add a trouble; the stand-ins see it at once."""
    now = sandbox.scenario
    _change(sandbox, [*now.troubles, {"type": kind, **fields}], kind)


def clear(sandbox: Sandbox, kind: str | None, fields: Trouble) -> int:
    """Remove the troubles of a type (or all) whose fields match; return how many were removed."""
    now = sandbox.scenario
    gone = [
        one
        for one in now.troubles
        if kind in (None, one["type"]) and all(one.get(key) == value for key, value in fields.items())
    ]
    _change(sandbox, [one for one in now.troubles if one not in gone], *(one["type"] for one in gone))
    return len(gone)


def api_down(sandbox: Sandbox, seconds: float, hang: bool = False) -> None:
    """Stop the API server for some seconds; start it again in any case.

    Connections are refused, or with `hang` accepted and never answered. Raises SandboxError when it does not
    run.
    """
    if not sandbox.processes.alive("kube-apiserver"):
        raise SandboxError("kube-apiserver does not run: repair the sandbox with `sandbox up`")
    started = time.monotonic()
    try:
        if hang:
            sandbox.processes.signal("kube-apiserver", signal.SIGSTOP)
        else:
            sandbox.processes.signal("kube-apiserver", signal.SIGKILL)
        say(f"kube-apiserver {'hangs' if hang else 'is stopped'} for {seconds:g} s", started)
        time.sleep(seconds)
    finally:
        lifecycle.repair(sandbox, started)
    say("the API answers again", started)


def _change(sandbox: Sandbox, troubles: list[Trouble], *kinds: str) -> None:
    now = sandbox.scenario
    scenario.save(scenario.Scenario(now.name, now.cluster, now.delays, troubles), sandbox.directory)
    if IN_CATALOGUES.intersection(kinds):
        olm.refresh(sandbox)
