# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Make options, documentation and the spec of a ClusterPolicy from the tables in option_table."""

from __future__ import annotations

import typing as t

from .option_table import COMPONENTS, DRIVER, POLICY_DRIVER

Data = dict[str, t.Any]

_IMAGE: t.Final = """
repository          str   Registry and path of the image.
image               str   Name of the image.
version             str   Tag or digest of the image.
image_pull_policy   Always|IfNotPresent|Never  When nodes pull the image.
image_pull_secrets  strs  Secrets in O(namespace) for the registry of the image.
env                 maps  Environment variables, as in a container.
"""
RESOURCES: t.Final = """
resources           map   Requests and limits, as in a container.
"""
SIDECAR: t.Final = f"""
enabled             bool  Whether the operator deploys the component.
{_IMAGE}
args                strs  Arguments of the container.
"""
_COMPONENT: t.Final = f"""{SIDECAR}
{RESOURCES}
host_network        bool  Whether the pods use the host's network; GPU operator 26.7 and later.
"""
_MORE: t.Final = {
    "component": _COMPONENT,
    "sidecar": SIDECAR,
    "image": _IMAGE,
    "env": "env maps Environment variables, as in a container.",
    "dict": "",
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
_WORDS: t.Final = {"crd": "CRD", "pci": "PCI", "pid": "PID", "uid": "UID", "fs": "FS"}
_KEPT: t.Final = ("use_ocp_driver_toolkit",)


def read(table: str) -> dict[str, Data]:
    """Return the options of a table as an argument spec, plus a description for each."""
    options: dict[str, Data] = {}
    for line in filter(None, table.splitlines()):
        path, kind, description = line.split(None, 2)
        *parents, name = path.split(".")
        where = options
        for parent in parents:
            where = where[parent]["options"]
        if "|" in kind:
            where[name] = {"type": "str", "choices": kind.split("|"), "description": description}
        elif kind in _MORE:
            where[name] = {"type": "dict", "options": read(_MORE[kind]), "description": description}
        else:
            # The name of a Secret is not secret.
            where[name] = {
                **_TYPES[kind],
                **({"no_log": False} if "secret" in name else {}),
                "description": description,
            }
    return options


def plain(options: t.Mapping[str, Data]) -> dict[str, Data]:
    """Return the options as an argument spec."""
    return {
        name: {
            key: plain(value) if key == "options" else value
            for key, value in one.items()
            if key != "description"
        }
        for name, one in options.items()
    }


def documented(options: t.Mapping[str, Data]) -> dict[str, Data]:
    """Return the options as DOCUMENTATION has them."""
    return {
        name: {
            "suboptions" if key == "options" else key: documented(value) if key == "options" else value
            for key, value in one.items()
            if key != "no_log"
        }
        for name, one in options.items()
    }


def camel(name: str) -> str:
    """Return the API's name of an option."""
    if name in _KEPT:
        return name
    first, *words = name.split("_")
    return first + "".join(_WORDS.get(word, word.capitalize()) for word in words)


def spec(values: t.Mapping[str, t.Any], options: t.Mapping[str, Data]) -> Data:
    """Return the values under the API's names, without None; maps stay as the user wrote them."""
    found: Data = {}
    for name, value in (
        (name, value) for name, value in values.items() if name in options and value is not None
    ):
        inner = options[name].get("options")
        if not inner:
            found[camel(name)] = value
        elif below := spec(value, inner):
            found[camel(name)] = below
    return found


_DRIVER: t.Final = (
    "driver component The driver. Version, repository and image are given together or not at all.\n"
    + "\n".join(f"driver.{line}" for line in (DRIVER + POLICY_DRIVER).splitlines() if line)
)
_SPEC: t.Final = read(_DRIVER + COMPONENTS)
# FIELDS are fields of the spec; TABLE has registry too, which is no field.
FIELDS: t.Final = plain(_SPEC)
TABLE: t.Final[dict[str, Data]] = {
    **_SPEC,
    "registry": {
        "type": "str",
        "description": [
            "Registry that mirrors the images of the driver and of every operand, such as "
            "V(mirror.example.com:5000/gpu).",
            "It takes the place of each image's host; the path below it, and tag or digest, stay. What an "
            "ImageDigestMirrorSet or ImageTagMirrorSet of the "
            "cluster covers is left as it is, since the nodes go to the mirror by themselves.",
        ],
    },
}
OPTIONS: t.Final = plain(TABLE)
