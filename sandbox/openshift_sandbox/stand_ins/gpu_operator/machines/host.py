# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node does with its GPUs at boot: the devices that vfio-pci takes by its configuration."""

from __future__ import annotations

import base64
import re
import typing as t
from urllib.parse import unquote

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.nfd.iommu import booted

VFIO_FILE: t.Final = "/etc/modprobe.d/vfio.conf"
LOADED: t.Final = "/etc/modules-load.d/"
IDS: t.Final = re.compile(r"^options\s+vfio-pci\s+.*\bids=(\S+)", re.MULTILINE)


def reserved_devices(cluster: Cluster, node: Object) -> set[str]:
    """Return the PCI devices (`10de:1eb8`) that vfio-pci takes at boot, before any driver of a pod."""
    files = ((booted(cluster, node).get("config") or {}).get("storage") or {}).get("files") or []
    texts = {one["path"]: _text(one) for one in files}
    if not any(path.startswith(LOADED) and "vfio-pci" in text.split() for path, text in texts.items()):
        return set()
    found = IDS.findall(texts.get(VFIO_FILE, ""))
    return {one.lower() for ids in found for one in ids.split(",")}


def _text(file: Object) -> str:
    source = str((file.get("contents") or {}).get("source") or "")
    head, _comma, body = source.partition(",")
    return base64.b64decode(body).decode() if head.endswith(";base64") else unquote(body)
