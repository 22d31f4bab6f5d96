# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a TuneD profile: built for a pool, and the user's own, read as TuneD reads it."""

from __future__ import annotations

import configparser
import typing as t

from ..options import Tuning
from ..profiles.shipped import SHIPPED

# The profile of every worker node of OpenShift. A profile that does not include it takes its settings away.
NODE: t.Final = "openshift-node"
# Section -> key -> value.
Sections = dict[str, dict[str, str]]


def text(tuning: Tuning, parent: str = "") -> str:
    """Return the text of the pool's profile. parent: a profile that it includes in place of openshift-node.

    A text of the user's own that needs neither a sysctl nor the parent stays as it is.
    """
    if tuning.data and not tuning.sysctl and not parent:
        return tuning.data
    if tuning.data:
        own = _with(parse(tuning.data), {"sysctl": dict(tuning.sysctl)} if tuning.sysctl else {})
        named = ",".join([*([parent] if parent else []), *includes(own)])
        return _written({**own, "main": {**own.get("main", {}), "include": named}})
    about = f"profile {tuning.profile}" if tuning.profile else "settings of its own"
    main = {"summary": f"GPU pool {tuning.name}: {about}", "include": parent or NODE}
    return _written({"main": main, **settings(tuning)})


def settings(tuning: Tuning) -> Sections:
    """Return the settings of the shipped profile, and over them the pool's own sysctls."""
    found: Sections = {}
    shipped = SHIPPED.get(tuning.profile)
    for one in shipped.settings if shipped else ():
        found.setdefault(one.section, {})[one.key] = one.value
    return _with(found, {"sysctl": dict(tuning.sysctl)} if tuning.sysctl else {})


def parse(data: str) -> Sections:
    """Return the sections of a profile's text. Raises configparser.Error if TuneD would not read it."""
    # The same settings as in tuned/profiles/loader.py.
    reader = configparser.ConfigParser(
        delimiters=("=",), inline_comment_prefixes=("#",), strict=False, interpolation=None
    )
    reader.optionxform = str  # type: ignore[assignment, method-assign]
    reader.read_string(data)
    return {section: dict(reader.items(section)) for section in reader.sections()}


def includes(sections: Sections) -> list[str]:
    """Return the names of the profiles that a profile includes."""
    named = sections.get("main", {}).get("include", "")
    return [one.strip() for one in named.replace(";", ",").split(",") if one.strip()]


def _with(base: Sections, over: Sections) -> Sections:
    return {
        section: {**base.get(section, {}), **over.get(section, {})}
        for section in [*base, *(over.keys() - base)]
    }


def _written(sections: Sections) -> str:
    parts = [
        "\n".join([f"[{section}]", *(f"{key}={value}" for key, value in found.items())])
        for section, found in sections.items()
    ]
    return "\n\n".join(parts) + "\n"
