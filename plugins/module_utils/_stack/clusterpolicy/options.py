# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the options and the spec of a ClusterPolicy from the trees in option_table."""

from __future__ import annotations

import json
import typing as t

from .option_table import COMPONENTS, DRIVER, DRIVER_FILES, POLICY_DRIVER

Data = dict[str, t.Any]

IMAGE: t.Final = """
repository str
image str
version str
image_pull_policy Always|IfNotPresent|Never
image_pull_secrets strs
"""
CONTAINER: t.Final = f"{IMAGE}env maps\nargs strs\n"
RESOURCES: t.Final = "resources map\n"
_SIDECAR: t.Final = f"enabled bool\n{CONTAINER}"
_MORE: t.Final = {
    "component": f"{_SIDECAR}{RESOURCES}host_network bool",
    "sidecar": _SIDECAR,
    "image": f"{IMAGE}env maps",
    "env": "env maps",
}
_TYPES: t.Final[dict[str, Data]] = {
    "bool": {"type": "bool"},
    "int": {"type": "int"},
    "str": {"type": "str"},
    "map": {"type": "dict"},
    "maps": {"type": "list", "elements": "dict"},
    "strs": {"type": "list", "elements": "str"},
}
# Words whose camel case is irregular, and a key that is not in camel case.
_WORDS: t.Final = {"crd": "CRD", "pci": "PCI", "pid": "PID", "uid": "UID", "fs": "FS", "tls": "TLS"}
_KEPT: t.Final = ("use_ocp_driver_toolkit",)


def read(tree: str, groups: t.Mapping[str, str] | None = None) -> dict[str, Data]:
    """Return the options of a tree as an argument spec. Two spaces stand before an option of an option.

    A line has a name, a type, and perhaps `required` or a default such as `=63` (JSON). dict: has the options
    below it, as without a type; list: a list of such. groups: type -> the tree of its options.
    """
    options: dict[str, Data] = {}
    places = [options]
    for line in filter(None, tree.splitlines()):
        name, kind, mark = [*line.split(), "", ""][:3]
        depth = (len(line) - len(line.lstrip())) // 2
        one = places[depth][name] = _option(name, kind, groups or _MORE)
        if mark:
            one |= {"required": True} if mark == "required" else {"default": json.loads(mark[1:])}
        places[depth + 1 :] = [one.get("options", {})]
    return options


def _option(name: str, kind: str, groups: t.Mapping[str, str]) -> Data:
    if "|" in kind:
        return {"type": "str", "choices": kind.split("|")}
    if kind == "list":
        return {"type": "list", "elements": "dict", "options": {}}
    if kind in ("", "dict") or kind in groups:
        return {"type": "dict", "options": read(groups.get(kind, ""), groups)}
    # The name of a Secret is not secret.
    return {**_TYPES[kind], **({"no_log": False} if "secret" in name else {})}


def camel(name: str) -> str:
    """Return the API's name of an option."""
    if name in _KEPT:
        return name
    first, *words = name.split("_")
    return first + "".join(_WORDS.get(word, word.capitalize()) for word in words)


def spec(values: t.Mapping[str, t.Any], options: t.Mapping[str, Data]) -> Data:
    """Return the values under the API's names, without None; maps stay as the user wrote them."""
    found: Data = {}
    for name, value in values.items():
        if name not in options or value is None:
            continue
        inner = options[name].get("options")
        if not inner:
            found[camel(name)] = value
        elif below := spec(value, inner):
            found[camel(name)] = below
    return found


# FIELDS are fields of the spec; OPTIONS has more, which are no fields.
FIELDS: t.Final = {**read("driver component"), **read(COMPONENTS)}
FIELDS["driver"]["options"] |= read(DRIVER + POLICY_DRIVER)
FILES: t.Final = read(DRIVER_FILES)
OPTIONS: t.Final[dict[str, Data]] = {
    **FIELDS,
    **FILES,
    "registry": {"type": "str"},
    "only_requested_gpus": {"type": "bool"},
}
