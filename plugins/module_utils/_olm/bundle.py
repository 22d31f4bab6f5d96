# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The ConfigMap that OLM unpacks a bundle into, and the CSV in it."""

from __future__ import annotations

import base64
import binascii
import gzip
import typing as t

try:
    import yaml
except ImportError:  # Ansible itself always has it; the import test of ansible-test has not
    yaml = None  # type: ignore[assignment]

Object = dict[str, t.Any]

_GZIP: t.Final = b"\x1f\x8b"


def csv(config_map: Object | None, name: str) -> Object | None:
    """None where the ConfigMap does not hold it, or in no form that is known."""
    for text in _files(config_map or {}):
        if name not in text:
            continue
        try:
            found = list(yaml.safe_load_all(text))
        except yaml.YAMLError:
            continue
        for one in found:
            if (
                isinstance(one, dict)
                and one.get("kind") == "ClusterServiceVersion"
                and one["metadata"]["name"] == name
            ):
                return one
    return None


def _files(config_map: Object) -> t.Iterator[str]:
    yield from (config_map.get("data") or {}).values()
    for packed in (config_map.get("binaryData") or {}).values():
        try:
            content = base64.b64decode(packed)
            # OLM's annotation olm.contentEncoding: gzip+base64 means base64 inside of the API's own base64.
            content = content if content.startswith(_GZIP) else base64.b64decode(content)
            yield gzip.decompress(content).decode()
        except (binascii.Error, OSError, EOFError, ValueError):
            continue
