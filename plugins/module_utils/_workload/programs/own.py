# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user's own program: an image, a script, and where its figure stands in the log."""

from __future__ import annotations

import json
import math
import re
import typing as t

from . import devices, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

# A log is searched from its end for at most so many JSON objects.
_MOST: t.Final = 50
_STEP: t.Final = re.compile(r"\.?([\w-]+)|\[(\d+)\]")


def script(settings: Settings, _node: GpuNode) -> str:
    """Return the user's script in a shell of its own, with the readings beside it."""
    return f"{devices.LIST}\n{readings.beside(f'({settings.script.rstrip()}{chr(10)})')}"


def parse(log: str, settings: Settings) -> Result:
    """Return the figure that the log ends with. Without one the program did not pass."""
    text = _at_path(log, settings.figure) if settings.figure.startswith("$.") else _last(log, settings.figure)
    value = _number(text)
    uuids, beside = tuple(devices.uuids(log)), readings.parse(log)
    if value is None:
        found = Finding("own", "fail", f"it measured nothing: {settings.figure} is not in the log")
        return Result(False, uuids, findings=(found, *beside))
    figure = Figure("figure", value, settings.unit, better=settings.better)
    return Result(True, uuids, (figure,), beside)


def _last(log: str, pattern: str) -> t.Any:
    found = re.findall(pattern, log, re.MULTILINE)
    return found[-1] if found else None


def _at_path(log: str, path: str) -> t.Any:
    """Return what stands at the path in the last JSON object of the log that has it."""
    decoder = json.JSONDecoder()
    starts = [found.start() for found in re.finditer(r"^\s*\{", log, re.MULTILINE)]
    for start in reversed(starts[-_MOST:]):
        try:
            value, _end = decoder.raw_decode(log[start:].lstrip())
        except ValueError:
            continue
        if (found := _walk(value, path.removeprefix("$"))) is not None:
            return found
    return None


def _walk(value: t.Any, path: str) -> t.Any:
    for step in _STEP.finditer(path):
        key, index = step[1], step[2]
        if key is not None and isinstance(value, dict):
            value = value.get(key)
        elif index is not None and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return None
    return value


def _number(text: t.Any) -> float | None:
    """Return a finite number, None for anything else."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and not isinstance(text, bool) else None


PROGRAM: t.Final = Program(
    "node",
    image=images.pytorch,
    script=script,
    parse=parse,
    cpu=1,
    memory=8192,
    shared_memory=1,
    takes_shares=True,
)
